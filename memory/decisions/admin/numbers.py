"""The numbers that a decision has had, on its page: drawn over time, with their statistics."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxhub.core.admin.graphs.line_chart import LineChart
from ctxhub.core.admin.graphs.step_chart import step_chart
from ctxhub.core.kit import clock
from ctxhub.core.kit.frozen import frozen
from memory.decisions.selectors.analytics import Number, analyse_decision

if TYPE_CHECKING:
    from memory.decisions.rows.decisions import DecisionRow

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
