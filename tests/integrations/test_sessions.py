"""Which session a hook speaks for: windows that go on under a new id, subagents, the hub's tools."""

import json
from typing import Any

import pytest

from tests.integrations.hook import Workplace, is_silent
from tests.integrations.stub_hub import CLEAR, Answer, StubHub, rows

WINDOW = "claude-5c0106d6-85cd-4e97-8166-d232e2024476"
LEASE = ("lease:5", "exclusive: src/app.py; another session of yours, claude-9z", "ada", "until 10:30Z")


def begun(stub: StubHub) -> list[tuple[str, Any]]:
    return [(sent.headers["ctxhub-session"], sent.body) for sent in stub.of("sessions/begin/")]


# -- Windows ---------------------------------------------------------------------------------------


def test_a_session_that_starts_tells_the_hub(at_stub: Workplace, stub: StubHub) -> None:
    at_stub.event("session_start_startup")
    assert begun(stub) == [(WINDOW, {})]


@pytest.mark.parametrize("reason", ["clear", "resume"])
def test_a_window_that_goes_on_passes_its_leases_to_its_next_session(
    at_stub: Workplace, stub: StubHub, reason: str
) -> None:
    at_stub.event("session_end", reason=reason)
    assert not stub.of("leases/release/")
    at_stub.event("session_start_startup", source=reason, session_id="new")
    assert begun(stub) == [("claude-new", {"continues": WINDOW})]


def test_what_a_window_left_is_passed_on_once(at_stub: Workplace, stub: StubHub) -> None:
    at_stub.event("session_end", reason="clear")
    for name in ("one", "two"):
        at_stub.event("session_start_startup", source="clear", session_id=name)
    assert begun(stub) == [("claude-one", {"continues": WINDOW}), ("claude-two", {})]


def test_a_window_that_ends_releases_what_it_holds(at_stub: Workplace, stub: StubHub) -> None:
    at_stub.event("session_end", reason="prompt_input_exit")
    assert stub.one("leases/release/").body == {"all": True}
    at_stub.event("session_start_startup", source="startup", session_id="new")
    assert begun(stub) == [("claude-new", {})]


def test_a_new_window_takes_nothing_of_one_that_goes_on(at_stub: Workplace, stub: StubHub) -> None:
    at_stub.event("session_end", reason="clear")
    at_stub.event("session_start_startup", session_id="new")
    assert begun(stub) == [("claude-new", {})]


def test_what_the_hub_was_not_told_is_passed_on_at_the_next_prompt(at_stub: Workplace, stub: StubHub) -> None:
    at_stub.event("session_end", reason="clear")
    stub.answers["sessions/begin/"] = Answer({}, 503)
    at_stub.event("session_start_startup", source="clear", session_id="new")
    at_stub.event("user_prompt_submit", session_id="another")
    at_stub.event("user_prompt_submit", session_id="new")
    del stub.answers["sessions/begin/"]
    for _ in range(2):
        at_stub.event("user_prompt_submit", session_id="new")
    assert begun(stub) == [("claude-new", {"continues": WINDOW})] * 3


def test_a_hub_that_refuses_to_begin_is_told_once(at_stub: Workplace, stub: StubHub) -> None:
    at_stub.event("session_end", reason="clear")
    stub.answers["sessions/begin/"] = Answer({}, 400)
    at_stub.event("session_start_startup", source="clear", session_id="new")
    at_stub.event("user_prompt_submit", session_id="new")
    assert begun(stub) == [("claude-new", {"continues": WINDOW})]


# -- Subagents -------------------------------------------------------------------------------------


def test_a_subagent_is_a_part_of_its_window(at_stub: Workplace, stub: StubHub) -> None:
    at_stub.event("pre_tool_use_edit", agent_id="reviewer 7")
    assert stub.one("check/").headers["ctxhub-session"] == f"{WINDOW}/reviewer-7"


def test_a_subagent_that_stops_releases_what_it_holds(at_stub: Workplace, stub: StubHub) -> None:
    at_stub.event("stop", hook_event_name="SubagentStop", agent_id="reviewer-7")
    released = stub.one("leases/release/")
    assert (released.headers["ctxhub-session"], released.body) == (f"{WINDOW}/reviewer-7", {"all": True})


