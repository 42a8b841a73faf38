"""The bridge between a client on stdio and hubs that restart, hang, break off, or are something else."""

import json
import os
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ctxhub_client.bridge import connections, run
from ctxhub_client.bridge.lines import Pipes
from ctxhub_client.bridge.run import Bridge
from ctxhub_client.windows.joining import name_subagent

from ctxhub import __version__
from tests.integrations.scripted_hub import (
    CLOSES,
    Request,
    ScriptedHub,
    answers,
    answers_and_closes,
    closes,
    scripted,
)
from tests.timing import PATIENCE_SECONDS, wait_until

CALL = {"name": "decision", "arguments": {"action": "set", "key": "k", "value": "x"}}
LATER = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@dataclass
class Ends:
    """The client's ends of the pipes."""

    to_bridge: int
    from_bridge: Any
    thread: threading.Thread
    ids: int = 0

    def send(self, method: str, params: dict[str, Any] | None = None, **more: Any) -> int:
        self.ids += 1
        message = {"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params or {}, **more}
        self.write(json.dumps(message).encode())
        return self.ids

    def write(self, line: bytes) -> None:
        os.write(self.to_bridge, line + b"\n")

    def read(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.from_bridge.readline())
        return answer

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        sent = self.send(method, params)
        answer = self.read()
        assert answer["id"] == sent
        return answer

    def call(self, **meta: Any) -> str:
        """What a call that the bridge itself answers says to the model."""
        params: dict[str, Any] = {**CALL, **({"_meta": meta} if meta else {})}
        result = self.ask("tools/call", params)["result"]
        assert result["isError"] is True
        return str(result["content"][0]["text"])


@pytest.fixture
def hub() -> Iterator[ScriptedHub]:
    with scripted() as hub:
        yield hub


@pytest.fixture
def client(hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Ends]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for name in ("CTXHUB_AGENT", "CTXHUB_SESSION", "CLAUDE_CODE_SESSION_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CTXHUB_URL", hub.url)
    monkeypatch.setenv("CTXHUB_TOKEN", "secret")
    monkeypatch.setattr(run, "PATIENCE_SECONDS", 0.0)
    yield from bridged()


def bridged() -> Iterator[Ends]:
    source, to_bridge = os.pipe()
    from_bridge, sink = os.pipe()
    bridge = Bridge(Pipes(source, sink))
    thread = threading.Thread(target=bridge.serve, daemon=True)
    thread.start()
    with open(from_bridge, "rb") as file:
        yield Ends(to_bridge, file, thread)
        os.close(to_bridge)
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()
    os.close(source)
    os.close(sink)


# -- What is passed on -----------------------------------------------------------------------------


def test_a_message_is_passed_on_as_it_is(client: Ends, hub: ScriptedHub) -> None:
    line = b'{ "id":"a", "method":"tools/call",  "jsonrpc":"2.0","params":{"name":"get","n":1.50} }'
    client.write(line)
    assert client.read() == {"jsonrpc": "2.0", "id": "a", "result": {"said": "tools/call"}}
    [sent] = hub.got
    assert sent.headers["content-length"] == str(len(line))
    assert (sent.target, sent.headers["authorization"]) == ("/mcp", "Bearer secret")
    assert "text/event-stream" in sent.headers["accept"]
    assert sent.headers["user-agent"].startswith(f"ctxhub-client/{__version__}")
    assert not {"ctxhub-session", "ctxhub-agent", "mcp-protocol-version"} & {*sent.headers}


def test_a_window_that_nobody_names_has_one_name_of_its_own(client: Ends, hub: ScriptedHub) -> None:
    client.ask("ping")
    client.ask("ping")
    for other in bridged():
        other.ask("ping")
    one, same, another = (sent.headers["ctxhub-made-up-session"] for sent in hub.got)
    assert one == same != another
    assert re.fullmatch("mcp-[0-9a-f]{8}", one)


def test_an_answer_of_many_lines_becomes_one(client: Ends, hub: ScriptedHub) -> None:
    hub.acts = [
        lambda r: r.send(json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"a": "b"}}, indent=1).encode())
    ]
    assert client.ask("ping")["result"] == {"a": "b"}


