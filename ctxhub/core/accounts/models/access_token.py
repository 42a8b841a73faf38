"""The model of access tokens. A token is shown once; only its keyed digest is stored."""

from django.conf import settings
from django.db import models

from ctxhub.core.accounts.models.agent import Agent
from ctxhub.core.kit import clock
from ctxhub.core.kit.models import ProjectRow


class AccessToken(ProjectRow):
    """A credential for one project and some scopes, optionally for one agent only, optionally expiring.

    `owner`: the member whose own it is. It may do what their role allows, and nothing without one.
    """

    name = models.CharField(max_length=100)
    agent = models.ForeignKey(
        Agent,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="access_tokens",
        help_text="Pinned to this agent; left empty, the token may speak for any agent of the project.",
    )
    digest = models.CharField(max_length=64, unique=True, editable=False)
    start = models.CharField(
        max_length=12, editable=False, help_text="The first characters, to tell tokens apart."
    )
    scopes = models.JSONField(default=list, help_text="Any of read, write, admin.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        editable=False,
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="own_access_tokens",
        editable=False,
        help_text="The member whose own it is; empty: the project's.",
    )
    # What a client uses in its place; until it expires both are good.
    replaced_by = models.OneToOneField(
        "self", null=True, on_delete=models.SET_NULL, related_name="replaces", editable=False
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta(ProjectRow.Meta):
        indexes = (models.Index(fields=("project", "-created_at"), name="core_token_newest"),)

    def __str__(self) -> str:
        return f"{self.name} ({self.start}…)"

    @property
    def is_usable(self) -> bool:
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > clock.now())
