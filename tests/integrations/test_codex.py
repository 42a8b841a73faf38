"""Codex: its hooks, whose edits are patches, and the program that it notifies."""

import json
from typing import Any

import pytest

from tests.integrations.hook import Workplace, is_silent
from tests.integrations.stub_hub import LEASED, Answer, StubHub

PATCH = """*** Begin Patch
*** Update File: src/app.py
@@
-a = 1
+a = 2
+*** Delete File: not/a/header
*** Add File: docs/new file.md
+text
*** Delete File: old.py
*** Update File: from.py
*** Move to: to.py
*** End Patch"""
TURN: dict[str, Any] = {
    "type": "agent-turn-complete",
    "thread-id": "b5f6c1c2-1111-2222-3333-444455556666",
    "turn-id": "12345",
    "client": "codex-tui",
    "input-messages": ["Rename foo to bar."],
    "last-assistant-message": "Renamed.\nDecision: bar, as the API says.",
}


def patch(workplace: Workplace, event: str) -> bytes:
    values = {
        "session_id": "0199-abc",
        "turn_id": "1",
        "transcript_path": None,
        "cwd": str(workplace.repository),
        "hook_event_name": event,
        "model": "gpt-5-codex",
        "permission_mode": "default",
        "tool_name": "apply_patch",
        "tool_input": {"command": PATCH.replace("\n", "\r\n") if event == "PreToolUse" else PATCH},
        "tool_use_id": "call_1",
    }
    return json.dumps(values).encode()


def test_all_files_of_a_patch_are_checked(at_stub: Workplace, stub: StubHub) -> None:
    assert is_silent(at_stub.run("hook", "codex", stdin=patch(at_stub, "PreToolUse")))
    paths = ["src/app.py", "docs/new file.md", "old.py", "from.py", "to.py"]
    assert stub.one("check/").body == {"paths": paths, "exact": True}
    assert stub.one("check/").headers["ctxhub-session"] == "codex-0199-abc"


def test_a_patch_under_anothers_lease_is_denied(at_stub: Workplace, stub: StubHub) -> None:
    stub.answers["check/"] = Answer(LEASED, 200)
    run = at_stub.run("hook", "codex", stdin=patch(at_stub, "PreToolUse"))
    assert run.answer["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_all_files_of_a_patch_are_recorded(at_stub: Workplace, stub: StubHub) -> None:
    at_stub.run("hook", "codex", stdin=patch(at_stub, "PostToolUse"))
    changes = {item["path"]: item["change"] for item in stub.one("changes/batch/").body["items"]}
    assert changes["src/app.py"] == "modified"
    assert changes["docs/new file.md"] == changes["to.py"] == "created"
    assert changes["old.py"] == "deleted"
    assert changes["from.py"] == "deleted", "it was moved"
    assert len(stub.of("accesses/")) == 5


def test_the_transcript_of_codex_is_read(at_stub: Workplace, stub: StubHub) -> None:
    rollout = at_stub.folder / "rollout.jsonl"
    blocks = [
        ("user", "input_text", "<environment_context>cwd</environment_context>"),
        ("user", "input_text", "Rename foo."),
        ("assistant", "output_text", "Renamed."),
    ]
    entries: list[dict[str, Any]] = [
        {
            "type": "response_item",
            "payload": {"type": "message", "role": role, "content": [{"type": kind, "text": text}]},
        }
        for role, kind, text in blocks
    ]
    entries += [
        {"type": "event_msg", "payload": {"type": "user_message", "role": "user", "content": "again"}},
        {"type": "response_item", "payload": {"type": "function_call_output", "output": "assistant"}},
    ]
    rollout.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    at_stub.run("hook", "codex", stdin=at_stub.input("session_end", transcript_path=str(rollout)))
    assert stub.one("sessions/").body["conversation"] == "user: Rename foo.\n\nassistant: Renamed."


def test_a_turn_that_codex_notifies_of_is_saved(at_stub: Workplace, stub: StubHub) -> None:
    turn = json.dumps({**TURN, "cwd": str(at_stub.repository)})
    assert is_silent(at_stub.run("codex-notify", turn))
    saved = stub.one("sessions/").body
    assert saved["session"] == "codex-b5f6c1c2-1111-2222-3333-444455556666"
    assert saved["conversation"].startswith("user: Rename foo to bar.\n\nassistant: Renamed.")


def test_marked_lines_of_such_a_turn_are_captured(at_stub: Workplace, stub: StubHub) -> None:
    at_stub.variables["CTXHUB_CAPTURE"] = "1"
    at_stub.run("codex-notify", json.dumps(TURN))
    assert stub.one("memories/capture/").body == {"content": "Decision: bar, as the API says."}


@pytest.mark.parametrize("argument", ["", "{", "[]", '{"type": "approval-requested"}', '{"type": 7}'])
def test_other_notifications_are_not_answered(at_stub: Workplace, stub: StubHub, argument: str) -> None:
    assert is_silent(at_stub.run("codex-notify", argument))
    assert stub.sent == []