def test_a_subagent_without_an_id_releases_nothing_of_its_window(at_stub: Workplace, stub: StubHub) -> None:
    assert is_silent(at_stub.event("stop", hook_event_name="SubagentStop"))
    assert not stub.of("leases/release/")


# -- Calls of the hub's tools ----------------------------------------------------------------------


def named(workplace: Workplace, tool: str, **asked: Any) -> dict[str, Any] | None:
    run = workplace.event("pre_tool_use_edit", tool_name=tool, tool_input=asked)
    if not run.out:
        return None
    answer: dict[str, Any] = json.loads(run.out)["hookSpecificOutput"]
    assert answer.keys() == {"hookEventName", "updatedInput"}
    updated: dict[str, Any] = answer["updatedInput"]
    return updated


@pytest.mark.parametrize(
    ("tool", "asked"),
    [
        ("mcp__ctxhub__file", {"action": "lease", "paths": ["a.py"]}),
        ("mcp__ctxhub__message", {"action": "claim", "next": True}),
        ("mcp__plugin_ctxhub_ctxhub__session", {"action": "save", "summary": "Half done."}),
        ("mcp__ctxhub__file_release", {"all": True}),
    ],
)
def test_a_call_that_holds_something_names_its_session(
    at_stub: Workplace, tool: str, asked: dict[str, Any]
) -> None:
    assert named(at_stub, tool, **asked) == {**asked, "session": WINDOW}


@pytest.mark.parametrize(
    ("tool", "asked"),
    [
        ("mcp__ctxhub__file", {"action": "leases"}),
        ("mcp__ctxhub__session", {"action": "get", "session": 5}),
        ("mcp__ctxhub__file", {"action": "lease", "paths": ["a.py"], "session": "mine"}),
        ("mcp__another__file", {"action": "lease", "paths": ["a.py"]}),
        ("mcp__ctxhub__decision", {"action": "set", "key": "a", "value": "b"}),
    ],
)
def test_other_calls_stay_as_they_are(at_stub: Workplace, tool: str, asked: dict[str, Any]) -> None:
    assert named(at_stub, tool, **asked) is None


# -- Denials ---------------------------------------------------------------------------------------


def test_a_lease_of_another_session_of_the_agent_denies_and_tells_how_to_release(
    at_stub: Workplace, stub: StubHub
) -> None:
    stub.answers["/api/v1/me/"] = Answer({"project": "apollo", "agent": "ada", "pinned": True}, 200)
    stub.answers["check/"] = Answer({**CLEAR, "clear": False, "leases": rows(LEASE)}, 200)
    told = at_stub.event("pre_tool_use_edit").answer["hookSpecificOutput"]
    assert told["permissionDecision"] == "deny"
    assert told["permissionDecisionReason"].splitlines()[0] == (
        "Another session of yours has leased this. Work on something else, or, if that session is over:"
        " `file` `release` with lease_id 5."
    )


@pytest.mark.parametrize(
    ("session", "code"), [("claude-9z", 77), ("claude-1a2b", 0), ("claude-1a2b/reviewer", 0), ("", 0)]
)
def test_the_guard_refuses_what_another_session_of_the_agent_holds(
    at_stub: Workplace, stub: StubHub, session: str, code: int
) -> None:
    stub.answers["/api/v1/me/"] = Answer({"project": "apollo", "agent": "ada", "pinned": True}, 200)
    stub.answers["check/"] = Answer({**CLEAR, "clear": False, "leases": rows(LEASE)}, 200)
    held = {"by": "ada", "session": session, "exclusive": True, "expires": "2026-11-21T10:30:00Z"}
    stub.answers["leases/"] = Answer({"items": [held]}, 200)
    at_stub.variables |= {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "1a2b"}
    at_stub.write("src/app.py")
    at_stub.git("add", ".")
    assert at_stub.run("pre-commit").code == code
    assert stub.one("check/").headers["ctxhub-session"] == "claude-1a2b"
