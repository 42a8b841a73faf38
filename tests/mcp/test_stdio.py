"""`runmcp` over stdio: only protocol messages on stdout, whatever is sent and whatever code prints."""

import json
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from ctxhub.mcp.json_rpc import find_request_id
from ctxhub.mcp.lines import LINE_BYTES, one_line
from memory.decisions.services import set_decision
from memory.models import Decision
from tests.stdio import LEGACY, StdioClient, command, environment, stdio_hub
from tests.timing import PATIENCE_SECONDS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_engine]


def message(request_id: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def call(request_id: int, tool: str, **arguments: Any) -> dict[str, Any]:
    return message(request_id, "tools/call", name=tool, arguments=arguments)


def test_the_server_ends_with_its_client(apollo: Project) -> None:
    with stdio_hub("--project", "apollo", "--agent", "ada") as client:
        assert client.start()["serverInfo"]["name"] == "ctxhub"
        client.call("decision", "set", key="k", value="x")
        assert client.call("decision", "get", key="k")["decision"]["agent"] == "ada"
        assert client.finish() == (b"", b"", 0)


def test_invalid_lines_get_an_error_and_do_not_end_the_server(apollo: Project) -> None:
    with stdio_hub("--project", "apollo") as client:
        client.start()
        for line, request_id, code in (
            (b"{nope", None, -32700),
            (b"\xff\xfe", None, -32700),
            (b"[]", None, -32600),
            (b'{"jsonrpc":"2.0","id":7}', 7, -32600),
            (b'{"jsonrpc":"2.0","id":"a","method":"ping","params":{"x":"\\ud800"}}', "a", -32700),
        ):
            client.write(line)
            answer = client.read()
            assert (answer["id"], answer["error"]["code"]) == (request_id, code)
        for line in (b"", b"   "):
            client.write(line)
        assert client.request("ping")["result"] == {}


def test_a_value_of_5_mb_is_refused_and_does_not_end_the_server(apollo: Project) -> None:
    with stdio_hub("--project", "apollo") as client:
        client.start()
        assert client.call("decision", "set", key="k", value="x" * 5 * 1024 * 1024)["error"] == "invalid"
        assert client.call("decision", "set", key="k", value="é" * 32 * 1024)["result"] == "created"
        shown = client.call("decision", "get", key="k")["decision"]["value"]
        assert set(shown) <= {"é"}


def test_an_invalid_cancellation_does_not_end_the_server(apollo: Project) -> None:
    with stdio_hub("--project", "apollo") as client:
        client.start()
        for method in ("notifications/cancelled", "notifications/progress"):
            for cancelled in ([1], {"a": 1}, True, None):
                notification = {"jsonrpc": "2.0", "method": method, "params": {"requestId": cancelled}}
                client.write(json.dumps(notification).encode())
        assert client.request("ping")["result"] == {}


TOO_LONG = b"x" * (LINE_BYTES + 10)


def test_a_line_over_64_mib_is_refused_and_does_not_end_the_server(apollo: Project) -> None:
    with stdio_hub("--project", "apollo") as client:
        client.start()
        for line, request_id in ((TOO_LONG, None), (b'{"jsonrpc":"2.0","id":7,"method":"' + TOO_LONG, 7)):
            client.write(line)
            answer = client.read()
            assert (answer["id"], answer["error"]["code"]) == (request_id, -32700)
        assert client.request("ping")["result"] == {}


def test_a_line_over_64_mib_of_a_file_does_not_end_the_server(apollo: Project, tmp_path: Any) -> None:
    calls = tmp_path / "calls.jsonl"
    calls.write_bytes(TOO_LONG + b"\n" + json.dumps(message(1, "initialize", **LEGACY)).encode() + b"\n")
    with calls.open() as stdin, stdio_hub("--project", "apollo", stdin=stdin) as client:
        assert [client.read()["id"], client.read()["id"]] == [None, 1]


DIGITS, DEEP = b"9" * 5_000, b"[" * 100_000 + b"]" * 100_000


@pytest.mark.parametrize("value", [DIGITS, DEEP], ids=["digits", "deep"])
@pytest.mark.parametrize(
    ("line", "request_id"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":%s}}', 7),
        (b'{"id": "a", "params":{"x":%s}}', "a"),
        (b'{"method":"ping","params":{"x":%s},"jsonrpc":"2.0","id":8}\n', 8),
        (b'{"jsonrpc":"2.0","method":"ping","params":{"id":9,"x":%s}}', None),
        (b'{"jsonrpc":"2.0","params":{"x":%s,"y":{"z":1},"id":9}}', None),
    ],
)
def test_the_error_of_an_unreadable_line_has_its_id(line: bytes, request_id: Any, value: bytes) -> None:
    assert find_request_id(line % value) == request_id


A_TOOL_THAT_PRINTS = """
import os
os.environ |= {"DJANGO_SETTINGS_MODULE": "ctxhub.settings", "CTXHUB_WEB": "false"}
import django
django.setup()
from ctxhub.core.kit.caller import Caller
from ctxhub.toolbox.actions import action, tool

tool("noise", "Prints.", otherwise=[(set(), "make")])

@action("noise", "make")
def make(caller: Caller) -> dict:
    print("printed", flush=True)
    os.write(1, b"written\\n")
    os.system("echo shelled; cat")
    return {"made": input() if os.isatty(0) else True}
"""


def test_only_protocol_messages_reach_stdout_when_code_prints(apollo: Project) -> None:
    with stdio_hub("--project", "apollo", code=[A_TOOL_THAT_PRINTS]) as client:
        client.start()
        for _ in range(3):
            assert client.call("noise") == {"made": True}
        out, err, _ = client.finish()
    assert out == b""
    assert [err.count(what) for what in (b"printed", b"written", b"shelled")] == [3, 3, 3]


def test_piped_calls_are_answered_before_the_server_ends(apollo: Project) -> None:
    calls = [
        message(1, "initialize", **LEGACY),
        call(2, "decision", action="set", key="k", value="x"),
        call(3, "hub", action="stats"),
    ]
    done = subprocess.run(
        command("--project", "apollo"),
        input=b"\n".join(json.dumps(c).encode() for c in calls),
        env=environment(),
        capture_output=True,
        timeout=PATIENCE_SECONDS,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(answer["id"] for answer in answers) == [1, 2, 3]
    assert all("result" in answer for answer in answers)
    assert Decision.objects.in_project(apollo).filter(key="k").exists()


def test_calls_from_a_file_are_answered(apollo: Project, tmp_path: Any) -> None:
    calls = tmp_path / "calls.jsonl"
    calls.write_text(
        "\n".join(json.dumps(c) for c in [message(1, "initialize", **LEGACY), message(2, "ping")]) + "\n"
    )
    with calls.open() as stdin, stdio_hub("--project", "apollo", stdin=stdin) as client:
        assert {client.read()["id"], client.read()["id"]} == {1, 2}


def test_each_of_many_concurrent_calls_is_answered(apollo: Project) -> None:
    with stdio_hub("--project", "apollo") as client:
        client.start()
        for n in range(100, 150):
            client.write(json.dumps(call(n, "decision", action="set", key=f"k{n}", value=n)).encode())
        answers = [client.read() for _ in range(50)]
    assert sorted(answer["id"] for answer in answers) == list(range(100, 150))
    assert Decision.objects.in_project(apollo).count() == 50


def test_a_client_may_send_many_calls_before_it_reads(apollo: Project) -> None:
    """More than two pipes hold: calls are read while the answers wait for the client."""
    with stdio_hub("--project", "apollo") as client:
        client.start()
        sent = b"\n".join(json.dumps(message(n, "ping")).encode() for n in range(6_000))
        sending = threading.Thread(target=client.write, args=[sent], daemon=True)
        sending.start()
        sending.join(PATIENCE_SECONDS)
        assert not sending.is_alive()
        assert [client.read()["id"] for _ in range(6_000)] == list(range(6_000))


# -- Calls that wait -------------------------------------------------------------------------------

DJANGO = """
import os, sys, time
os.environ |= {"DJANGO_SETTINGS_MODULE": "ctxhub.settings", "CTXHUB_WEB": "false"}
import django
django.setup()
from ctxhub.mcp import stdio
"""
NO_PATIENCE = f"{DJANGO}stdio.SECONDS_TO_ANSWER = 0.5"
PATIENT = f"{DJANGO}stdio.SECONDS_TO_ANSWER = stdio.SECONDS_TO_FLUSH = {PATIENCE_SECONDS}"
# Says on stderr when it is at work, and ends when there is a file with the name that follows.
A_SLOW_TOOL = f"""{PATIENT}
from ctxhub.core.kit.caller import Caller
from ctxhub.toolbox.actions import action, tool
from ctxhub.mcp.waiting_calls import WaitingCalls

tool("slow", "Sleeps.", otherwise=[(set(), "sleep")])

@action("slow", "sleep")
def sleep(caller: Caller) -> dict:
    say("asleep")
    while not os.path.exists(ENDS):
        time.sleep(0.01)
    return {{"slept": True}}

def say(word: str) -> None:
    os.write(2, f"{{word}}\\n".encode())

def cancel(calls: WaitingCalls, request_id: object) -> None:
    cancel_call(calls, request_id)
    say("cancelled")

cancel_call, WaitingCalls.cancel = WaitingCalls.cancel, cancel
ENDS = """


def said(client: StdioClient) -> str:
    assert client.process.stderr
    return client.process.stderr.readline().decode().strip()


def wait(request_id: Any, seconds: int) -> bytes:
    return json.dumps(call(request_id, "hub", action="wait", since="e0", wait_seconds=seconds)).encode()


def cancel(request_id: Any) -> bytes:
    params = {"requestId": request_id}
    return json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).encode()


@pytest.mark.parametrize("named", [70, "70"])
def test_a_cancelled_call_is_not_answered(apollo: Project, ben: Caller, named: Any) -> None:
    with stdio_hub("--project", "apollo", "--agent", "ada") as client:
        client.start()
        client.write(wait(70, 60))
        client.write(wait(71, 60))
        client.write(cancel(named))
        assert client.request("ping")["result"] == {}
        set_decision(caller=ben, key="news", value="x")
        assert client.read()["id"] == 71
        assert client.request("ping")["result"] == {}


def test_a_cancellation_does_not_wait_for_the_call_at_work(
    apollo: Project, ben: Caller, tmp_path: Path
) -> None:
    ends = tmp_path / "ends"
    slow = f"{A_SLOW_TOOL}{str(ends)!r}"
    with stdio_hub("--project", "apollo", "--agent", "ada", code=[slow]) as client:
        client.start()
        client.write(wait(70, 60))
        client.write(json.dumps(call(71, "slow")).encode())
        client.write(cancel(70))
        assert {said(client), said(client)} == {"asleep", "cancelled"}
        set_decision(caller=ben, key="news", value="x")
        ends.touch()
        assert client.read()["id"] == 71
        assert client.request("ping")["result"] == {}


def test_a_waiting_call_is_answered_after_the_end_of_input(apollo: Project) -> None:
    with stdio_hub("--project", "apollo", "--agent", "ada", code=[PATIENT]) as client:
        client.start()
        client.write(wait(70, 1))
        out, err, code = client.finish()
    assert (json.loads(out)["id"], err, code) == (70, b"", 0)
    assert "result" in json.loads(out)


def test_a_call_that_waits_too_long_after_the_end_of_input_is_refused(apollo: Project) -> None:
    with stdio_hub("--project", "apollo", "--agent", "ada", code=[NO_PATIENCE]) as client:
        client.start()
        client.write(wait(70, 60))
        out, err, code = client.finish()
    assert json.loads(out)["error"] == {"code": -32000, "message": "Connection closed"}
    assert (err, code) == (b"", 0)


def test_the_call_at_work_is_answered_before_a_signal_ends_the_server(
    apollo: Project, tmp_path: Path
) -> None:
    ends = tmp_path / "ends"
    slow = f"{A_SLOW_TOOL}{str(ends)!r}"
    with stdio_hub("--project", "apollo", "--agent", "ada", code=[slow]) as client:
        client.start()
        client.write(json.dumps(call(70, "slow")).encode())
        assert said(client) == "asleep"
        client.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        ends.touch()
        assert "slept" in client.read()["result"]["content"][0]["text"]
        assert client.process.wait(PATIENCE_SECONDS) == -signal.SIGTERM


# -- Rights ----------------------------------------------------------------------------------------


def started(client: StdioClient) -> StdioClient:
    client.start()
    return client


def test_scopes_are_chosen_by_an_option(apollo: Project) -> None:
    with stdio_hub("--scopes", "read") as client:
        [*_, decision, _] = started(client).tools()
        assert decision["annotations"]["readOnlyHint"] is True
        assert "delete" not in decision["description"]
        assert client.call("decision", "set", key="k", value="x")["error"] == "not_allowed"
        assert client.call("decision", "list")["count"] == 0
    assert not Decision.objects.in_project(apollo).exists()


# -- Imported modules ------------------------------------------------------------------------------

SDK = ("mcp", "mcp_types", "anyio", "starlette", "httpx2", "uvicorn")
WEB = ("rest_framework", "unfold", "drf_spectacular", "django.contrib.admin", "django_filters")
PRINT_MODULES = """
import atexit, sys
atexit.register(lambda: sys.stderr.write("\\n".join(sorted(sys.modules))))
"""


# What no list of tools and no list of decisions needs.
SELDOM = (
    "Stemmer",
    "rapidfuzz",
    "re2",
    "psycopg",
    "ctxhub.importers",
    "ctxhub.urls",
    "ctxhub.mcp.offers",
    "prometheus_client",
    "opentelemetry",
    "ctxhub.metrics",
    "ctxhub.tracing",
    "ctxhub.mcp.serving",
)


def test_what_is_not_needed_is_not_imported(apollo: Project) -> None:
    with stdio_hub(code=[PRINT_MODULES], is_fork=False) as client:
        started(client).call("decision", "list")
        client.tools()
        _, err, _ = client.finish()
    imported = err.decode().split()
    assert "memory.decisions.tools" in imported
    assert [module for module in imported if module.startswith((*WEB, *SELDOM))] == []


def test_the_sdk_is_not_imported(apollo: Project) -> None:
    with stdio_hub(code=[PRINT_MODULES], is_fork=False) as client:
        started(client).call("decision", "set", key="k", value="x")
        client.tools()
        assert client.call("hub", "wait", wait_seconds=1)["cursor"]
        assert client.request("no/such")["error"]["code"] == -32601
        _, err, _ = client.finish()
    packages = {module.partition(".")[0] for module in err.decode().split()}
    assert "ctxhub" in packages
    assert packages.isdisjoint(SDK)


@pytest.mark.parametrize("separator", ["\u0085", "\u2028", "\u2029"], ids=ascii)
def test_an_answer_is_one_line_also_for_who_splits_at_the_separators_of_unicode(
    separator: str, apollo: Project
) -> None:
    """Some readers of lines do: Python's str.splitlines, for one. What a client parses is unchanged."""
    value = f"before{separator}after \\u2028 … 年"
    with stdio_hub("--project", "apollo", "--agent", "ada") as client:
        client.start()
        client.call("decision", "set", key="ls/1", value=value)
        get = call(7, "decision", action="get", key="ls/1")
        client.write(json.dumps(get).encode())
        line = client.read_line()
        client.write(json.dumps(call(8, "decision", action=value)).encode())
        refused = client.read_line()
    assert [line.decode()] == line.decode().splitlines()
    assert "… 年" in line.decode()
    assert json.loads(json.loads(line)["result"]["content"][0]["text"])["decision"]["value"] == value
    assert [refused.decode()] == refused.decode().splitlines()


@pytest.mark.parametrize("text", ["plain", "年…é \u2027\u202a\u0084\u0086", "\U0010ffff\xc2"])
def test_a_line_without_them_is_written_as_it_is(text: str) -> None:
    assert one_line(text.encode()) == f"{text}\n".encode()
