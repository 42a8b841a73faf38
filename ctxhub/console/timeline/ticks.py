"""Counts the events of a period by agent, subject and time, in one statement."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache

from ctxhub.console.time_slots import HOUR, MINUTE, TEN_MINUTES, count_by_slot
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
    width = period.length / COLUMNS
    slot = _slot(width)
    events = Event.objects.in_project(project.pk).filter(at__gte=period.begin, at__lt=period.end)

    @cache
    def column_of(at: datetime) -> int:
        column = int((at + slot / 2 - period.begin) / width)
        return min(max(column, 0), COLUMNS - 1)

    counts: Counter[tuple[int, int | None, str]] = Counter()
    for at, agent_id, noun, count in count_by_slot(events, "at", slot, "agent_id", "noun"):
        counts[column_of(at), agent_id, SUBJECT_OF_NOUN.get(noun, "other")] += count
    middles = [period.begin + (column + 0.5) * width for column in range(COLUMNS)]
    return [
        Tick(agent_id, subject, middles[column], count)
        for (column, agent_id, subject), count in sorted(counts.items(), key=lambda each: each[0][0])
    ]


def _slot(width: timedelta) -> timedelta:
    """The longest slot that is not longer than a column; a minute at least."""
    return max((slot for slot in (MINUTE, TEN_MINUTES, HOUR) if slot <= width), default=MINUTE)
