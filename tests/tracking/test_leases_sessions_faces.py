"""Leases by session over the wire: where a session's name comes from, and what begins, lives and ends."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import NotFound
from ctxhub.core.kit.tool_names import naming_tools
from ctxhub.core.refusals.services import WRITER
from ctxhub.core.text.token_count import count_tokens
from ctxhub.toolbox.dispatch import call
from messaging.messages.services import send_message
from sessions.sittings.services import save_session
from tests.hub import WHOLE, LiveHub, McpClient, RestClient
from tests.periodic import prevent_periodic_work
from tests.stdio import stdio_hub
from tests.timing import wait_until
from tracking.leases.services import acquire_lease, release_leases

FILE = "src/api/auth.py"
HEADER = "Ctxhub-Session"


def lease_in(ada_mcp: McpClient, session: str, *paths: str) -> dict[str, Any]:
    return ada_mcp.call("file", "lease", paths=[*paths] or [FILE], session=session)


def sessions_of_leases(ada_mcp: McpClient) -> list[str]:
    return [row.get("session", "") for row in ada_mcp.rows("file", "leases")]


# -- Where a session's name comes from -------------------------------------------------------------


def test_the_argument_names_the_session_that_leases(ada_mcp: McpClient) -> None:
    made = lease_in(ada_mcp, "claude-1a2b")
    assert sessions_of_leases(ada_mcp) == ["claude-1a2b"]
    refused = lease_in(ada_mcp, "claude-9z")
    assert refused["error"] == "conflict"
    assert refused["message"].startswith(
        f"lease:{made['lease_id']} ({FILE}) is held by another session of yours"
    )
    assert refused["current"]["session"] == "claude-1a2b"
    assert f"lease_id={made['lease_id']}" in refused["hint"]


def test_the_release_that_a_conflict_names_works(ada_mcp: McpClient) -> None:
    made = lease_in(ada_mcp, "claude-1a2b")
    lease_in(ada_mcp, "claude-9z")
    assert ada_mcp.call("file", "release", lease_id=made["lease_id"], session="claude-9z") == {"released": 1}
    assert lease_in(ada_mcp, "claude-9z")["result"] == "created"


def test_the_meta_names_the_session_but_for_the_argument(ada_mcp: McpClient) -> None:
    meta = {"ctxhub/session": "claude-1a2b"}
    ada_mcp.result("file", {"action": "lease", "paths": ["a.py"]}, meta)
    ada_mcp.result("file", {"action": "lease", "paths": ["b.py"], "session": "claude-9z"}, meta)
    assert sessions_of_leases(ada_mcp) == ["claude-1a2b", "claude-9z"]


def test_the_header_names_the_session_of_rest(ada_rest: RestClient) -> None:
    one, two = {HEADER: "claude-1a2b"}, {HEADER: "claude-9z"}
    made = ada_rest.post("leases/", {"paths": [FILE]}, {**one, **WHOLE})
    assert (made.status, made.body["session"]) == (201, "claude-1a2b")
    refused = ada_rest.post("leases/", {"paths": [FILE]}, two)
    assert (refused.status, refused.body["current"]["session"]) == (409, "claude-1a2b")
    assert ada_rest.get("leases/").body["items"][0]["session"] == "claude-1a2b"
    renewed = ada_rest.patch(f"leases/{made.body['lease_id']}/", {"minutes": 60}, two)
    assert (renewed.status, "Only that session renews it" in str(renewed.body)) == (403, True)
    assert ada_rest.post("leases/release/", {"all": True}, two).body == {"released": 0}
    assert ada_rest.post("leases/release/", {"all": True}, one).body == {"released": 1}


def test_check_and_nudge_are_asked_for_a_session(ada_rest: RestClient) -> None:
    ada_rest.post("leases/", {"paths": [FILE]}, {HEADER: "claude-1a2b"})
    for session, clear in (("claude-1a2b", True), ("claude-1a2b/part", True), ("claude-9z", False)):
        answer = ada_rest.post("check/", {"paths": [FILE]}, {HEADER: session}).body
        assert answer["clear"] is clear


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("tool", ["flat", "grouped"])
def test_two_windows_of_claude_code_on_stdio_are_two_holders(ada: Caller, tool: str) -> None:
    surface = ("--surface", tool)
    named = {"CLAUDE_CODE_SESSION_ID": "1a2b"}
    with (
        stdio_hub("--project", "apollo", "--agent", "ada", *surface, variables=named) as one,
        stdio_hub(
            "--project", "apollo", "--agent", "ada", *surface, variables={"CLAUDE_CODE_SESSION_ID": "9z"}
        ) as two,
        stdio_hub("--project", "apollo", "--agent", "ada", *surface) as unnamed,
    ):
        for client in (one, two, unnamed):
            client.start()
        call = ("file_lease",) if tool == "flat" else ("file", "lease")
        assert one.call(*call, paths=[FILE])["result"] == "created"
        assert "another session of yours (claude-1a2b," in two.call(*call, paths=[FILE])["message"]
        assert unnamed.call(*call, paths=[FILE])["result"] == "created"


def test_paths_of_another_session_are_told_with_the_release_that_works(
    ada_mcp: McpClient, ada_rest: RestClient
) -> None:
    made = lease_in(ada_mcp, "claude-1a2b")["lease_id"]
    told = ada_mcp.call("file", "release", paths=[FILE], session="claude-9z")
    assert (told["error"], told["hint"]) == ("not_found", f"If it is over: file release lease_id={made}.")
    assert told["message"].startswith(
        f"lease:{made} ({FILE}) is held by another session of yours (claude-1a2b,"
    )
    assert count_tokens(f"{told['message']} {told['hint']}") <= 55
    two = {HEADER: "claude-9z"}
    refused = ada_rest.post("leases/release/", {"paths": [FILE]}, two)
    hint = f"If it is over: POST leases/release/ lease_id={made}."
    assert (refused.status, refused.body) == (404, {**told, "hint": hint})
    assert ada_rest.post("leases/release/", {"lease_id": made}, two).body == {"released": 1}


@pytest.mark.django_db
def test_a_flat_client_is_told_the_flat_name_of_release(ada: Caller) -> None:
    acquire_lease(caller=ada.in_session("one"), paths=[FILE])
    with naming_tools(flat=True), pytest.raises(NotFound) as raised:
        release_leases(caller=ada.in_session("two"), paths=[FILE])
    assert "file_release lease_id=" in raised.value.hint


# -- A window that goes on, and one that ends ------------------------------------------------------


def test_a_session_begins_and_takes_over_what_it_continues(
    ada: Caller, ben: Caller, ada_mcp: McpClient, ada_rest: RestClient
) -> None:
    lease_in(ada_mcp, "old")
    asked = send_message(caller=ben, text="Look at it.", to=["ada"], type="request")["id"]
    ada_mcp.call("message", "claim", id=asked, session="old")
    assert ada_rest.post("sessions/begin/", {"continues": "old"}, {HEADER: "new"}).body == {
        "session": "new",
        "leases": 1,
        "claims": 1,
    }
    assert sessions_of_leases(ada_mcp) == ["new"]
    assert ada_mcp.call("session", "begin", session="third", continues="new") == {
        "session": "third",
        "leases": 1,
        "claims": 1,
    }
    assert lease_in(ada_mcp, "old")["result"] == "extended"


@pytest.mark.parametrize("body", [{}, {"continues": "old"}])
def test_begin_without_a_session_is_refused(ada_rest: RestClient, body: dict[str, Any]) -> None:
    refused = ada_rest.post("sessions/begin/", body)
    assert (refused.status, refused.body["missing"]) == (400, ["session"])


@pytest.mark.parametrize("continues", ["999", 999, "session:999"])
def test_begin_continues_no_session_that_is_not_there(ada_rest: RestClient, continues: Any) -> None:
    assert ada_rest.post("sessions/begin/", {"continues": continues}, {HEADER: "new"}).status == 404


def test_a_save_that_ends_the_window_releases_what_it_holds(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    for name in ("one", "one/part", "two"):
        lease_in(ada_mcp, name, f"{name}.py")
    saved = ada_mcp.call("session", "save", session="one", summary="Done.", ended=True)
    assert saved["released"] == 2
    assert sessions_of_leases(ada_mcp) == ["two"]
    assert (
        ada_rest.post("sessions/", {"session": "two", "summary": "Done.", "ended": True}).body["released"]
        == 1
    )


# -- Claims ----------------------------------------------------------------------------------------


def test_a_claim_is_that_of_a_session_and_done_is_open_to_each(
    ben: Caller, ada_mcp: McpClient, ada: Caller
) -> None:
    asked = send_message(caller=ben, text="Look at it.", to=["ada"], type="request")["id"]
    ada_mcp.call("message", "claim", id=asked, session="one")
    refused = ada_mcp.call("message", "claim", id=asked, session="two")
    assert refused["error"] == "conflict"
    assert "claimed by another session of yours (one)" in refused["message"]
    assert ada_mcp.call("message", "claim", next=True, session="two")["claimed"] is None
    assert ada_mcp.call("message", "claim", id=asked, session="one/part")["claimed"]["id"] == asked
    assert ada_mcp.call("message", "done", id=asked, session="two")["state"] == "done"


# -- Live sessions ---------------------------------------------------------------------------------


def test_live_sessions_are_listed_with_branch_and_leases(
    ada: Caller, ada_mcp: McpClient, ada_rest: RestClient, ben_mcp: McpClient
) -> None:
    save_session(caller=ada, session="one", summary="s", branch="faster", worktree="/w/one")
    lease_in(ada_mcp, "one", "a.py")
    lease_in(ada_mcp, "one", "b.py")
    lease_in(ben_mcp, "two", "c.py")

    def listed() -> list[dict[str, Any]]:
        return ada_mcp.rows("session", "list", live=True)

    wait_until(lambda: len(listed()) == 2)
    [two, one] = listed()
    assert (two["session"], two["agent"], two["leases"]) == ("two", "ben", 1)
    assert one == {
        "session": "one",
        "agent": "ada",
        "branch": "faster",
        "worktree": "/w/one",
        "leases": 2,
        "last_heard": one["last_heard"],
    }
    first = ada_rest.get("sessions/", live="true", limit=1)
    assert [item["session"] for item in first.body["items"]] == ["two"]
    later = ada_rest.get("sessions/", live="true", limit=1, cursor=first.body["next"])
    assert [item["session"] for item in later.body["items"]] == ["one"]
    assert [item["session"] for item in ada_rest.get("sessions/", live="true", by="Ada").body["items"]] == [
        "one"
    ]
    counts = {row["name"]: row.get("sessions") for row in ada_mcp.rows("hub", "agents")}
    assert (counts["ada"], counts["ben"]) == (1, 1)


@pytest.mark.parametrize("filters", [{"workspace_id": "shop"}, {"parent": 5}, {"implicit": True}])
def test_live_sessions_refuse_other_filters(
    ada_mcp: McpClient, ada_rest: RestClient, filters: dict[str, Any]
) -> None:
    [name] = filters
    assert f"no {name}" in ada_mcp.call("session", "list", live=True, **filters)["message"]
    refused = ada_rest.get("sessions/", live="true", **{k: str(v).lower() for k, v in filters.items()})
    assert (refused.status, f"no {name}" in str(refused.body)) == (400, True)


def test_sessions_of_another_project_are_not_seen(
    ada_mcp: McpClient, cy_mcp: McpClient, hub: LiveHub
) -> None:
    lease_in(ada_mcp, "one")
    assert cy_mcp.rows("session", "list", live=True) == []


# -- Refusals and statements -----------------------------------------------------------------------


def test_a_refusal_names_the_session_that_was_refused(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    lease_in(ada_mcp, "one")
    lease_in(ada_mcp, "two")
    WRITER.flush()
    [row] = ada_rest.get("refusals/").body["items"]
    assert (row["agent"], row["session"], row["code"]) == ("ada", "two", "conflict")
    assert "(one, " in row["note"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("file", {"action": "lease", "paths": ["src/b.py"]}),
        ("check", {"paths": ["src/b.py"]}),
        ("file", {"action": "release", "all": True}),
        ("file", {"action": "release", "paths": ["src/c.py"]}),
    ],
)
def test_a_session_costs_one_statement_more(ada: Caller, tool: str, arguments: dict[str, Any]) -> None:
    def statements(caller: Caller) -> int:
        acquire_lease(caller=caller, paths=["src/c.py"])
        prevent_periodic_work(caller)
        with CaptureQueriesContext(connection) as captured:
            call(caller, tool, arguments)
        return len(captured)

    without = statements(ada)
    release_leases(caller=ada, all=True)
    assert statements(ada.in_session("one")) <= without + 1