@pytest.mark.parametrize("separator", ["\x85", "\u2028", "\u2029"], ids=ascii)
def test_no_answer_has_a_separator_of_lines_inside(client: Ends, hub: ScriptedHub, separator: str) -> None:
    hub.acts = [lambda request: request.answer(text=f"a{separator}b 年")]
    client.send("ping")
    line = client.from_bridge.readline().decode()
    assert separator not in line
    assert json.loads(line)["result"]["text"] == f"a{separator}b 年"


def test_the_version_of_the_handshake_is_named_from_then_on(client: Ends, hub: ScriptedHub) -> None:
    hub.acts = [lambda request: request.answer(protocolVersion="2025-06-18")]
    client.ask("initialize", {"protocolVersion": "2025-11-25"})
    client.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    client.ask("tools/list")
    assert [sent.headers.get("mcp-protocol-version") for sent in hub.got] == [None, "2025-06-18"]
    hub.end()
    hub.begin()
    client.ask("tools/list")
    assert hub.got[-1].headers["mcp-protocol-version"] == "2025-06-18", "also by a hub that has restarted"


def test_the_later_era_has_its_headers(client: Ends, hub: ScriptedHub) -> None:
    client.ask("tools/call", {"name": "décision", "_meta": LATER})
    client.ask("tools/call", {"name": "get", "_meta": LATER})
    client.ask("tools/list", {"_meta": LATER})
    names = ("mcp-protocol-version", "mcp-method", "mcp-name")
    assert [[sent.headers.get(name) for name in names] for sent in hub.got] == [
        ["2026-07-28", "tools/call", "=?base64?ZMOpY2lzaW9u?="],
        ["2026-07-28", "tools/call", "get"],
        ["2026-07-28", "tools/list", None],
    ]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"CLAUDE_CODE_SESSION_ID": "1a2b", "CTXHUB_AGENT": "ada"}, ("claude-1a2b", "ada")),
        ({"CLAUDE_CODE_SESSION_ID": "1a2b", "CTXHUB_SESSION": "mine"}, ("mine", None)),
        ({"CTXHUB_SESSION": "窗口", "CTXHUB_AGENT": "艾达"}, ("窗口", "艾达")),
    ],
)
def test_the_window_and_the_agent_are_named(
    hub: ScriptedHub,
    monkeypatch: pytest.MonkeyPatch,
    client: Ends,
    variables: dict[str, str],
    expected: tuple[str, str | None],
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for named in bridged():
        named.ask("ping")
    sent = (hub.got[-1].headers.get(name) for name in ("ctxhub-session", "ctxhub-agent"))
    assert tuple(text and text.encode("latin-1").decode() for text in sent) == expected
    assert "ctxhub-made-up-session" not in hub.got[-1].headers


@pytest.mark.parametrize(
    ("thread", "expected"),
    [("01a2", "codex-01a2"), ("01b3", "codex-01a2/01b3"), (None, "codex-01a2")],
    ids=["of the window", "of a subagent", "untold"],
)
def test_a_call_that_names_its_session_is_of_that_one(
    client: Ends, hub: ScriptedHub, thread: str | None, expected: str
) -> None:
    """As Codex does, whose subagents have servers of their own beside that of the window."""
    turn = {"session_id": "01a2", "thread_id": thread}
    client.ask("tools/call", {**CALL, "_meta": {"x-codex-turn-metadata": turn}})
    client.ask("tools/call", {**CALL, "_meta": {"x-codex-turn-metadata": "01a2"}})
    assert [sent.headers.get("ctxhub-session") for sent in hub.got] == [expected, None]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("claude-code", "claude"),
        ("codex-mcp-client", "codex"),
        ("cursor-vscode", "cursor"),
        ("Visual Studio Code", "vscode"),
        ("opencode", "opencode"),
        ("An agent of mine!", "an-agent-of-mine"),
    ],
)
def test_the_client_is_named_as_its_hooks_name_it(
    client: Ends, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch, said: str, expected: str
) -> None:
    info = {"name": said, "version": "1"}
    client.ask("initialize", {"protocolVersion": "2025-11-25", "clientInfo": info})
    client.ask("tools/list")
    client.ask("tools/list", {"_meta": {**LATER, "io.modelcontextprotocol/clientInfo": {"name": "other"}}})
    monkeypatch.setenv("CTXHUB_AGENT", "ada")
    client.ask("tools/list")
    assert [sent.headers.get("ctxhub-client") for sent in hub.got] == [expected, expected, "other", None]


