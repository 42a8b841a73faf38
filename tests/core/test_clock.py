"""Times as agents write them."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from ctxhub.core.kit.clock import EventCursor, format_time, parse_moment
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import clean_moment

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "ago"),
    [
        ("0s", timedelta()),
        ("45s", timedelta(seconds=45)),
        ("30m", timedelta(minutes=30)),
        (" 2h ", timedelta(hours=2)),
        ("2 h", timedelta(hours=2)),
        ("7d", timedelta(days=7)),
        ("3w", timedelta(weeks=3)),
    ],
)
def test_a_time_ago(said: str, ago: timedelta) -> None:
    with time_machine.travel(NOON, tick=False):
        assert parse_moment(said) == NOON - ago


@pytest.mark.parametrize(
    "said",
    [
        "2026-11-21T12:00:00Z",
        "2026-11-21T12:00:00",
        "2026-11-21 12:00",
        "2026-11-21T13:00:00+01:00",
        "2026-11-21T12:00:00.000000+00:00",
        " 2026-11-21T12:00Z ",
    ],
)
def test_a_moment_is_read_in_utc_unless_it_says_otherwise(said: str) -> None:
    assert parse_moment(said) == NOON


def test_a_date_is_its_first_moment() -> None:
    assert parse_moment("2026-11-21") == NOON.replace(hour=0)


@pytest.mark.parametrize(("said", "event_id"), [("e0", 0), ("e1234", 1234), ("e" + "9" * 18, 10**18 - 1)])
def test_a_cursor_names_an_event(said: str, event_id: int) -> None:
    cursor = parse_moment(said)
    assert cursor == EventCursor(event_id)
    assert str(cursor) == said


@pytest.mark.parametrize(
    "said",
    [
        "", "soon", "e", "e-1", "e1.5", "e" + "9" * 19, "-5m", "5", "5y", "999999w", "٣d", "²d", "12:00",
        "2026-13-01", "2026-02-30", "2026-11-21T25:00", "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "0000-01-01", "2026-11-21T12:00:00Zjunk", "x" * 10_000, "\x00", "\ud800",
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_and_shown_how(said: str) -> None:
    with pytest.raises(InvalidInput, match="since") as refused:
        parse_moment(said)
    assert "30m" in refused.value.hint
    assert len(refused.value.message) < 400


def test_times_are_spoken_in_utc_to_the_second() -> None:
    assert format_time(datetime.fromisoformat("2026-11-21T13:00:00.999999+01:00")) == "2026-11-21T12:00:00Z"


@pytest.mark.parametrize("nothing", [None, ""])
def test_no_time_is_no_time(nothing: str | None) -> None:
    assert clean_moment(nothing, "since") is None
