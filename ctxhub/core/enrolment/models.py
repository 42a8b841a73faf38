"""Model of enrolment: what a program asks for, and what a person decided."""

from django.conf import settings
from django.db import models

from ctxhub.core.accounts.models import Project
from ctxhub.core.kit import clock


class Enrolment(models.Model):
    """A program that asks for tokens, until a person decides or ten minutes are over.

    `clients`, `agent`, `host` and `user` are as the program says. Neither code is stored, and no token: these
    are made when the program fetches them. `grant`: what was approved, as `Grant` has it.
    """

    class State(models.IntegerChoices):
        WAITING = 1, "waiting"
        APPROVED = 2, "approved"
        REFUSED = 3, "refused"
        FETCHED = 4, "fetched"

    device_digest = models.CharField(max_length=64, unique=True, editable=False)
    user_digest = models.CharField(max_length=64, unique=True, editable=False)
    clients = models.JSONField(default=list)
    agent = models.CharField(max_length=100, blank=True)
    host = models.CharField(max_length=100, blank=True)
    user = models.CharField(max_length=100, blank=True)
    address = models.CharField(max_length=45)
    state = models.PositiveSmallIntegerField(choices=State, default=State.WAITING)
    interval = models.PositiveSmallIntegerField(help_text="Seconds between two questions of the program.")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    asked_at = models.DateTimeField(null=True)
    project = models.ForeignKey(Project, null=True, on_delete=models.CASCADE, related_name="+")
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+"
    )
    grant = models.JSONField(default=dict)

    class Meta:
        indexes = (
            models.Index(fields=("address", "expires_at"), name="core_enrolment_of_address"),
            models.Index(fields=("expires_at",), name="core_enrolment_oldest"),
        )

    def __str__(self) -> str:
        return f"{', '.join(self.clients)} on {self.host} ({self.get_state_display()})"

    @property
    def is_open(self) -> bool:
        return self.state == self.State.WAITING and self.expires_at > clock.now()