@pytest.mark.parametrize(
    ("head", "folder", "expected"),
    [
        ("ref: refs/heads/größer", "a b", ("größer", "a b")),
        ("0123456789abcdef", "窗口", ("0123456789ab", "窗口")),
        ("ref: refs/heads/" + "x" * 201, "a", (None, "a")),
        ("", "a", (None, "a")),
        ("ref: refs/heads/main", "a\nMcp-Name: b", ("main", None)),
        ("ref: refs/heads/main", os.fsdecode(b"a\xff"), ("main", None)),
    ],
)
def test_a_call_tells_where_the_client_works(
    client: Ends,
    hub: ScriptedHub,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    head: str,
    folder: str,
    expected: tuple[str | None, str | None],
) -> None:
    top = tmp_path / folder
    (top / ".git").mkdir(parents=True)
    (top / ".git" / "HEAD").write_text(head + "\n")
    monkeypatch.chdir(top)
    client.ask("tools/list")
    client.ask("tools/call", CALL)
    listed, called = hub.got
    assert not {"ctxhub-branch", "ctxhub-worktree"} & {*listed.headers}
    branch, worktree = (
        text and text.encode("latin-1").decode()
        for text in (called.headers.get("ctxhub-branch"), called.headers.get("ctxhub-worktree"))
    )
    assert (branch, worktree) == (expected[0], expected[1] and str(tmp_path / expected[1]))


def test_a_repository_that_is_made_or_removed_meanwhile_is_noticed(
    client: Ends, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    head = tmp_path / ".git" / "HEAD"
    client.ask("tools/call", CALL)
    head.parent.mkdir()
    for text in ("ref: refs/heads/one", "ref: refs/heads/two"):
        head.write_text(text)
        client.ask("tools/call", CALL)
    head.unlink()
    client.ask("tools/call", CALL)
    assert [sent.headers.get("ctxhub-branch") for sent in hub.got] == [None, "one", "two", None]


def test_a_stream_is_passed_on_message_by_message(client: Ends, hub: ScriptedHub) -> None:
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
    sends_rest = threading.Event()

    def streams(request: Request) -> str:
        request.line.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\n\n")
        request.line.sendall(f"event: message\ndata: {json.dumps(progress)}\n\n".encode())
        sends_rest.wait(PATIENCE_SECONDS)
        lines = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}}, indent=1).split("\n")
        request.line.sendall("".join(f"data: {line}\n" for line in lines).encode() + b"\n")
        return CLOSES

    hub.acts = [streams]
    client.send("tools/call", CALL)
    assert client.read() == progress
    sends_rest.set()
    assert client.read() == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_a_stream_that_breaks_off_is_told(client: Ends, hub: ScriptedHub) -> None:
    def breaks_off(request: Request) -> str:
        request.line.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {}\n\n")
        return CLOSES

    hub.acts = [breaks_off]
    assert "It may have been done" in client.call()


# -- Several at once -------------------------------------------------------------------------------


def test_a_call_that_waits_blocks_no_other(client: Ends, hub: ScriptedHub) -> None:
    goes_on = threading.Event()

    def waits(request: Request) -> None:
        goes_on.wait(PATIENCE_SECONDS)
        answers(request)

    hub.acts = [waits]
    waiting = client.send("tools/call", CALL)
    wait_until(lambda: len(hub.got) == 1)
    assert client.ask("ping")["result"] == {"said": "ping"}
    goes_on.set()
    assert client.read()["id"] == waiting


def test_at_most_eight_are_at_the_hub_at_once(client: Ends, hub: ScriptedHub) -> None:
    goes_on = threading.Event()

    def waits(request: Request) -> None:
        goes_on.wait(PATIENCE_SECONDS)
        answers(request)

    hub.acts = [waits] * 12
    sent = {client.send("tools/call", CALL) for _ in range(12)}
    wait_until(lambda: len(hub.got) == run.MOST_AT_ONCE)
    assert hub.connections == run.MOST_AT_ONCE
    goes_on.set()
    assert {client.read()["id"] for _ in sent} == sent
    assert hub.connections == run.MOST_AT_ONCE


