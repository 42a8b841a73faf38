"""The refusals of a period, as marks in the lanes of the agents that were refused."""

from collections.abc import Sequence

from django.db.models import Sum, Window

from ctxhub.console.timeline.periods import Period
from ctxhub.console.timeline.sources import Mark
from ctxhub.console.urls import in_project, list_url
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Agent, Project
from ctxhub.core.refusals.queries import refusals_between

MARKS_SHOWN = 300


@frozen
class Refusals:
    """`total`: of the period, in as many calls; those of agents that are not registered have no mark."""

    marks: Sequence[Mark]
    total: int


def find_refusals(project: Project, period: Period) -> Refusals:
    """The newest 300 minutes with refusals."""
    columns = ("name", "folded", "ref", "code", "count", "last_at", "note", "total")
    counted = refusals_between(project.pk, period.begin, period.end).annotate(total=Window(Sum("count")))
    found = list(counted.values_list(*columns, named=True)[:MARKS_SHOWN])
    names = {refusal.folded for refusal in found}
    agents = Agent.objects.in_project(project.pk).filter(folded__in=names)
    ids = dict(agents.values_list("folded", "pk"))
    page = list_url("core_refusal")
    marks = [
        Mark(
            ids[refusal.folded],
            refusal.last_at,
            f"{refusal.name}, {period.local(refusal.last_at):%a %H:%M}, {refusal.code}: {refusal.note}",
            in_project(page, project, agent=refusal.name, **({"q": refusal.ref} if refusal.ref else {})),
            refusal.count,
        )
        for refusal in found
        if refusal.folded in ids
    ]
    return Refusals(marks, found[0].total if found else 0)
