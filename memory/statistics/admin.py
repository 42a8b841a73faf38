"""The numbers that a decision has had, on its page, and the keys that change most, on the page of use."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.urls import reverse

from ctxhub.console.graphs.line_chart import LineChart
from ctxhub.console.graphs.step_chart import step_chart
from ctxhub.console.timeline.periods import Period
from ctxhub.console.use.changed import Changed
from ctxhub.core.kit import clock
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Project
from memory.statistics.numbers import Number, analyse_decision
from memory.statistics.trends import most_changed

if TYPE_CHECKING:
    from memory.decisions.rows import DecisionRow


DRAWN = 200
LABELS = {
    "count": "values",
    "min": "lowest",
    "max": "highest",
    "mean": "mean",
    "p50": "median",
    "p95": "95th percentile",
}


@frozen
class Numbers:
    """`statistics`: label and number; `left_out`: how many older ones are not drawn."""

    statistics: Sequence[tuple[str, Number]]
    chart: LineChart | None
    left_out: int


def numbers_of(project_id: int, row: "DecisionRow") -> Numbers | None:
    """None if the value is no number now, or has been only one. Runs one query, for a number."""
    if isinstance(row.typed_value, str):
        return None
    totals, newest_first = analyse_decision(project_id, row.id)
    if len(newest_first) <= 1:
        return None
    drawn = newest_first[:DRAWN]
    try:
        values = [(measured.at, float(measured.value)) for measured in reversed(drawn)]
    except OverflowError:
        values = []
    named = [(label, totals.get(name)) for name, label in LABELS.items()]
    return Numbers(
        statistics=[(label, number) for label, number in named if isinstance(number, int | float)],
        chart=step_chart(row.key, values, clock.now()) if values else None,
        left_out=len(newest_first) - len(drawn),
    )


def changed_keys(project: Project, period: Period, limit: int) -> Sequence[Changed]:
    return [
        Changed(
            one.key, reverse("admin:memory_decision_history", args=[one.id]), one.changes, one.version, one.at
        )
        for one in most_changed(project.pk, period.begin, period.end, limit)
    ]