def test_what_is_cancelled_is_not_answered_and_its_connection_closed(client: Ends, hub: ScriptedHub) -> None:
    is_closed = threading.Event()

    def waits(request: Request) -> str:
        assert request.line.recv(1) == b""
        is_closed.set()
        return CLOSES

    hub.acts = [waits]
    waiting = client.send("tools/call", CALL)
    wait_until(lambda: len(hub.got) == 1)
    cancel = {"method": "notifications/cancelled", "params": {"requestId": waiting}}
    client.write(json.dumps({"jsonrpc": "2.0", **cancel}).encode())
    assert is_closed.wait(PATIENCE_SECONDS)
    assert client.ask("ping")["result"] == {"said": "ping"}


def test_what_was_asked_is_answered_after_the_end_of_input(client: Ends, hub: ScriptedHub) -> None:
    for _ in range(3):
        client.send("ping")
    os.close(client.to_bridge)
    assert {client.read()["id"] for _ in range(3)} == {1, 2, 3}
    client.thread.join(PATIENCE_SECONDS)
    client.to_bridge = os.open(os.devnull, os.O_WRONLY)  # For the fixture to close.


# -- Hubs that are away or break off ---------------------------------------------------------------


def test_a_connection_is_kept_and_one_that_the_hub_has_closed_is_not_used(
    client: Ends, hub: ScriptedHub
) -> None:
    client.ask("ping")
    hub.acts = [answers_and_closes]
    client.ask("ping")
    assert hub.connections == 1
    wait_until(lambda: hub.closed == 1)
    client.ask("tools/call", CALL)
    assert (hub.connections, len(hub.got)) == (2, 3)


