"""Statements run beside Django's cursors, and behave as there."""

from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit import sql

pytestmark = pytest.mark.django_db

STATEMENT = "SELECT '100%%', '%%s', %s"


def test_percent_signs_are_those_of_django() -> None:
    with connection.cursor() as cursor:
        cursor.execute(STATEMENT, ["a"])
        by_django = cursor.fetchall()
    assert sql.rows(STATEMENT, ["a"]) == by_django


def test_a_statement_without_a_result_has_no_rows() -> None:
    assert sql.rows("UPDATE core_agent SET name = name WHERE id = %s", [0]) == []


def test_who_listens_to_statements_hears_them() -> None:
    heard: list[str] = []

    def listen(execute: Any, statement: str, *rest: Any) -> Any:
        heard.append(statement)
        return execute(statement, *rest)

    with connection.execute_wrapper(listen), CaptureQueriesContext(connection) as captured:
        assert sql.rows(STATEMENT, ["a"])
    assert heard == [STATEMENT]
    assert len(captured) == 1


def test_errors_are_those_of_django() -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        sql.insert("core_tag", ("id", "name"), [(1, None)])
    with pytest.raises(DatabaseError), transaction.atomic():
        sql.rows("SELECT nothing FROM nowhere")


def test_a_transaction_that_failed_takes_no_more_statements() -> None:
    with transaction.atomic():
        transaction.set_rollback(True)
        with pytest.raises(TransactionManagementError):
            sql.rows("SELECT 1")
        transaction.set_rollback(False)


@pytest.mark.every_engine
def test_values_are_sent_apart_from_what_is_prepared() -> None:
    found = [sql.rows("SELECT lower(%s), '%%'", [text]) for text in ("A", "B'", "\\C", "D%")]
    assert found == [[("a", "%")], [("b'", "%")], [("\\c", "%")], [("d%", "%")]]
    if not sql.is_sqlite():
        prepared = sql.rows(
            "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %s", ["%lower($1)%"]
        )
        assert prepared == [(1,)]
