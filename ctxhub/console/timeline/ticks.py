"""Counts the events of a period by agent, subject and time, in one statement."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from functools import cache

from ctxhub.console.time_slots import count_by_slot
from ctxhub.console.timeline.columns import Columns
from ctxhub.console.timeline.periods import Period
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Event, Project

# The rows of a lane, from above. Each subject has a place, so that a mark is told by more than its colour.
SUBJECTS = ("decisions", "knowledge", "messages", "files", "other")
SUBJECT_OF_NOUN = {
    **dict.fromkeys(("decision", "constraint", "template"), "decisions"),
    **dict.fromkeys(("memory", "context", "relationship", "snapshot", "scratchpad", "workflow"), "knowledge"),
    "message": "messages",
    **dict.fromkeys(("change", "resource", "lease"), "files"),
}
COLUMNS = 72


@frozen
class Tick:
    """`count` events of a subject in the column around `at`."""

    agent_id: int | None
    subject: str
    at: datetime
    count: int


def count_ticks(project: Project, period: Period) -> Sequence[Tick]:
    """The counts in at most 72 columns of equal length, oldest first."""
    columns = Columns(period, COLUMNS)
    column_of = cache(columns.of)
    events = Event.objects.in_project(project.pk).filter(at__gte=period.begin, at__lt=period.end)
    counts: Counter[tuple[int, int | None, str]] = Counter()
    for at, agent_id, noun, count in count_by_slot(events, "at", columns.slot, "agent_id", "noun"):
        counts[column_of(at), agent_id, SUBJECT_OF_NOUN.get(noun, "other")] += count
    return [
        Tick(agent_id, subject, columns.middle(column), count)
        for (column, agent_id, subject), count in sorted(counts.items(), key=lambda each: each[0][0])
    ]
