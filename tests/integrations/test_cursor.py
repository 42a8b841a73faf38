"""Cursor, which runs the hooks of Claude Code: its names of events and fields, answers as for Claude Code."""

import json
from typing import Any

import pytest

from tests.integrations.hook import Workplace, is_silent
from tests.integrations.stub_hub import LEASED, Answer, StubHub


def event(workplace: Workplace, name: str, **fields: Any) -> bytes:
    """An input in the form of Cursor 2026.08: a byte order mark, an empty cwd, the folder in a list."""
    values = {
        "conversation_id": "7f3a-1",
        "generation_id": "g1",
        "model": "a-model",
        "is_background_agent": False,
        "session_id": "7f3a-1",
        "hook_event_name": name,
        "cursor_version": "2026.08.11-e8db854",
        "workspace_roots": [str(workplace.repository)],
        "user_email": "ada@example.org",
        "transcript_path": None,
        "cwd": "",
    }
    return b"\xef\xbb\xbf" + json.dumps({**values, **fields}).encode()


def edit(workplace: Workplace, name: str, argument: str = "file_path") -> bytes:
    path = str(workplace.repository / "src" / "app.py")
    return event(workplace, name, tool_name="Write", tool_input={argument: path, "content": "a = 2"})


def test_a_session_starts_with_the_brief(at_stub: Workplace, stub: StubHub) -> None:
    run = at_stub.run("hook", stdin=event(at_stub, "sessionStart"))
    assert run.answer["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert stub.one("brief/").headers["ctxhub-session"] == "cursor-7f3a-1"


@pytest.mark.parametrize("argument", ["file_path", "path"])
def test_a_file_is_checked_before_an_edit(at_stub: Workplace, stub: StubHub, argument: str) -> None:
    assert is_silent(at_stub.run("hook", stdin=edit(at_stub, "preToolUse", argument)))
    assert stub.one("check/").body == {"paths": ["src/app.py"], "exact": True}


def test_an_edit_under_anothers_lease_is_denied(at_stub: Workplace, stub: StubHub) -> None:
    stub.answers["check/"] = Answer(LEASED, 200)
    run = at_stub.run("hook", stdin=edit(at_stub, "preToolUse"))
    assert run.answer["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_an_edit_is_recorded(at_stub: Workplace, stub: StubHub) -> None:
    at_stub.run("hook", stdin=edit(at_stub, "postToolUse"))
    assert stub.one("changes/").body == {"path": "src/app.py", "change": "modified", "exact": True}


def test_a_prompt_asks_for_news(at_stub: Workplace, stub: StubHub) -> None:
    at_stub.run("hook", stdin=event(at_stub, "beforeSubmitPrompt", prompt="Go on."))
    assert stub.one("nudge/").headers["ctxhub-session"] == "cursor-7f3a-1"


def test_the_end_releases_the_leases(at_stub: Workplace, stub: StubHub) -> None:
    at_stub.run("hook", stdin=event(at_stub, "sessionEnd", reason="completed"))
    assert stub.one("leases/release/").body == {"all": True}


def test_urgent_mail_is_a_follow_up(at_stub: Workplace, stub: StubHub) -> None:
    mail = {"items": [{"id": 9, "from": "ben", "text": "Stop.", "priority": "critical"}], "next": None}
    stub.answers["messages/"] = Answer(mail, 200)
    answer = at_stub.run("hook", stdin=event(at_stub, "stop", status="completed", loop_count=0)).answer
    assert answer["followup_message"] == answer["reason"]
    assert is_silent(at_stub.run("hook", stdin=event(at_stub, "stop", status="completed", loop_count=1)))


@pytest.mark.parametrize("fields", [{"workspace_roots": []}, {"workspace_roots": 7}, {"hook_event_name": 7}])
def test_an_odd_input_is_survived(at_stub: Workplace, fields: dict[str, Any]) -> None:
    assert at_stub.run("hook", stdin=event(at_stub, "preToolUse", **fields)).code == 0
