"""The keys that change most, for the page of use."""

from collections.abc import Sequence

from django.urls import reverse

from ctxhub.core.admin.timeline.periods import Period
from ctxhub.core.admin.use.changed import Changed, most_changed_of
from ctxhub.core.models import Project
from memory.decisions.selectors.most_changed import most_changed


def changed_keys(project: Project, period: Period, limit: int) -> Sequence[Changed]:
    return [
        Changed(
            one.key, reverse("admin:memory_decision_history", args=[one.id]), one.changes, one.version, one.at
        )
        for one in most_changed(project.pk, period.begin, period.end, limit)
    ]


most_changed_of.append(changed_keys)
