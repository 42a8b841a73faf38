"""Whatever happens, a hook ends in time with exit code 0 and writes nothing."""

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integrations.forked_hook import fork_hook, forked_event
from tests.integrations.hook import AS_SHIPPED, EVENTS, QUICKLY_TIRED, TOKEN, Run, Workplace, is_silent
from tests.integrations.stub_hub import BAD, Handler, StubHub, dripping, refusing, serving, silent
from tests.timing import PATIENCE_SECONDS

TOGETHER = 4


def run_all(workplace: Workplace, events: list[str] = EVENTS) -> dict[str, Run]:
    """Each event once, some at a time."""
    runs: dict[str, Run] = {}
    for first in range(0, len(events), TOGETHER):
        now = events[first : first + TOGETHER]
        started = {event: fork_hook(workplace, workplace.input(event)) for event in now}
        runs |= {event: run.finished() for event, run in started.items()}
    return runs


def assert_silent(runs: dict[str, Run]) -> None:
    assert {event: run for event, run in runs.items() if not is_silent(run)} == {}


def test_a_forked_hook_answers_as_a_started_one(at_stub: Workplace) -> None:
    started = at_stub.event("session_start_startup", session_id="1")
    forked = forked_event(at_stub, "session_start_startup", session_id="2")
    assert started.context
    assert forked == started


@pytest.mark.parametrize("behaviour", BAD.values(), ids=BAD)
def test_a_server_that_answers_badly_is_not_heard(
    workplace: Workplace, behaviour: Callable[[Handler], None]
) -> None:
    workplace.limits = AS_SHIPPED
    with serving(behaviour) as hub:
        workplace.variables["CTXHUB_URL"] = hub.url
        assert_silent(run_all(workplace))
        assert hub.sent


@pytest.mark.parametrize("behaviour", [silent, dripping])
def test_a_server_that_does_not_end_is_not_waited_for(
    workplace: Workplace, behaviour: Callable[[Handler], None]
) -> None:
    workplace.limits = AS_SHIPPED
    with serving(behaviour) as hub:
        workplace.variables["CTXHUB_URL"] = hub.url
        assert_silent(
            run_all(workplace, ["session_start_startup", "pre_tool_use_edit", "session_end", "stop"])
        )


def test_a_silent_server_is_not_asked_again_at_once(workplace: Workplace) -> None:
    workplace.limits = QUICKLY_TIRED
    with serving(silent) as hub:
        workplace.variables["CTXHUB_URL"] = hub.url
        workplace.event("pre_tool_use_edit")
        run = workplace.event("pre_tool_use_edit")
        assert is_silent(run)
        assert len(hub.sent) == 1
        workplace.event("session_start_startup")
        assert len(hub.sent) == 2


def test_a_server_that_is_down_says_nothing(workplace: Workplace) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        workplace.variables["CTXHUB_URL"] = f"http://127.0.0.1:{closed.getsockname()[1]}"
        assert_silent(run_all(workplace))


def test_the_token_is_not_sent_where_a_redirect_leads(workplace: Workplace) -> None:
    with serving() as elsewhere, serving(refusing(307, Location=f"{elsewhere.url}/api/v1/me/")) as hub:
        workplace.variables["CTXHUB_URL"] = hub.url
        assert_silent(run_all(workplace))
        assert hub.sent
        assert elsewhere.sent == []


@pytest.mark.parametrize("url", ["http://\x01", "http://127.0.0.1:0"])
def test_an_address_where_nobody_answers_says_nothing(workplace: Workplace, url: str) -> None:
    workplace.variables["CTXHUB_URL"] = url
    assert is_silent(workplace.event("session_start_startup"))


@pytest.mark.parametrize(
    ("url", "given", "named"),
    [
        ("hub.example.com", "hub.example.com", "hub.example.com"),
        ("localhost:8000", "localhost:8000", "localhost:8000"),
        ("127.0.0.1:8000/mcp", "127.0.0.1:8000/mcp", "127.0.0.1:8000/mcp"),
        ("ftp://hub.example.com/", "ftp://hub.example.com/", "hub.example.com/"),
        ("//hub.example.com", "//hub.example.com", "hub.example.com"),
        ("http://", "http://", "hub.example.com"),
        ("http://a:b/", "http://a:b/", "hub.example.com"),
        ("http:/hub.example.com", "http:/hub.example.com", "hub.example.com"),
        ("ada:secret@hub.example.com", "hub.example.com", "hub.example.com"),
    ],
)
def test_an_address_that_is_none_is_told_when_a_session_starts(
    workplace: Workplace, url: str, given: str, named: str
) -> None:
    workplace.variables["CTXHUB_URL"] = url
    run = workplace.event("session_start_startup")
    assert (run.code, run.err) == (0, "")
    told = run.answer["hookSpecificOutput"]["additionalContext"].splitlines()[0]
    assert told.startswith(
        f"ctxhub: CTXHUB_URL is {given!r}, which is no address: write http://{named} or https://{named}."
    )
    assert run.answer["systemMessage"] == told
    assert is_silent(workplace.event("pre_tool_use_edit"))


