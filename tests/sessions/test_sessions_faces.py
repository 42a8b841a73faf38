"""Sessions over REST, over HTTP and over stdio, also after the process was killed."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts import agents
from ctxhub.core.events import cleanup
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from ctxhub.toolbox.dispatch import call
from sessions.models import AgentSession
from sessions.sittings.services import save_session
from tests.databases import rolled_back
from tests.hub import McpClient, RestClient
from tests.sessions.test_sessions_save import FULL
from tests.stdio import stdio_hub

BODY: dict[str, Any] = {**FULL, "token_count": 9}

# -- REST ------------------------------------------------------------------------------------------


def test_a_session_is_saved_read_changed_and_deleted(ada_rest: RestClient) -> None:
    created = ada_rest.post("sessions/", BODY)
    assert (created.status, created.body["result"]) == (201, "created")
    path = f"sessions/{created.body['session']}/"
    item = ada_rest.get(path, full=True).body
    assert (item["summary"], item["token_count"], item["state"]["branch"]) == (FULL["summary"], 9, "main")
    changed = ada_rest.patch(path, {"summary": None, "items": None, "branch": "next"})
    assert (changed.status, changed.body["result"]) == (200, "updated")
    item = ada_rest.get(f"sessions/session:{created.body['session']}/").body
    assert (item["summary"], item["state"]["branch"], item["items"]) == ("", "next", [])
    assert ada_rest.delete(path).status == 204
    assert ada_rest.get(path).status == 404


def test_a_session_is_updated_by_its_name(ada_rest: RestClient) -> None:
    statuses = [ada_rest.post("sessions/", {"session": "laptop", "summary": text}).status for text in "ab"]
    assert statuses == [201, 200]


def test_sessions_are_listed_by_every_filter(ada_rest: RestClient, ben_rest: RestClient) -> None:
    first = ada_rest.post("sessions/", {"workspace_id": "shop", "summary": "s"}).body["session"]
    second = ben_rest.post("sessions/", {"parent": first, "summary": "s"}).body["session"]
    for query, expected in (
        ({}, [second, first]),
        ({"workspace_id": "shop"}, [first]),
        ({"by": "ben"}, [second]),
        ({"parent": first}, [second]),
        ({"parent": f"session:{first}"}, [second]),
        ({"implicit": "true", "limit": 1}, [second]),
    ):
        assert [item["session"] for item in ada_rest.get("sessions/", **query).body["items"]] == expected


def test_a_conversation_is_read_by_lines(ada_rest: RestClient) -> None:
    saved = ada_rest.post("sessions/", {"conversation": "one\ntwo\nthree"}).body
    part = ada_rest.get(f"sessions/{saved['session']}/", conversation=saved["conversation"], lines="2")
    assert (part.body["text"], part.body["total_lines"]) == ("two", 3)


def test_sessions_are_restored_and_have_a_lineage(ada_rest: RestClient, ben_rest: RestClient) -> None:
    saved = ada_rest.post("sessions/", BODY).body["session"]
    first = ada_rest.post("sessions/restore/", {"workspace_id": "shop"})
    present = [{"path": "src/app.py", "hash": None}]
    second = ben_rest.post(f"sessions/{first.body['session']}/restore/", {"budget_tokens": 200})
    third = ben_rest.post(f"sessions/{saved}/restore/", {"files": present})
    assert (first.status, first.body["parent"], second.status) == (201, saved, 201)
    assert third.body["files"]["rows"][0] == ["src/app.py", "missing"]
    line = ben_rest.get(f"sessions/{second.body['session']}/lineage/").body["items"]
    assert [item["session"] for item in line] == [second.body["session"], first.body["session"], saved]


@pytest.mark.parametrize("body", [{}, {"session": "laptop"}, {"workspace_id": "shop", "items": []}], ids=str)
def test_a_new_session_needs_contents(body: dict[str, Any], ada_rest: RestClient, ada_mcp: McpClient) -> None:
    refused = ada_rest.post("sessions/", body)
    assert (refused.status, refused.body["error"]) == (400, "invalid")
    assert "Give a summary" in refused.body["hint"]
    assert ada_mcp.call("session", "save", **body)["message"] == refused.body["message"]
    assert ada_mcp.rows("session", "list", implicit=True) == []


@pytest.mark.parametrize(
    "form", ["#{}", "session {}", "Session #{}", "sessions/{}", "session:{}", "session={}"]
)
def test_a_number_is_understood_as_people_write_it(
    form: str, ada_mcp: McpClient, ada_rest: RestClient
) -> None:
    session = ada_mcp.call("session", "save", summary="s")["session"]
    named = form.format(session)
    for action in ("get", "save"):
        assert ada_mcp.call("session", action, session=named)["session"] == session
    assert ada_mcp.call("session", "track", session=named, path="a.py", access="viewed")["session"] == session
    assert ada_rest.post("sessions/", {"session": named}).body["session"] == session
    assert ada_rest.post("sessions/restore/", {"session": named}).body["parent"] == session
    assert ada_mcp.call("session", "save", session=form.format(999), summary="s")["error"] == "not_found"


def test_a_name_that_looks_like_a_number_is_a_name_where_it_is_known(ada_mcp: McpClient) -> None:
    first = ada_mcp.call("session", "save", summary="s")["session"]
    AgentSession.unscoped.filter(pk=first).update(name="session 7")
    assert ada_mcp.call("session", "get", session="session 7")["session"] == first


@pytest.mark.parametrize("word", ["latest", "Last", "newest", "previous", "null"])
def test_a_word_for_a_session_opens_none_of_that_name(
    word: str, ada_mcp: McpClient, ada_rest: RestClient
) -> None:
    for action, more in (
        ("save", {"summary": "s"}),
        ("get", {}),
        ("restore", {}),
        ("track", {"path": "a.py", "access": "viewed"}),
    ):
        refused = ada_mcp.call("session", action, session=word, **more)
        assert (refused["error"], refused["hint"][:17]) == ("not_found", "Leave session out")
    assert ada_rest.post("sessions/", {"session": word, "summary": "s"}).status == 404
    assert ada_mcp.rows("session", "list", implicit=True) == []


def test_a_session_with_tracked_files_is_saved_without_more(ada_mcp: McpClient) -> None:
    session = ada_mcp.call("session", "track", path="a.py", access="edited")["session"]
    assert ada_mcp.call("session", "save") == {"session": session, "result": "created"}
    assert ada_mcp.call("session", "save", session=session) == {"session": session, "result": "updated"}


@pytest.mark.parametrize(
    "body",
    [
        {"items": 5},
        {"items": [5]},
        {"files": [{"hash": "1"}]},
        {"summary": 5},
        {"token_count": "5"},
        {"enabled_mcps": "[x"},
        {"settings": []},
        {"conversation": None},
        {"nothing": 1},
    ],
    ids=str,
)
def test_bad_bodies_are_refused(body: dict[str, Any], ada_rest: RestClient) -> None:
    for reply in (ada_rest.post("sessions/", body), ada_rest.post("sessions/restore/", {"no": 1})):
        assert (reply.status, reply.body["error"]) == (400, "invalid")
    assert ada_rest.get("sessions/").body["count"] == 0


def test_strangers_and_other_agents_are_refused(
    ada_rest: RestClient, ben_rest: RestClient, cy_rest: RestClient
) -> None:
    saved = ada_rest.post("sessions/", {"summary": "s"}).body["session"]
    path = f"sessions/{saved}/"
    assert ben_rest.patch(path, {"summary": "x"}).status == 403
    assert ben_rest.delete(path).status == 403
    for reply in (cy_rest.get(path), cy_rest.patch(path, {}), cy_rest.delete(path)):
        assert reply.status == 404
    assert cy_rest.post(f"{path}restore/").status == cy_rest.get(f"{path}lineage/").status == 404


def test_a_repeated_save_is_made_once(ada_rest: RestClient) -> None:
    key = {"Idempotency-Key": "one"}
    first, second = (ada_rest.post("sessions/", {"summary": "s"}, key) for _ in range(2))
    assert first.body == second.body
    assert ada_rest.get("sessions/").body["count"] == 1


# -- MCP -------------------------------------------------------------------------------------------


def test_without_an_action_the_arguments_decide(ada_mcp: McpClient) -> None:
    saved = ada_mcp.call("session", conversation="Hi.")
    assert saved["result"] == "created"
    assert ada_mcp.call("session", session=saved["session"])["agent"] == "ada"
    assert ada_mcp.call("session")["count"] == 1


def test_objects_may_be_json_in_a_text(ada_mcp: McpClient) -> None:
    saved = ada_mcp.call(
        "session",
        "save",
        items='[{"content":"x","importance":null}]',
        files='[{"path":"a","hash":"1"}]',
        settings='{"a":1}',
        enabled_mcps="ctxhub",
    )
    item = ada_mcp.call("session", "get", session=saved["session"])
    assert (item["items"]["rows"], item["resources"]) == ([["x", 5, 1]], 1)
    assert (item["state"]["settings"], item["state"]["enabled_mcps"]) == ({"a": 1}, ["ctxhub"])


def test_another_http_call_of_the_agent_goes_on_in_the_restored_session(
    ada_mcp: McpClient, ben_mcp: McpClient
) -> None:
    ada_mcp.call("session", "save", summary="s")
    child = ada_mcp.call("session", "restore")["session"]
    assert ben_mcp.call("session", "save", summary="s")["session"] != child
    assert ada_mcp.call("session", "save", summary="t") == {"session": child, "result": "updated"}


# -- Killed ----------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_killed_window_is_restored_as_it_was(apollo: Project) -> None:
    with stdio_hub("--project", "apollo", "--agent", "ada") as client:
        client.start()
        saved = client.call("session", "save", **FULL)
        before = client.call("session", "get", session=saved["session"], full=True)
        client.process.kill()
        client.process.wait()
    with stdio_hub("--project", "apollo", "--agent", "ada") as client:
        client.start()
        assert client.call("session", "get", session=saved["session"], full=True) == before
        answer = client.call("session", "restore", workspace_id="shop")
        assert (answer["parent"], answer["summary"]) == (saved["session"], FULL["summary"])
        assert answer["state"] == before["state"]
        assert answer["items"] == before["items"]
        assert answer["conversations"] == before["conversations"]


# -- Cost ------------------------------------------------------------------------------------------


def fill(caller: Caller, count: int) -> None:
    """A session with `count` of everything, and as many that continue it."""
    items = [{"content": f"item {n}"} for n in range(min(count, 50))]
    files = [{"path": f"src/{n}.py", "hash": f"{n}"} for n in range(count)]
    for n in range(count):
        save_session(
            caller=caller, session="first", conversation=f"talk {n}", items=items, files=files, branch=f"b{n}"
        )
    for n in range(count):
        save_session(caller=caller, session=f"s{n}", parent="first", workspace_id="shop", summary="s")


def queries(caller: Caller, arguments: dict[str, Any]) -> int:
    agents._touched[caller.project_id, caller.agent, ""] = float("inf")
    cleanup._cleaned[caller.project_id] = (clock.now(), cleanup.EVERY)
    with CaptureQueriesContext(connection) as captured:
        call(caller, "session", arguments)
    return len(captured)


def test_no_action_runs_more_queries_for_more_rows(apollo: Project, hermes: Project) -> None:
    few, many = (Caller(project=project, agent="ada") for project in (apollo, hermes))
    fill(few, 5)
    fill(many, 60)
    for arguments in (
        {"action": "save", "session": "first", "conversation": "new", "items": [{"content": "x"}]},
        {"action": "restore", "session": "first"},
        {"action": "restore", "workspace_id": "shop"},
        {"action": "list", "limit": 2},
        {"action": "list", "workspace_id": "shop", "by": "ada", "parent": "first", "limit": 2},
        {"action": "get", "session": "first", "full": True},
        {"action": "lineage", "session": "s1"},
    ):
        with rolled_back():
            counts = queries(few, arguments), queries(many, arguments)
        assert counts[0] == counts[1] <= 28, arguments
