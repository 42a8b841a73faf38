"""The refusals of a period, as marks in the lanes of the agents that were refused."""

from collections.abc import Sequence

from ctxhub.console.timeline.periods import Period
from ctxhub.console.timeline.sources import Mark
from ctxhub.console.urls import in_project, list_url
from ctxhub.core.models import Agent, Project
from ctxhub.core.refusals.queries import refusals_between

MARKS_SHOWN = 300


def refusal_marks(project: Project, period: Period) -> Sequence[Mark]:
    """The newest 300; those of agents that are not registered have no lane."""
    columns = ("name", "folded", "ref", "code", "count", "last_at", "note")
    newest = refusals_between(project.pk, period.begin, period.end).values_list(*columns, named=True)
    found = list(newest[:MARKS_SHOWN])
    names = {refusal.folded for refusal in found}
    agents = Agent.objects.in_project(project.pk).filter(folded__in=names)
    ids = dict(agents.values_list("folded", "pk"))
    page = list_url("core_refusal")
    return [
        Mark(
            ids[refusal.folded],
            refusal.last_at,
            f"{refusal.name}, {refusal.code}: {refusal.note}",
            in_project(page, project, agent=refusal.name, **({"q": refusal.ref} if refusal.ref else {})),
            refusal.count,
        )
        for refusal in found
        if refusal.folded in ids
    ]