@pytest.mark.parametrize("token", ["", "  ", "${CTXHUB_TOKEN}"])
@pytest.mark.parametrize("url", ["", "localhost:8000"])
def test_that_no_token_is_set_is_told_once_a_day(workplace: Workplace, url: str, token: str) -> None:
    workplace.variables |= {"CTXHUB_URL": url, "CTXHUB_TOKEN": token}
    run = workplace.event("session_start_startup")
    assert run.context.startswith("ctxhub: CTXHUB_TOKEN is not set, so the hub is not asked.")
    assert run.answer["systemMessage"] == run.context
    assert is_silent(workplace.event("session_start_startup"))
    noted = workplace.folder / "cache" / "ctxhub-hooks" / "daily.json"
    noted.write_text(json.dumps({"unset": json.loads(noted.read_text())["unset"] - 86_401}))
    assert workplace.event("session_start_startup") == run
    assert is_silent(workplace.event("pre_tool_use_edit"))


@pytest.mark.parametrize("token", ["with\nline", "two words", "ünïcode €"])
def test_what_can_be_no_token_is_told(at_stub: Workplace, stub: StubHub, token: str) -> None:
    at_stub.variables["CTXHUB_TOKEN"] = token
    assert at_stub.event("session_start_startup").context.startswith("ctxhub: CTXHUB_TOKEN is no token: ")
    assert is_silent(at_stub.event("pre_tool_use_edit"))
    assert stub.sent == []


HOSTILE: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"{",
    "null": b"null",
    "a list": b'[{"hook_event_name": "SessionStart"}]',
    "a text": b'"SessionStart"',
    "deep": b"[" * 200_000,
    "deep objects": b'{"a":' * 200_000,
    "a long number": b'{"hook_event_name": "Stop", "n": ' + b"9" * 2_000_000 + b"}",
    "not UTF-8": b'{"hook_event_name": "\xff\xfe", "cwd": "\xc3\x28"}',
    "no event": b'{"session_id": "1"}',
    "an unknown event": b'{"hook_event_name": "Imagined"}',
    "a method of ours": b'{"hook_event_name": "__init__"}',
}
LARGE: dict[str, Callable[[], bytes]] = {
    "50 MB": lambda: b'{"hook_event_name": "SessionStart", "filling": "' + b"a" * 50_000_000 + b'"}',
    "50 MB of numbers": lambda: b"[" + b"1," * 25_000_000 + b"1]",
}


@pytest.mark.parametrize("stdin", HOSTILE.values(), ids=HOSTILE)
def test_input_of_another_form_is_not_answered(at_stub: Workplace, stdin: bytes) -> None:
    is_not_answered(at_stub, stdin)


@pytest.mark.parametrize("stdin", LARGE.values(), ids=LARGE)
def test_input_of_any_length_is_not_answered(at_stub: Workplace, stdin: Callable[[], bytes]) -> None:
    is_not_answered(at_stub, stdin())


def is_not_answered(at_stub: Workplace, stdin: bytes) -> None:
    assert is_silent(at_stub.run("hook", stdin=stdin))


WRONG: list[Any] = [
    None,
    7,
    True,
    [],
    ["a"],
    {"a": 1},
    "",
    "\0",
    "\ud800",
    "a" * 100_000,
    "../../etc",
    "/dev/zero",
]


