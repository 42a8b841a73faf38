"""The current time, and parsing of times: "30m", "2h", "7d" ago, ISO 8601, an event cursor ("e1234")."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta

from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen

_AGO = re.compile(r"(\d{1,6})\s*([smhdw])", re.ASCII)
_CURSOR = re.compile(r"e(\d{1,18})", re.ASCII)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@frozen
class EventCursor:
    """A position in a project's event log: events with a greater id are new."""

    event_id: int

    def __str__(self) -> str:
        return f"e{self.event_id}"


_fixed: ContextVar[datetime | None] = ContextVar("fixed_clock", default=None)


def now() -> datetime:
    return _fixed.get() or timezone.now()


@contextmanager
def fixed_at(moment: datetime) -> Iterator[None]:
    """Let it be this time for all that the block does in this thread."""
    token = _fixed.set(moment)
    try:
        yield
    finally:
        _fixed.reset(token)


def parse_moment(text: str, name: str = "since") -> datetime | EventCursor:
    """Parse a time or an event cursor; raises InvalidInput if `text` is neither."""
    text = text.strip()
    if cursor := _CURSOR.fullmatch(text):
        return EventCursor(int(cursor[1]))
    try:
        if (ago := find_span(text)) is not None:
            return now() - ago
        if moment := parse_datetime(text) or parse_date(text):
            moment = moment if isinstance(moment, datetime) else datetime.combine(moment, datetime.min.time())
            # Arithmetic near the ends of the calendar overflows: fail here, not in a query.
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise InvalidInput(
        f"{name}: {text[:60]!r} is not a time.",
        hint='Use ISO 8601 ("2026-11-21T10:00:00Z"), a time ago ("30m", "2h", "7d") or a cursor ("e1234").',
    )


def find_span(text: str) -> timedelta | None:
    """The length of time that a text says ("30m", "24h", "7d"), else None. Raises OverflowError."""
    found = _AGO.fullmatch(text.strip())
    return timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else None


def format_time(moment: datetime) -> str:
    """UTC, to the second: 2026-11-21T10:00:00Z."""
    return f"{moment.astimezone(UTC).isoformat(timespec='seconds').removesuffix('+00:00')}Z"
