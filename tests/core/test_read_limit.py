"""A read that takes too much processor time is stopped, wherever it spends it; a write is not."""

import logging
from collections.abc import Callable
from time import sleep, thread_time
from typing import Any

import pytest
from django.db import connection

from ctxhub.core.kit import read_limit, sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.read_limit import TooMuchWork, checkpoint, limited_read, unlimited
from ctxhub.core.kit.transactions import touch_transaction, write_transaction
from ctxhub.core.models import Refusal
from ctxhub.core.refusals.services import WRITER
from ctxhub.core.search import index
from ctxhub.core.search.documents import analyse_texts
from ctxhub.mcp import call_threads
from ctxhub.mcp.call_threads import CallThreads
from ctxhub.mcp.shares import HUB
from ctxhub.toolbox.dispatch import call
from memory.decisions.services import set_decision
from tests.hub import LiveHub, McpClient, RestClient
from tests.timing import PATIENCE_SECONDS

# Endless as good as.
COUNT = """WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 200000000)
    SELECT count(*) FROM numbers"""
SHORT = 0.2


@pytest.fixture
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_limit, "SECONDS", SHORT)


def compute(check: Callable[[], object], seconds: float = 20.0) -> None:
    began = thread_time()
    while thread_time() < began + seconds:
        check()


@pytest.mark.usefixtures("_short")
def test_a_computation_is_stopped_at_a_checkpoint() -> None:
    began = thread_time()
    with (
        pytest.raises(TooMuchWork, match="brief was stopped"),
        limited_read("brief"),
    ):
        compute(checkpoint)
    assert SHORT <= thread_time() - began < 10 * SHORT


@pytest.mark.usefixtures("_short")
def test_waiting_is_no_work() -> None:
    with limited_read("brief"):
        sleep(3 * SHORT)
        checkpoint()


@pytest.mark.usefixtures("_short")
def test_without_a_read_nothing_is_stopped() -> None:
    compute(checkpoint, 2 * SHORT)
    with limited_read("brief"):
        with unlimited():
            compute(checkpoint, 2 * SHORT)
        with pytest.raises(TooMuchWork):
            checkpoint()
    checkpoint()


@pytest.mark.usefixtures("_short")
def test_a_read_inside_another_has_its_limit() -> None:
    def read() -> None:
        with limited_read("inner"):
            compute(checkpoint)

    with pytest.raises(TooMuchWork, match="outer"), limited_read("outer"):
        read()


def in_a_call_thread(run: Callable[[], Any]) -> Any:
    """In a thread of its own, whose connection is closed behind it."""

    def work() -> Any:
        try:
            return run()
        finally:
            connection.close()

    return CallThreads().submit(HUB, work).result(PATIENCE_SECONDS)


def read_long() -> None:
    with limited_read("search"):
        sql.rows(COUNT)


def read_long_by_the_orm() -> None:
    with limited_read("search"), connection.cursor() as cursor:
        cursor.execute(COUNT)
        cursor.fetchall()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_short")
@pytest.mark.parametrize("read", [read_long, read_long_by_the_orm])
def test_a_statement_is_stopped(read: Callable[[], None]) -> None:
    with pytest.raises(TooMuchWork, match="search was stopped"):
        in_a_call_thread(read)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_short")
def test_statements_of_a_read_are_added_up() -> None:
    part = COUNT.replace("200000000", "20000")

    def read() -> int:
        with limited_read("search"):
            for _ in range(10_000):
                sql.rows(part)
        return 0

    with pytest.raises(TooMuchWork):
        in_a_call_thread(read)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_short")
@pytest.mark.parametrize("transaction", [write_transaction, lambda _: touch_transaction()])
def test_what_a_read_writes_is_not_stopped(transaction: Any, ada: Caller) -> None:
    """The statement takes several times the limit."""
    count = COUNT.replace("200000000", "4000000")

    def read() -> list[Any]:
        with limited_read("brief"), transaction(ada.project_id):
            if transaction is not write_transaction and connection.vendor == "postgresql":
                return [(4_000_000,)]  # A touch is a statement or two, and may be stopped.
            return sql.rows(count)

    assert in_a_call_thread(read) == [(4_000_000,)]