@pytest.mark.parametrize("value", WRONG, ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize("field", ["cwd", "session_id", "transcript_path", "tool_input", "tool_name"])
def test_fields_of_another_form_do_no_harm(at_stub: Workplace, field: str, value: Any) -> None:
    others = () if field.startswith("tool_") else ("session_end",)
    for event in ("pre_tool_use_edit", "post_tool_use_write", *others):
        run = forked_event(at_stub, event, **{field: value})
        assert is_silent(run), event


def test_input_that_does_not_end_is_not_waited_for(at_stub: Workplace) -> None:
    at_stub.limits = AS_SHIPPED
    started = at_stub.start("hook")
    assert started.process.stdin
    started.process.stdin.write(b'{"hook_event_name": ')
    started.process.stdin.flush()
    assert started.process.wait(PATIENCE_SECONDS) == 0
    assert started.process.communicate() == (b"", b"")


@pytest.mark.parametrize("ending", [b"", b"\n", b"\r\n", b'\n{"hook_event_name": "Stop"}'])
def test_input_that_is_whole_is_answered_though_its_pipe_stays_open(
    at_stub: Workplace, stub: StubHub, ending: bytes
) -> None:
    started = at_stub.start("hook")
    assert started.process.stdin
    started.process.stdin.write(at_stub.input("session_end", reason="clear") + ending)
    started.process.stdin.flush()
    assert started.process.wait(PATIENCE_SECONDS) == 0
    assert stub.one("sessions/").body["conversation"]


def test_input_in_parts_that_end_like_a_whole_one_is_read_on(at_stub: Workplace, stub: StubHub) -> None:
    values = json.loads(at_stub.input("pre_tool_use_write"))
    values["tool_input"]["content"] = "{}}" * 50_000
    started = at_stub.start("hook")
    data = json.dumps(values).encode()
    assert started.process.stdin
    for first in range(0, len(data), 29_998):
        started.process.stdin.write(data[first : first + 29_998])
        started.process.stdin.flush()
    assert started.process.wait(PATIENCE_SECONDS) == 0
    assert stub.one("check/").body["paths"] == ["src/app.py"]


def test_output_that_nobody_reads_does_no_harm(at_stub: Workplace) -> None:
    started = at_stub.start("hook")
    assert started.process.stdout
    started.process.stdout.close()
    started.process.stdout = None
    assert finished_code(started.process, at_stub.input("session_start_startup")) == (0, b"")


def finished_code(process: Any, stdin: bytes) -> tuple[int, bytes]:
    _, err = process.communicate(stdin, timeout=PATIENCE_SECONDS)
    return process.returncode, err


def test_a_cache_that_cannot_be_written_does_no_harm(at_stub: Workplace) -> None:
    (at_stub.folder / "cache").write_text("a file where a folder should be")
    assert at_stub.event("session_start_startup").context
    assert is_silent(at_stub.event("pre_tool_use_edit"))


def test_a_cache_of_another_form_does_no_harm(at_stub: Workplace) -> None:
    at_stub.event("session_start_startup")
    files = list((at_stub.folder / "cache" / "ctxhub-hooks").iterdir())
    assert files
    for text in ('{"project": 7, "at": "x", "silent_at": [], "mail": 3}', "[", '{"at": 1e999}'):
        for file in files:
            file.write_text(text)
        assert at_stub.event("session_start_startup").context


def test_a_folder_that_is_gone_does_no_harm(at_stub: Workplace) -> None:
    gone = str(at_stub.folder / "gone")
    assert is_silent(at_stub.event("pre_tool_use_edit", cwd=gone, tool_input={"file_path": f"{gone}/a"}))


def test_the_log_tells_what_happened_without_the_token(at_stub: Workplace, tmp_path: Path) -> None:
    log = tmp_path / "log"
    at_stub.variables |= {"CTXHUB_DEBUG": str(log), "CTXHUB_AGENT": f"agent {TOKEN}"}
    at_stub.event("session_start_startup", session_id=TOKEN)
    assert "GET /api/v1/projects/apollo/brief/" in log.read_text()
    assert TOKEN not in log.read_text()
    assert log.stat().st_mode & 0o077 == 0


def test_the_flag_of_the_hub_is_no_file(at_stub: Workplace) -> None:
    """A shell may have `CTXHUB_DEBUG=true` for a server that is being worked on."""
    at_stub.variables["CTXHUB_DEBUG"] = "true"
    assert at_stub.event("session_start_startup").context
    assert not list(at_stub.folder.rglob("true"))


def test_a_log_that_cannot_be_written_does_no_harm(at_stub: Workplace) -> None:
    at_stub.variables["CTXHUB_DEBUG"] = str(at_stub.folder)
    assert at_stub.event("session_start_startup").context


def test_the_cache_holds_no_token(at_stub: Workplace) -> None:
    at_stub.event("session_start_startup")
    at_stub.event("stop")
    files = [file.read_text() for file in (at_stub.folder / "cache").rglob("*") if file.is_file()]
    assert "apollo" in {json.loads(text).get("project") for text in files}
    assert all(TOKEN not in text for text in files)


def test_the_program_runs_without_a_byte_of_stderr_when_help_is_asked(workplace: Workplace) -> None:
    run = workplace.run("--help")
    assert (run.code, run.err) == (0, "")
    assert "CTXHUB_URL" in run.out
