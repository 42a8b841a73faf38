"""Long polling: a waiting call is woken by a change, needs no thread, and ends after its wait_seconds."""

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from typing import Any

import pytest
from django.db import OperationalError, connection

from ctxhub.console.needs import live
from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from ctxhub.mcp.wakeups import _Postgres, _Sqlite, watch
from memory.decisions.services import set_decision
from messaging.messages.services import acknowledge_messages, send_message
from tests.hub import LiveHub, McpClient, Reply, RestClient
from tests.people import VIEWER, person, signed_in
from tests.stdio import stdio_hub
from tests.timing import PATIENCE_SECONDS, SOON_SECONDS, check_cpu_seconds, cpu_seconds_of, wait_until

CROWD = 64


@pytest.fixture(params=["mcp", "rest", "call"])
def wait(request: pytest.FixtureRequest, hub: LiveHub, ada_token: str) -> Callable[..., dict[str, Any]]:
    """`hub wait` as ada over MCP, REST and the call endpoint."""

    def over_mcp(**arguments: Any) -> dict[str, Any]:
        return hub.mcp(ada_token).call("hub", "wait", **arguments)

    def over_rest(**query: Any) -> dict[str, Any]:
        answer: dict[str, Any] = hub.rest(ada_token).get("updates/", **query).body
        return answer

    def over_call(**arguments: Any) -> dict[str, Any]:
        answer: dict[str, Any] = hub.rest(ada_token).post("call/hub/wait/", arguments).body
        return answer

    return {"mcp": over_mcp, "rest": over_rest, "call": over_call}[request.param]


