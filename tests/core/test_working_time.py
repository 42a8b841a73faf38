"""The age of messages and changes where weekends and holidays do not count."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.core.accounts.models import Config
from ctxhub.core.events.working_time import moment_before

DAY = timedelta(hours=24)
WEEKDAYS = Config(ignore_weekend=True)


def at(text: str, zone: str = "UTC") -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))


# 2026-11-20 is a Friday.
@pytest.mark.parametrize(
    ("now", "age", "before"),
    [
        ("2026-11-23T15:00", DAY, "2026-11-20T15:00"),
        ("2026-11-23T00:00", DAY, "2026-11-20T00:00"),
        ("2026-11-22T12:00", DAY, "2026-11-20T00:00"),
        ("2026-11-21T00:00", DAY, "2026-11-20T00:00"),
        ("2026-11-24T15:00", DAY, "2026-11-23T15:00"),
        ("2026-11-20T15:00", 7 * DAY, "2026-11-11T15:00"),
        ("2026-11-23T15:00", timedelta(hours=1), "2026-11-23T14:00"),
    ],
)
def test_weekends_do_not_count(now: str, age: timedelta, before: str) -> None:
    assert moment_before(at(now), age, WEEKDAYS) == at(before)


def test_without_ignored_weekends_an_age_is_elapsed_time() -> None:
    assert moment_before(at("2026-11-23T15:00"), DAY, Config()) == at("2026-11-22T15:00")


def test_weekends_are_in_the_time_zone_of_the_project() -> None:
    auckland = Config(ignore_weekend=True, time_zone="Pacific/Auckland")
    saturday = at("2026-11-21T05:00", "Pacific/Auckland")  # In UTC it is still Friday.
    assert moment_before(saturday, DAY, auckland) == at("2026-11-20T00:00", "Pacific/Auckland")
    assert moment_before(saturday, DAY, WEEKDAYS) == saturday - DAY


def test_holidays_do_not_count_either() -> None:
    config = Config(ignore_weekend=True, holidays=("2026-12-25", "2026-12-28"))
    assert moment_before(at("2026-12-29T15:00"), DAY, config) == at("2026-12-24T15:00")


def test_changes_of_the_clock_are_accounted_for() -> None:
    """Berlin's clocks go back on the Sunday 2026-10-25, and forward on 2027-03-28."""
    config = Config(ignore_weekend=True, time_zone="Europe/Berlin")
    for monday, friday in (("2026-10-26", "2026-10-23"), ("2027-03-29", "2027-03-26")):
        now = at(f"{monday}T15:00", "Europe/Berlin")
        assert moment_before(now, DAY, config) == at(f"{friday}T15:00", "Europe/Berlin")


@given(
    st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),
    st.integers(0, 90 * 24),
    st.sampled_from(["UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia"]),
)
def test_ignoring_weekends_never_makes_anything_older(now: datetime, hours: int, zone: str) -> None:
    config = Config(ignore_weekend=True, time_zone=zone)
    age = timedelta(hours=hours)
    before = moment_before(now, age, config)
    assert before <= now - age
    assert before >= now - 2 * age - timedelta(days=3)
    later = moment_before(now + timedelta(hours=1), age, config)
    assert before <= later
