"""The model of invitations. A link is shown once; only the keyed digest of its secret is stored."""

from django.conf import settings
from django.db import models

from ctxhub.core.accounts.models.project import Membership
from ctxhub.core.kit import clock
from ctxhub.core.kit.models import ProjectRow


class Invitation(ProjectRow):
    """A link with which one person joins a project in a role, once and until it expires."""

    name = models.CharField("for", max_length=100, help_text="Whom it is for, as a note to yourselves.")
    role = models.PositiveSmallIntegerField(choices=Membership.Role, default=Membership.Role.VIEWER)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(editable=False)
    revoked_at = models.DateTimeField(null=True, editable=False)
    used_at = models.DateTimeField(null=True, editable=False)
    used_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )

    class Meta(ProjectRow.Meta):
        indexes = (models.Index(fields=("project", "-created_at"), name="core_invitation_newest"),)

    def __str__(self) -> str:
        return f"{self.name} ({self.get_role_display()})"

    @property
    def ref(self) -> str:
        return f"invitation:{self.pk}"

    @property
    def state(self) -> str:
        if self.used_at:
            return "used"
        if self.revoked_at:
            return "revoked"
        return "open" if self.expires_at > clock.now() else "expired"