@pytest.mark.django_db(transaction=True)
def test_other_errors_stay(ada: Caller) -> None:
    def read() -> None:
        with limited_read("brief"):
            sql.rows("SELECT 1 FROM nowhere")

    with pytest.raises(Exception, match="nowhere") as error:
        in_a_call_thread(read)
    assert not isinstance(error.value, TooMuchWork)


# -- On the faces ------------------------------------------------------------------------------------


@pytest.fixture
def _long_search(monkeypatch: pytest.MonkeyPatch, _short: None) -> None:
    """Every search computes for long."""
    monkeypatch.setattr("ctxhub.core.search.search.rank", lambda *_: compute(checkpoint))


def seen(caller: Caller) -> list[tuple[str, str, str, int]]:
    WRITER.flush()
    return list(Refusal.objects.in_project(caller.project).values_list("name", "ref", "code", "count"))


@pytest.mark.django_db
@pytest.mark.usefixtures("_long_search")
def test_it_is_an_error_a_line_and_a_count(ada: Caller, caplog: pytest.LogCaptureFixture) -> None:
    set_decision(caller=ada, key="api/auth", value="jwt")
    with pytest.raises(TooMuchWork) as error:
        call(ada, "search", {"query": "jwt"})
    assert error.value.body() == {
        "error": "limit_reached",
        "message": "search was stopped: it took more than 0.2 seconds of processor time.",
        "hint": "Ask for less: fewer paths or refs, a shorter text, a smaller limit, or a narrower filter.",
    }
    lines = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert lines == ["search was stopped: it took more than 0.2 seconds of processor time. (ada in apollo)"]
    assert seen(ada) == [("ada", "", "limit_reached", 1)]


@pytest.mark.usefixtures("_long_search")
def test_over_mcp_it_is_a_result(ada: Caller, ada_mcp: McpClient) -> None:
    set_decision(caller=ada, key="api/auth", value="jwt")
    result = ada_mcp.result("search", {"query": "jwt"})
    assert result["isError"]
    assert "limit_reached" in result["content"][0]["text"]
    assert seen(ada) == [("ada", "", "limit_reached", 1)]


@pytest.mark.usefixtures("_long_search")
@pytest.mark.parametrize("address", ["search/", "call/search/"])
def test_over_rest_it_is_a_quota(ada: Caller, ada_rest: RestClient, address: str) -> None:
    """No 429: programs repeat such a call by themselves, and it would take as long."""
    set_decision(caller=ada, key="api/auth", value="jwt")
    reply = ada_rest.post(address, {"query": "jwt"})
    assert (reply.status, reply.body["error"]) == (409, "limit_reached")
    assert "retry-after" not in reply.headers
    assert seen(ada) == [("ada", "", "limit_reached", 1)]
    listed = ada_rest.get("refusals/", code="limit_reached").body["items"]
    assert [row["agent"] for row in listed] == ["ada"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_short")
def test_over_rest_a_statement_is_stopped(
    hub: LiveHub, ada_rest: RestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_threads, "threads", CallThreads())  # With new connections.
    monkeypatch.setattr("ctxhub.core.search.search.prepare", lambda *_, **__: sql.rows(COUNT))
    reply = ada_rest.get("search/", query="jwt")
    assert (reply.status, reply.body["error"]) == (409, "limit_reached")


@pytest.mark.django_db
@pytest.mark.usefixtures("_short")
def test_a_write_is_not_stopped(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def analyse(*texts: Any, **then: Any) -> Any:
        compute(checkpoint, 2 * SHORT)
        return analyse_texts(*texts, **then)

    monkeypatch.setattr(index, "analyse_texts", analyse)
    assert call(ada, "decision", {"action": "set", "key": "k", "value": "v"})["result"] == "created"
