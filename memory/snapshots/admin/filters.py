"""Admin filters of snapshots by tier, by source, and by what they rest on."""

from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest

from ctxhub.core.admin.unfold_compat import DropdownFilter, TextFilter
from ctxhub.core.kit import clock
from ctxhub.core.kit.inputs import read_id
from memory.snapshots.models.snapshot import SnapshotDependency, Tier
from memory.snapshots.rules.tiers import tier_range


class TierFilter(DropdownFilter):
    """By the time of the last read: a stored tier is out of date until the next write."""

    title = parameter_name = "tier"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(str(label), str(label)) for label in Tier.labels]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        tier = next((tier for tier in Tier if tier.label == self.value()), None)
        if tier is None:
            return queryset
        after, until = tier_range(tier, clock.now())
        newer = Q(touched_at__gt=after) if after else Q()
        return queryset.filter(newer, Q(touched_at__lte=until) if until else Q())


class SourceFilter(TextFilter):
    """The complete source, ignoring case."""

    title = parameter_name = "source"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        source = (self.value() or "").strip()
        return queryset.filter(source__iexact=source) if source else queryset


class RestsOnFilter(TextFilter):
    """The snapshots that name one as their cause or dependency."""

    title, parameter_name = "rests on", "rests_on"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not (typed := (self.value() or "").strip()):
            return queryset
        row_id = read_id(typed.removeprefix("snapshot:"))
        if not row_id:
            return queryset.none()
        dependents = SnapshotDependency.unscoped.filter(dependency=row_id).values("snapshot")
        return queryset.filter(Q(caused_by=row_id) | Q(pk__in=dependents))
