"""Times from PostgreSQL are read by psycopg's compiled loader, as Django's own would read them."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event
from memory.decisions.services import set_decision

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite stores text"),
]
MOMENTS = [
    datetime(2026, 11, 26, 6, 47, 14, 740778, tzinfo=UTC),
    datetime(2026, 3, 29, 1, 30, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC),
]


def test_the_loader_is_registered_and_stays_when_django_makes_cursors() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT now()")
        loader = cursor.cursor.adapters.get_loader(1184, 0)
    assert loader.__name__ == "UtcLoader"


@pytest.mark.parametrize("moment", MOMENTS, ids=str)
def test_times_come_back_as_they_were_given(moment: datetime) -> None:
    [(read, nothing)] = sql.rows("SELECT %s::timestamptz, NULL::timestamptz", [moment])
    assert read == moment
    assert read.tzinfo is UTC
    assert nothing is None


def test_times_of_another_zone_are_told_in_utc() -> None:
    [(read,)] = sql.rows("SELECT '2026-01-01 00:00:00.5+03'::timestamptz")
    assert (read, read.utcoffset()) == (datetime(2025, 12, 31, 21, 0, 0, 500_000, tzinfo=UTC), timedelta())


def test_models_read_the_same_times(ada: Caller) -> None:
    set_decision(caller=ada, key="k", value=1)
    event = Event.objects.in_project(ada.project_id).latest("pk")
    assert event.at.tzinfo is UTC
    assert sql.rows("SELECT at FROM core_event WHERE id = %s", [event.pk]) == [(event.at,)]
