"""A connection to PostgreSQL that was asked a moment ago is not asked again, unless it has ended."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from django.db import close_old_connections, connection

from ctxhub.core.kit import asked_lately, sql
from ctxhub.core.kit.asked_lately import trust_if_asked_lately

pytestmark = [
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite is a file."),
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture(autouse=True)
def checked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(connection.settings_dict, "CONN_HEALTH_CHECKS", True)
    monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", 600)
    connection.close()
    yield
    connection.close()


def begin_call() -> None:
    close_old_connections()
    trust_if_asked_lately()


def test_the_second_call_does_not_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    sql.rows("SELECT 1")
    asked: list[bool] = []
    is_usable = connection.is_usable

    def ask() -> bool:
        asked.append(is_usable())
        return asked[-1]

    monkeypatch.setattr(connection, "is_usable", ask)
    for _ in range(3):
        begin_call()
        sql.rows("SELECT 1")
    assert asked == [True]
    monkeypatch.setattr(asked_lately, "SECONDS_TRUSTED", 0.0)
    begin_call()
    sql.rows("SELECT 1")
    assert asked == [True, True]


def test_a_connection_that_the_server_has_ended_is_opened_anew() -> None:
    for _ in range(2):
        begin_call()
        sql.rows("SELECT 1")
    [(ended,)] = sql.rows("SELECT pg_backend_pid()")
    with closing(connection.copy()) as other, other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 1000)", [ended])
    begin_call()
    assert sql.rows("SELECT pg_backend_pid()") != [(ended,)]