def test_an_old_connection_is_not_used(
    client: Ends, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.ask("ping")
    monkeypatch.setattr(connections, "KEPT_SECONDS", 0)
    client.ask("ping")
    assert hub.connections == 2


def test_a_hub_that_restarts_is_waited_for(
    client: Ends, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "PATIENCE_SECONDS", PATIENCE_SECONDS)
    client.ask("ping")
    hub.end()
    sent = client.send("tools/call", CALL)
    hub.begin()
    assert client.read() == {"jsonrpc": "2.0", "id": sent, "result": {"said": "tools/call"}}
    assert [request.message["method"] for request in hub.got] == ["ping", "tools/call"]


def test_a_subagents_call_is_its_own_also_when_it_is_sent_again(client: Ends, hub: ScriptedHub) -> None:
    name_subagent("toolu_1", "reviewer-7")
    hub.acts = [closes]
    client.ask("tools/call", {**CALL, "_meta": {"claudecode/toolUseId": "toolu_1", "ctxhub/request_id": "a"}})
    names = [sent.headers["ctxhub-made-up-session"].partition("/")[2] for sent in hub.got]
    assert names == ["reviewer-7", "reviewer-7"]


def test_a_hub_that_is_away_is_told_and_asked_again(client: Ends, hub: ScriptedHub) -> None:
    hub.end()
    assert "nothing was done" in client.call()
    error = client.ask("tools/list")["error"]
    assert (error["code"], "cannot be reached" in error["message"]) == (-32000, True)
    hub.begin()
    assert client.ask("tools/list")["result"] == {"said": "tools/list"}


def test_while_it_is_away_no_further_call_waits_for_it(
    client: Ends, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.end()
    client.call()
    monkeypatch.setattr(run, "PATIENCE_SECONDS", 1_000_000)
    assert "nothing was done" in client.call()


def test_a_call_that_may_have_been_done_is_not_repeated(client: Ends, hub: ScriptedHub) -> None:
    hub.acts = [closes]
    told = client.call()
    assert "It may have been done: look before you repeat it." in told
    assert len(hub.got) == 1


@pytest.mark.parametrize("head", ["Content-Length: 1000", "Transfer-Encoding: chunked"])
def test_an_answer_that_breaks_off_may_have_been_done(client: Ends, hub: ScriptedHub, head: str) -> None:
    def breaks_off(request: Request) -> str:
        kind = "Content-Type: application/json"
        request.line.sendall(f"HTTP/1.1 200 OK\r\n{kind}\r\n{head}\r\n\r\n3e8\r\n{{".encode())
        return CLOSES

    hub.acts = [breaks_off]
    assert "It may have been done: look before you repeat it." in client.call()
    assert client.ask("ping")["result"] == {"said": "ping"}


def test_an_answer_may_be_long_but_not_endless(
    client: Ends, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "x" * 300_000
    hub.acts = [lambda request: request.answer(text=long)] * 2
    assert client.ask("ping")["result"] == {"text": long}
    monkeypatch.setattr(connections, "MOST_ANSWER_BYTES", 200_000)
    assert "It may have been done" in client.call()


def test_what_does_the_same_twice_is_repeated_once(client: Ends, hub: ScriptedHub) -> None:
    hub.acts = [closes]
    assert client.ask("tools/list")["result"] == {"said": "tools/list"}
    hub.acts = [closes]
    marked = client.ask("tools/call", {**CALL, "_meta": {"ctxhub/request_id": "a"}})
    assert marked["result"] == {"said": "tools/call"}
    hub.acts = [closes, closes]
    assert "Try again" in client.ask("tools/list")["error"]["message"]
    assert len(hub.got) == 6


def test_what_cannot_be_sent_again_may_have_been_done(client: Ends, hub: ScriptedHub) -> None:
    def closes_for_good(_: Request) -> str:
        hub.end()
        return CLOSES

    hub.acts = [closes_for_good]
    assert "It may have been done" in client.call(**{"ctxhub/request_id": "a"})
    assert "nothing was done" in client.call(**{"ctxhub/request_id": "a"})


def test_a_hub_that_hangs_is_given_up(
    client: Ends, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "SILENCE_SECONDS", 0.2)
    ends = threading.Event()
    hub.acts = [lambda _: (ends.wait(PATIENCE_SECONDS) and CLOSES) or CLOSES]
    assert "It may have been done" in client.call()
    ends.set()


# -- What is no hub --------------------------------------------------------------------------------


def test_a_refused_token_is_told_as_the_hub_says_it(client: Ends, hub: ScriptedHub) -> None:
    error = {"code": -32600, "message": "The token is unknown. Ask for a new one."}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    hub.acts = [lambda request: request.send(body, status="401 Unauthorized")] * 2
    assert client.call() == error["message"]
    assert client.ask("tools/list")["error"]["message"] == error["message"]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("502 Bad Gateway", "look before you repeat it"),
        ("404 Not Found", "CTXHUB_URL has to be the address of a ctxhub server"),
        ("200 OK", "no MCP message"),
    ],
)
def test_what_is_no_hub_is_told(client: Ends, hub: ScriptedHub, status: str, expected: str) -> None:
    hub.acts = [lambda request: request.send(b"<html>", status=status, media_type="text/html")]
    told = client.call()
    assert expected in told
    assert "<html>" not in told


def test_without_a_token_every_request_is_told_what_to_do(
    client: Ends, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CTXHUB_TOKEN")
    for unconfigured in bridged():
        assert "CTXHUB_TOKEN is not set" in unconfigured.ask("initialize")["error"]["message"]
    monkeypatch.setenv("CTXHUB_TOKEN", "x")
    monkeypatch.setenv("CTXHUB_URL", "hub.example.com")
    for unconfigured in bridged():
        assert "https://hub.example.com" in unconfigured.call()
    assert hub.got == []


@pytest.mark.parametrize("line", [b"{", b"\xff", b"[" * 100_000], ids=["open", "no text", "deep"])
def test_what_is_no_json_is_refused_here(client: Ends, hub: ScriptedHub, line: bytes) -> None:
    client.write(line)
    assert (client.read()["error"]["code"], hub.got) == (-32700, [])


# -- Proxies ---------------------------------------------------------------------------------------


def test_a_hub_elsewhere_is_reached_through_the_proxy(
    client: Ends, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://ada:pass%20word@127.0.0.1:{hub.port}")
    monkeypatch.setenv("CTXHUB_URL", "http://hub.example.com/below/mcp")
    for proxied in bridged():
        proxied.ask("ping")
    [sent] = hub.got
    assert sent.target == "http://hub.example.com:80/below/mcp"
    assert sent.headers["proxy-authorization"] == "Basic YWRhOnBhc3Mgd29yZA=="
    monkeypatch.setenv("no_proxy", "hub.example.com")
    assert connections.Connections("http://hub.example.com").proxy is None


def test_a_hub_on_this_machine_is_reached_directly(
    client: Ends, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.example.com:3128")
    for direct in bridged():
        assert direct.ask("ping")["result"] == {"said": "ping"}
