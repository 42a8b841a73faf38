"""Parsing and formatting of times and event cursors."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from ctxhub.core.kit.clock import EventCursor, format_time, parse_moment
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import clean_moment

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "ago"),
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
def test_a_duration_means_that_long_ago(text: str, ago: timedelta) -> None:
    with time_machine.travel(NOON, tick=False):
        assert parse_moment(text) == NOON - ago


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-21T12:00:00Z",
        "2026-11-21T12:00:00",
        "2026-11-21 12:00",
        "2026-11-21T13:00:00+01:00",
        "2026-11-21T12:00:00.000000+00:00",
        " 2026-11-21T12:00Z ",
    ],
)
def test_a_moment_without_an_offset_is_utc(text: str) -> None:
    assert parse_moment(text) == NOON


def test_a_date_means_its_midnight_in_utc() -> None:
    assert parse_moment("2026-11-21") == NOON.replace(hour=0)


@pytest.mark.parametrize(("text", "event_id"), [("e0", 0), ("e1234", 1234), ("e" + "9" * 18, 10**18 - 1)])
def test_a_cursor_names_an_event(text: str, event_id: int) -> None:
    cursor = parse_moment(text)
    assert cursor == EventCursor(event_id)
    assert str(cursor) == text


@pytest.mark.parametrize(
    "text",
    [
        "", "soon", "e", "e-1", "e1.5", "e" + "9" * 19, "-5m", "5", "5y", "999999w", "٣d", "²d", "12:00",
        "2026-13-01", "2026-02-30", "2026-11-21T25:00", "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "0000-01-01", "2026-11-21T12:00:00Zjunk", "x" * 10_000, "\x00", "\ud800",
    ],
)  # fmt: skip
def test_an_invalid_time_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidInput, match="since") as refused:
        parse_moment(text)
    assert "30m" in refused.value.hint
    assert len(refused.value.message) < 400


def test_times_are_formatted_in_utc_to_the_second() -> None:
    assert format_time(datetime.fromisoformat("2026-11-21T13:00:00.999999+01:00")) == "2026-11-21T12:00:00Z"


@pytest.mark.parametrize("blank", [None, ""])
def test_a_blank_time_is_none(blank: str | None) -> None:
    assert clean_moment(blank, "since") is None
