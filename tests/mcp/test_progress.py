"""Progress of long calls: told to clients that ask for it, and only to them."""

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from django.db import OperationalError
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from pytest_django import Settings

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from ctxhub.mcp import progress
from ctxhub.mcp.requests import Request, Surface
from ctxhub.mcp.stdio import StdioServer
from memory.models import Snapshot
from memory.predictions import services
from memory.snapshots.services import save_snapshot
from tests.hub import LiveHub, McpClient, Reply
from tests.mcp.everywhere import ERAS, headers_of
from tests.mcp.transcript import META, MODERN, Message, call, hello, notification
from tests.stdio import answered

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_engine]

FILES, SNAPSHOTS = 30, 10
GREP = ("memory", {"action": "grep", "pattern": "word"})
PREDICT = ("snapshot", {"action": "predict", "stale_hours": 0})
BOTH = pytest.mark.parametrize("asked", [GREP, PREDICT], ids=["grep", "predict"])
Asked = tuple[str, dict[str, Any]]


@pytest.fixture(autouse=True)
def _work(ada: Caller, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "code"
    root.mkdir()
    for n in range(FILES):
        (root / f"{n:02}.txt").write_text("a word\n")
    settings.GREP_ROOTS = [("", root)]
    for n in range(SNAPSHOTS):
        save_snapshot(caller=ada, content=f"Snapshot {n}.")
    monkeypatch.setattr(services, "ROWS_AT_ONCE", 2)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN", 0)


def with_token(asked: Asked, version: str, **meta: Any) -> Message:
    return call(*asked, _meta={**(META if version == MODERN else {}), **meta})


def over_stdio(caller: Caller, version: str, message: Any, folder: Path) -> list[Message]:
    begun = [] if version == MODERN else [hello(version), notification("notifications/initialized")]
    return answered(caller, map(json.dumps, [*begun, message]), folder)[1 if begun else 0 :]


def post(client: McpClient, version: str, message: Any, accept: str = "") -> Reply:
    headers = {"mcp-protocol-version": version} if isinstance(message, list) else headers_of(message, version)
    return client.send("POST", "/mcp", message, {**headers, **({"Accept": accept} if accept else {})})


def events(reply: Reply) -> list[Message]:
    """The messages of a stream of events."""
    assert reply.headers["content-type"] == "text/event-stream"
    assert "content-length" not in reply.headers
    frames = reply.body.split("\n\n")
    assert frames.pop() == ""
    assert all(frame.startswith("event: message\ndata: ") for frame in frames)
    return [json.loads(frame.partition("data: ")[2]) for frame in frames]


def told(messages: list[Message]) -> list[Message]:
    """The params of the notifications, which are all but the last message."""
    *before, last = messages
    assert last["result"]["isError"] is False
    assert {(each["jsonrpc"], each["method"]) for each in before} == {("2.0", "notifications/progress")}
    assert all("id" not in each for each in before)
    return [each["params"] for each in before]


# -- Who asks is told ------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("version", ERAS)
def test_who_asks_is_told_over_both_transports(
    ada: Caller, ada_mcp: McpClient, tmp_path: Path, asked: Asked, version: str
) -> None:
    message = with_token(asked, version, progressToken="p-1")
    over_http = events(post(ada_mcp, version, message))
    assert told(over_http)
    assert told(over_stdio(ada, version, message, tmp_path))
    for each in told(over_http):
        assert each["progressToken"] == "p-1"
    assert over_http[-1]["id"] == message["id"]
    assert ("resultType" in over_http[-1]["result"]) is (version == MODERN)


def test_steps_grow_to_the_total(ada: Caller, tmp_path: Path) -> None:
    found = told(over_stdio(ada, ERAS[0], with_token(PREDICT, ERAS[0], progressToken=7), tmp_path))
    assert found == [
        {"progressToken": 7, "progress": n, "total": 10, "message": f"{n} of 10 snapshots"}
        for n in (2, 4, 6, 8, 10)
    ]


def test_a_total_that_nobody_knows_is_left_out(ada: Caller, tmp_path: Path) -> None:
    found = told(over_stdio(ada, ERAS[0], with_token(GREP, ERAS[0], progressToken=0), tmp_path))
    assert found[0] == {"progressToken": 0, "progress": 1, "message": "1 file"}
    assert [each["progress"] for each in found] == list(range(1, FILES + 1))


def test_the_result_is_the_same_as_without(ada: Caller, ada_mcp: McpClient, tmp_path: Path) -> None:
    [*_, asked] = over_stdio(ada, ERAS[0], with_token(GREP, ERAS[0], progressToken="p"), tmp_path)
    [plain] = over_stdio(ada, ERAS[0], call(*GREP), tmp_path)
    assert asked["result"] == plain["result"] == post(ada_mcp, ERAS[0], call(*GREP)).body["result"]


def test_the_client_of_the_sdk_hears_of_it(hub: LiveHub, ada_token: str) -> None:
    heard: list[tuple[float, float | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total))

    async def session() -> None:
        async with (
            create_mcp_http_client(headers={"Authorization": f"Bearer {ada_token}"}) as http,
            Client(streamable_http_client(f"{hub.url}/mcp", http_client=http), mode="auto") as client,
        ):
            result = await client.call_tool(*PREDICT, progress_callback=hear)
            assert not result.is_error

    anyio.run(session)
    assert heard[-1] == (10, 10)
    assert heard == sorted(heard)


def test_calls_of_a_batch_tell_theirs(ada: Caller, ada_mcp: McpClient, tmp_path: Path) -> None:
    batch = [with_token(PREDICT, "2025-03-26", progressToken=token) for token in ("a", "b")]
    reply = post(ada_mcp, "2025-03-26", batch)
    for messages in (over_stdio(ada, "2025-03-26", batch, tmp_path), events(reply)):
        *before, last = messages
        assert {each["params"]["progressToken"] for each in before} == {"a", "b"}
        answers: Any = last
        assert [answer["id"] for answer in answers] == [message["id"] for message in batch]


# -- Who does not ask is not -----------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("version", ERAS)
@pytest.mark.parametrize(
    ("meta", "accept"),
    [
        ({}, ""),
        ({"progressToken": "p"}, "application/json"),
        ({"progressToken": "p"}, "*/*"),
        ({"progressToken": "p"}, "application/json, text/event-stream;q=0"),
    ],
)
def test_others_get_json(
    ada_mcp: McpClient, asked: Asked, version: str, meta: dict[str, Any], accept: str
) -> None:
    reply = post(ada_mcp, version, with_token(asked, version, **meta), accept)
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["content-length"]
    assert reply.body["result"]["isError"] is False


def test_without_a_token_stdio_has_the_answer_alone(ada: Caller, tmp_path: Path) -> None:
    for asked in (GREP, PREDICT):
        assert len(over_stdio(ada, ERAS[0], call(*asked), tmp_path)) == 1


@pytest.mark.parametrize("version", ERAS)
def test_what_takes_no_time_is_answered_in_json(ada_mcp: McpClient, version: str) -> None:
    """Some clients send a token with every call."""
    for asked in (("decision", {"action": "list"}), ("decision", {"action": "set"}), ("nothing", {})):
        reply = post(ada_mcp, version, with_token(asked, version, progressToken=1))
        assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    wrong = {"action": "grep", "pattern": "("}
    reply = post(ada_mcp, version, with_token(("memory", wrong), version, progressToken=1))
    assert reply.headers["content-type"] == "application/json"
    assert reply.body["result"]["isError"] is True


def test_a_client_that_takes_events_alone_gets_the_answer_as_the_last(ada_mcp: McpClient) -> None:
    message = with_token(PREDICT, ERAS[0], progressToken=1)
    messages = events(post(ada_mcp, ERAS[0], message, "text/event-stream"))
    assert told(messages)[-1]["progress"] == 10


def test_a_call_goes_on_although_its_client_is_gone(ada: Caller, apollo: Project) -> None:
    source, given = os.pipe()
    answers, sink = os.pipe()
    message = with_token(PREDICT, MODERN, progressToken=1)
    os.write(given, json.dumps(message).encode() + b"\n")
    os.close(given)
    os.close(answers)
    StdioServer(source, sink, ada, Surface()).serve()
    assert not Snapshot.objects.in_project(apollo).filter(predicted_at=None).exists()


# -- Failures and bounds ---------------------------------------------------------------------------


@pytest.mark.parametrize("version", ERAS)
def test_a_failure_after_some_progress_is_the_last_event(
    ada: Caller, ada_mcp: McpClient, tmp_path: Path, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(services, "count_outcomes", fail)
    message = with_token(PREDICT, version, progressToken=1)
    *before, last = events(post(ada_mcp, version, message))
    assert len(before) >= 1
    assert (last["id"], last["error"]["code"]) == (message["id"], -32603)
    assert "does not answer" in last["error"]["message"]
    *before, last = over_stdio(ada, version, message, tmp_path)
    assert before
    assert last["result"]["isError"] is True


def test_notifications_are_few_and_grow(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS_BETWEEN", 1_000)
    sent: list[Message] = []
    request = Request("tools/call", {"_meta": {"progressToken": 1}}, ERAS[0], ada, Surface())
    with progress.telling(request, sent.append):
        for done in (5, 3, 5, 6, 7, 10, 10, 9):
            progress_of(done)
    assert [each["params"]["progress"] for each in sent] == [5, 10]
    progress_of(10)
    assert len(sent) == 2


def progress_of(done: int) -> None:
    from ctxhub.core.kit.progress import tell_progress

    tell_progress(done, 10, "things")