def wait_for_waiters(count: int = 1) -> None:
    """Block until this many calls are waiting, with more patience for more of them."""
    wait_until(lambda: len(watch._waiters) >= count, PATIENCE_SECONDS * (1 + count // 16))


def waiting(run: Callable[[], Any]) -> tuple[float, Future[tuple[Any, float]]]:
    """When a call of three seconds began, and its answer, once it waits.

    It is made again if it has ended before this thread came to look.
    """
    for _ in range(10):
        started, answering = time.monotonic(), in_background(run)
        if _waits(answering):
            return started, answering
    raise AssertionError("no call waited")


def _waits(answering: Future[Any]) -> bool:
    wait_until(lambda: watch._waiters or answering.done())
    return not answering.done()


def in_background(run: Callable[[], Any]) -> Future[tuple[Any, float]]:
    """Run in a thread; the future holds the result of `run` and the time when it returned."""
    future: Future[tuple[Any, float]] = Future()

    def work() -> None:
        try:
            future.set_result((run(), time.monotonic()))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return future


def test_a_waiting_call_answers_when_another_writes(wait: Callable[..., Any], ben: Caller) -> None:
    answering = in_background(lambda: wait(wait_seconds=60))
    wait_for_waiters()
    set_decision(caller=ben, key="news", value="x")
    written = time.monotonic()
    answer, answered = answering.result(PATIENCE_SECONDS)
    assert answer["decisions"] == 1
    assert answered - written < SOON_SECONDS


def test_own_writes_do_not_wake(wait: Callable[..., Any], ada: Caller) -> None:
    started, answering = waiting(lambda: wait(wait_seconds=3))
    set_decision(caller=ada, key="mine", value="x")
    answer, answered = answering.result(PATIENCE_SECONDS)
    assert "decisions" not in answer
    assert answered - started > 2.9


def test_another_projects_writes_do_not_wake(wait: Callable[..., Any], cy: Caller) -> None:
    started, answering = waiting(lambda: wait(wait_seconds=3))
    set_decision(caller=cy, key="theirs", value="x")
    _, answered = answering.result(PATIENCE_SECONDS)
    assert answered - started > 2.9


def test_changes_before_the_call_are_answered_at_once(wait: Callable[..., Any], ben: Caller) -> None:
    set_decision(caller=ben, key="old", value="x")
    started = time.monotonic()
    assert wait(since="e0", wait_seconds=60)["decisions"] == 1
    assert time.monotonic() - started < SOON_SECONDS


def test_a_time_ahead_of_the_hubs_clock_hides_nothing(wait: Callable[..., Any], ben: Caller) -> None:
    answering = in_background(lambda: wait(since="2099-01-01", wait_seconds=60))
    wait_for_waiters()
    set_decision(caller=ben, key="news", value="x")
    answer, _ = answering.result(PATIENCE_SECONDS)
    assert answer["decisions"] == 1
    assert "decisions" not in wait(since=answer["cursor"], wait_seconds=0)


def test_a_wait_that_a_message_ends_says_so_once(wait: Callable[..., Any], ben: Caller) -> None:
    answering = in_background(lambda: wait(wait_seconds=60))
    wait_for_waiters()
    send_message(caller=ben, text="Hello.", to=["ada"])
    answer, _ = answering.result(PATIENCE_SECONDS)
    assert answer == {"messages": 1, "cursor": answer["cursor"]}
    assert wait(since=answer["cursor"], wait_seconds=1) == {"cursor": answer["cursor"]}


def test_urgent_mail_that_was_there_before_ends_no_wait(
    wait: Callable[..., Any], hub: LiveHub, ada_token: str, ben: Caller
) -> None:
    send_message(caller=ben, text="Stop.", to=["ada"], priority="critical")
    cursor = hub.mcp(ada_token).call("hub", "updates")["cursor"]
    for since in ({}, {"since": cursor}):
        started = time.monotonic()
        answer = wait(wait_seconds=2, **since)
        assert answer == {"mail": 1, "cursor": cursor}
        assert time.monotonic() - started > 1.9
    answering = in_background(lambda: wait(since=cursor, wait_seconds=60))
    wait_for_waiters()
    send_message(caller=ben, text="Stop now.", to=["ada"], priority="critical")
    answer, _ = answering.result(PATIENCE_SECONDS)
    assert {**answer, "cursor": ""} == {"messages": 1, "mail": 2, "cursor": ""}


def test_a_wait_that_an_acknowledgement_ends_says_so(
    wait: Callable[..., Any], ada: Caller, ben: Caller
) -> None:
    sent = send_message(caller=ada, text="Deploy at noon.", to=["ben"], ack=True)
    answering = in_background(lambda: wait(wait_seconds=60))
    wait_for_waiters()
    acknowledge_messages(caller=ben, ids=[sent["id"]])
    answer, _ = answering.result(PATIENCE_SECONDS)
    assert answer == {"messages": 1, "cursor": answer["cursor"]}


def test_wait_seconds_of_zero_returns_at_once(wait: Callable[..., Any]) -> None:
    started = time.monotonic()
    assert "cursor" in wait(wait_seconds=0)
    assert time.monotonic() - started < SOON_SECONDS


@pytest.mark.parametrize("seconds", [-1, 61, "soon", 1.5])
def test_invalid_wait_seconds_are_refused(wait: Callable[..., Any], seconds: Any) -> None:
    answer = wait(wait_seconds=seconds)
    assert answer["error"] == "invalid"
    assert "wait_seconds" in answer["message"]


def test_64_waiting_calls_do_not_slow_others(hub: LiveHub, ada_mcp: McpClient, ada_token: str) -> None:
    """64 waiting calls occupy neither threads nor database connections."""

    def wait(agent: int) -> dict[str, Any]:
        return hub.mcp(ada_token).call("hub", "wait", wait_seconds=60)

    connections = open_connections()
    with ThreadPoolExecutor(CROWD) as threads:
        answers = threads.map(wait, range(CROWD))
        wait_for_waiters(CROWD)
        times = [cpu_seconds_of(lambda: ada_mcp.call("decision", "list")) for _ in range(20)]
        check_cpu_seconds(sorted(times)[len(times) // 2], 0.1)
        assert len(watch._waiters) == CROWD, "no call had to end for the others"
        assert open_connections() - connections <= 6
        write_as_somebody_else(ada_mcp, hub)
        assert all(answer["decisions"] == 1 for answer in answers)


def test_64_waiting_pages_hold_nothing_and_hear_of_every_project(
    hub: LiveHub, ada: Caller, ada_mcp: McpClient, cy: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first page of somebody with two projects; the event is in the second."""
    # A busy machine needs more than a minute to draw 64 pages.
    monkeypatch.setattr(live, "LONGEST_SECONDS", 900)
    for caller in (ada, cy):
        set_decision(caller=caller, key="first", value="x")
    user = person("vera", ada.project)
    person("vera", cy.project, VIEWER)
    cookie = {"Cookie": f"sessionid={signed_in(user).cookies['sessionid'].value}"}
    url = "/admin/overview/?wait=900"
    known_as = {**cookie, "If-None-Match": hub.http().send("GET", url, None, cookie).headers["etag"]}

    def wait(_: int) -> Reply:
        return hub.http().send("GET", url, None, known_as)

    connections = open_connections()
    with ThreadPoolExecutor(CROWD) as threads:
        answers = threads.map(wait, range(CROWD))
        wait_for_waiters(CROWD)
        times = [cpu_seconds_of(lambda: ada_mcp.call("decision", "list")) for _ in range(20)]
        check_cpu_seconds(sorted(times)[len(times) // 2], 0.1)
        assert len(watch._waiters) == CROWD, "no call had to end for the others"
        assert open_connections() - connections <= CROWD // 4  # Those of the worker threads.
        set_decision(caller=cy, key="news", value="x")
        assert all((answer.status, "2 decisions" in str(answer.body)) == (200, True) for answer in answers)


def open_connections() -> int:
    if connection.vendor == "sqlite":
        return 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


def write_as_somebody_else(client: McpClient, hub: LiveHub) -> None:
    set_decision(caller=Caller(Project.objects.get(slug="apollo"), "ben"), key="news", value="x")


def test_a_waiting_call_counts_once_for_the_rate_limit(
    hub: LiveHub, ada_rest: RestClient, ben: Caller, settings: Any
) -> None:
    settings.RATE_LIMIT = 3
    answering = in_background(lambda: ada_rest.get("updates/", wait_seconds=60))
    wait_for_waiters()
    set_decision(caller=ben, key="news", value="x")
    assert answering.result(PATIENCE_SECONDS)[0].body["decisions"] == 1
    assert [ada_rest.get("stats/").status for _ in range(3)] == [200, 200, 429]
    assert json.dumps(ada_rest.get("stats/").body).count("limit_reached") == 1


def test_a_waiting_process_is_woken_and_answers_other_calls_meanwhile(
    transactional_db: None, ben: Caller
) -> None:
    with stdio_hub("--project", "apollo", "--agent", "ada") as client:
        client.start()
        arguments = {"action": "wait", "since": "e0", "wait_seconds": 60}
        params = {"name": "hub", "arguments": arguments}
        client.write(
            json.dumps({"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": params}).encode()
        )
        assert client.call("decision", "list")["count"] == 0
        set_decision(caller=ben, key="news", value="x")
        written = time.monotonic()
        answer = client.read()
        assert answer["id"] == "w"
        assert '"decisions":1' in answer["result"]["content"][0]["text"]
        assert time.monotonic() - written < SOON_SECONDS


def test_a_waiting_call_is_woken_after_the_watch_has_failed(
    ada_mcp: McpClient, ben: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a restart of the database: the watch starts again and checks for missed changes."""
    watched = _Postgres if connection.vendor == "postgresql" else _Sqlite
    checks, has_changed = count(), watched.has_changed

    def fail_once(self: Any) -> bool:
        if next(checks) == 0:
            raise OperationalError("gone")
        return has_changed(self)

    ada_mcp.call("hub", "wait", wait_seconds=1)
    monkeypatch.setattr(watched, "has_changed", fail_once)
    answering = in_background(lambda: ada_mcp.call("hub", "wait", wait_seconds=60))
    wait_for_waiters()
    set_decision(caller=ben, key="news", value="x")
    written = time.monotonic()
    answer, answered = answering.result(PATIENCE_SECONDS)
    assert answer["decisions"] == 1
    assert answered - written < SOON_SECONDS
    assert next(checks) > 1


# -- Inbox -----------------------------------------------------------------------------------------


@pytest.fixture(params=["mcp", "rest", "call"])
def inbox(request: pytest.FixtureRequest, hub: LiveHub, ada_token: str) -> Callable[..., Any]:
    """The number of messages in ada's inbox over MCP, REST and the call endpoint."""

    def over_mcp(**arguments: Any) -> Any:
        return hub.mcp(ada_token).call("message", "inbox", **arguments)["count"]

    def over_rest(**query: Any) -> Any:
        return hub.rest(ada_token).get("messages/", **query).body["count"]

    def over_call(**arguments: Any) -> Any:
        return hub.rest(ada_token).post("call/message/inbox/", arguments).body["count"]

    return {"mcp": over_mcp, "rest": over_rest, "call": over_call}[request.param]


@pytest.mark.parametrize("to", [["ada"], ["ADA", "eve"], None])
def test_a_waiting_inbox_answers_when_a_message_arrives(
    inbox: Callable[..., Any], ben: Caller, to: list[str] | None
) -> None:
    answering = in_background(lambda: inbox(wait_seconds=60))
    wait_for_waiters()
    send_message(caller=ben, text="Hello.", to=to)
    sent = time.monotonic()
    count, answered = answering.result(PATIENCE_SECONDS)
    assert count == 1
    assert answered - sent < SOON_SECONDS


def test_messages_outside_the_filter_do_not_wake_an_inbox(inbox: Callable[..., Any], ben: Caller) -> None:
    answering = in_background(lambda: inbox(wait_seconds=60, priority="high"))
    wait_for_waiters()
    send_message(caller=ben, text="For another.", to=["eve"], priority="high")
    send_message(caller=ben, text="Not urgent.", to=["ada"])
    set_decision(caller=ben, key="k", value="x")
    time.sleep(0.5)
    assert not answering.done()
    send_message(caller=ben, text="Urgent.", to=["ada"], priority="high")
    assert answering.result(PATIENCE_SECONDS)[0] == 1


def test_an_inbox_with_messages_answers_at_once(inbox: Callable[..., Any], ben: Caller) -> None:
    send_message(caller=ben, text="Hello.", to=["ada"])
    started = time.monotonic()
    assert inbox(wait_seconds=60) == 1
    assert time.monotonic() - started < SOON_SECONDS


def test_an_empty_inbox_answers_after_wait_seconds(inbox: Callable[..., Any]) -> None:
    started = time.monotonic()
    assert inbox(wait_seconds=1) == 0
    assert 0.9 < time.monotonic() - started < SOON_SECONDS


def test_64_waiting_inboxes_each_get_their_messages(
    hub: LiveHub, ada_token: str, ben: Caller, apollo: Project
) -> None:
    token = create_token(project=apollo, name="crowd").secret

    def wait(agent: int) -> Any:
        return hub.mcp(token).call("message", "inbox", agent=f"a{agent}", wait_seconds=60)

    with ThreadPoolExecutor(CROWD) as threads:
        answers = threads.map(wait, range(CROWD))
        wait_for_waiters(CROWD)
        started = time.monotonic()
        send_message(caller=ben, text="For one.", to=["a7"])
        send_message(caller=ben, text="For all.")
        found = [answer["rows"] for answer in answers]
        assert time.monotonic() - started < SOON_SECONDS
    assert [len(rows) for n, rows in enumerate(found) if n != 7] == [1] * (CROWD - 1)
