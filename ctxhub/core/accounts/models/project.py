"""The models of projects (tenants) and their members."""

from uuid import uuid4

from django.conf import settings
from django.db import models


class ShownProjects(models.Manager["Project"]):
    def get_queryset(self) -> models.QuerySet["Project"]:
        return super().get_queryset().filter(is_hidden=False)


class Project(models.Model):
    """The tenant: one team's shared context. Projects share no data.

    `uuid`: names it in exports. `is_hidden`: it holds the rows of an import that is at work or was cut off:
    see core/transfer.
    """

    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    is_hidden = models.BooleanField(default=False, db_default=False, editable=False)
    slug = models.SlugField(max_length=100, unique=True)
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    config = models.JSONField(
        default=dict, blank=True, editable=False, help_text="What differs from the defaults."
    )

    unscoped = models.Manager()
    objects = ShownProjects()

    class Meta:
        ordering = ("slug",)
        base_manager_name = "unscoped"
        default_manager_name = "objects"

    def __str__(self) -> str:
        return self.name or self.slug


class Membership(models.Model):
    """A person's role in a project: viewers read, members read and write, admins do everything."""

    class Role(models.IntegerChoices):
        VIEWER = 1, "viewer"
        MEMBER = 2, "member"
        ADMIN = 3, "admin"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.PositiveSmallIntegerField(choices=Role, default=Role.MEMBER)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("project", "user"),
                name="core_one_membership_per_person",
                violation_error_message="This person already belongs to the project.",
            ),
        )

    def __str__(self) -> str:
        return f"{self.user} in {self.project} ({self.get_role_display()})"
