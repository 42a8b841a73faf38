"""A lease: paths that an agent has reserved for a while."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils import timezone

from ctxhub.core.kit.lengths import PATH_LENGTH, SESSION_NAME_LENGTH
from ctxhub.core.kit.models import PathField, ProjectRow, saved_with
from ctxhub.core.models import Agent
from ctxhub.core.text.globs import head
from ctxhub.core.text.path_case import fold_path


class Lease(ProjectRow):
    """A lease is live until released or expired. Its id is its fencing token: later ids are higher.

    `session`: that of the agent which holds it, "" for none; `made_up`: a process chose its name.
    """

    agent = models.ForeignKey(Agent, on_delete=models.RESTRICT, related_name="leases", db_index=False)
    session = models.CharField(max_length=SESSION_NAME_LENGTH, blank=True, default="", db_default="")
    made_up = models.BooleanField(default=False, db_default=False, editable=False)
    exclusive = models.BooleanField(default=True)
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    released_at = models.DateTimeField(null=True, blank=True)
    released_by = models.ForeignKey(
        Agent, null=True, blank=True, on_delete=models.RESTRICT, related_name="+", db_index=False
    )

    class Meta(ProjectRow.Meta):
        ordering = ("-id",)
        indexes = (
            # Leases not released, soonest to expire first; the live ones come after now.
            models.Index(
                fields=("project", "expires_at", "id"),
                name="tracking_lease_live",
                condition=Q(released_at__isnull=True),
            ),
            models.Index(
                fields=("project", "released_at"),
                name="tracking_lease_released",
                condition=Q(released_at__isnull=False),
            ),
        )

    def __str__(self) -> str:
        return f"lease {self.pk}"

    @property
    def ref(self) -> str:
        return f"lease:{self.pk}"

    def state(self, now: datetime) -> str:
        if self.released_at:
            return "released"
        return "live" if self.expires_at > now else "expired"


class LeasePath(ProjectRow):
    """A path or glob of a lease. `head`: first segment that all matching paths share, without case;
    empty if none."""

    lease = models.ForeignKey(Lease, on_delete=models.CASCADE, related_name="paths", db_index=False)
    pattern = PathField(max_length=PATH_LENGTH)
    head = PathField(max_length=PATH_LENGTH, blank=True, editable=False)

    class Meta(ProjectRow.Meta):
        ordering = ("id",)
        indexes = (models.Index(fields=("lease", "id"), name="tracking_leasepath_of_lease"),)

    def __str__(self) -> str:
        return self.pattern

    def save(self, *args: Any, update_fields: Iterable[str] | None = None, **kwargs: Any) -> None:
        self.head = head(fold_path(self.pattern))
        super().save(*args, update_fields=saved_with(update_fields, "pattern", "head"), **kwargs)
