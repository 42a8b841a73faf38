"""Unknown names in filters: the empty list names them and suggests others."""

from contextlib import suppress
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.events.log import VERBS, VERBS_OF_ACTION
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.listing import Listing
from ctxhub.core.models import Event, Scope
from ctxhub.core.vocabulary.queries import FILTERS, NAMES, unknown_names
from ctxhub.toolbox.actions import all_tools
from ctxhub.toolbox.dispatch import call
from memory.decisions.services import set_decision
from tests.hub import McpClient, RestClient

pytestmark = pytest.mark.one_engine


@pytest.fixture
def stored(ada_mcp: McpClient) -> None:
    words = {"tags": ["api", "security"], "scopes": ["api/auth"]}
    ada_mcp.call("decision", "set", key="api/auth", value="JWT", **words)
    ada_mcp.call("constraint", "add", category="security", text="Sign tokens.", **words)
    ada_mcp.call("memory", "add", title="Pools", content="They leak.", tags=["api"])
    ada_mcp.call("file", "record", path="src/app.py", change="created")
    ada_mcp.call("file", "lease", paths=["src/**"])


NO_AGENT = "There is no agent 'aad'; did you mean 'ada'?"
NO_TAG = "There is no tag 'secuirty'; did you mean 'security'?"
NO_SCOPE = "There is no scope 'api/atuh'; did you mean 'api/auth'?"
LISTS: list[tuple[str, str, str, dict[str, Any], str]] = [
    ("decision", "list", "decisions/", {"by": "aad"}, NO_AGENT),
    ("decision", "list", "decisions/", {"tags": ["secuirty"]}, NO_TAG),
    ("decision", "list", "decisions/", {"tags": ["api", "secuirty"], "match": "all"}, NO_TAG),
    ("decision", "list", "decisions/", {"scope": "api/atuh"}, NO_SCOPE),
    ("decision", "list", "decisions/", {"scope": "web/*"}, "No scope matches 'web/*'."),
    ("decision", "suggest", "decisions/suggest/", {"tags": ["secuirty"]}, NO_TAG),
    ("constraint", "list", "constraints/", {"by": "aad"}, NO_AGENT),
    ("constraint", "list", "constraints/", {"tags": ["secuirty"]}, NO_TAG),
    ("constraint", "list", "constraints/", {"scope": "api/atuh"}, NO_SCOPE),
    (
        *("constraint", "list", "constraints/", {"category": "secrity"}),
        "There is no category 'secrity'; did you mean 'security'?",
    ),
    ("memory", "list", "memories/", {"tags": ["secuirty"]}, NO_TAG),
    ("memory", "search", "memories/search/", {"query": "pools", "tags": ["secuirty"]}, NO_TAG),
    ("snapshot", "list", "snapshots/", {"by": "aad"}, NO_AGENT),
    ("snapshot", "list", "snapshots/", {"tags": ["secuirty"]}, NO_TAG),
    ("session", "list", "sessions/", {"by": "aad"}, NO_AGENT),
    ("session", "accesses", "accesses/", {"by": "aad"}, NO_AGENT),
    ("memory", "list", "memories/", {"by": "aad"}, NO_AGENT),
    ("memory", "contexts", "contexts/", {"by": "aad"}, NO_AGENT),
    ("scratchpad", "workflows", "workflows/", {"by": "aad"}, NO_AGENT),
    ("scratchpad", "list", "scratchpads/", {"workflow_id": 1, "by": "aad"}, NO_AGENT),
    ("message", "inbox", "messages/", {"by": "aad"}, NO_AGENT),
    ("hub", "activity", "activity/", {"by": "aad"}, NO_AGENT),
    ("search", "", "search/", {"query": "pools", "by": "aad"}, NO_AGENT),
    ("search", "", "search/", {"query": "pools", "tags": ["secuirty"]}, NO_TAG),
    ("file", "changes", "changes/", {"by": "aad"}, NO_AGENT),
    ("file", "leases", "leases/", {"by": "aad"}, NO_AGENT),
    ("hub", "activity", "activity/", {"agents": ["aad"]}, NO_AGENT),
    ("hub", "activity", "activity/", {"agents": ["zzzzz"]}, "There is no agent 'zzzzz'."),
    (
        *("hub", "activity", "activity/", {"verbs": ["updatd"]}),
        "There is no verb 'updatd'; did you mean 'updated'?",
    ),
    (
        *("hub", "activity", "activity/", {"verbs": ["zzz"]}),
        f"There is no verb 'zzz'. Verbs: {', '.join(VERBS)}.",
    ),
    (
        *("hub", "activity", "activity/", {"verbs": ["updatd"], "agents": "aad"}),
        f"{NO_AGENT} There is no verb 'updatd'; did you mean 'updated'?",
    ),
]


@pytest.mark.parametrize(
    ("tool", "action", "path", "filters", "hint"), LISTS, ids=lambda value: str(value)[:60]
)
def test_an_empty_list_names_the_unknown_names_of_its_filter(
    stored: None,
    ada_mcp: McpClient,
    ada_rest: RestClient,
    tool: str,
    action: str,
    path: str,
    filters: dict[str, Any],
    hint: str,
) -> None:
    answer = ada_mcp.call(tool, action or None, **filters)
    assert (answer["count"], answer["hint"]) == (0, hint)
    body = ada_rest.get(path, **filters).body
    assert (body["items"], body["hint"]) == ([], hint)


def test_every_list_with_such_a_filter_is_tested() -> None:
    tested = {(tool, action, name) for tool, action, _, filters, _ in LISTS for name in filters}
    for tool in all_tools().values():
        for action in tool.actions.values():
            named = {a.name for a in action.arguments.all if not a.says}
            for name in FILTERS if Listing in action.answers else ():
                if name in named:
                    assert (tool.name, action.name, name) in tested


@pytest.mark.parametrize(
    ("path", "words"),
    [("trends/", ["layer", "tag", "agent", "Status"]), ("use/", ["agent", "Operation", "agent,operation"])],
)
def test_a_word_to_group_by_is_no_name(ada_rest: RestClient, path: str, words: list[str]) -> None:
    for word in words:
        body = ada_rest.get(path, by=word).body
        assert (body["items"], body.get("hint")) == ([], None), word


@pytest.mark.parametrize("by", ["", " ", ",", "colour"])
def test_what_no_list_groups_by_is_told_the_words(ada_rest: RestClient, ada_mcp: McpClient, by: str) -> None:
    for path, words in (("trends/", ["layer", "tag", "agent", "status"]), ("use/", ["agent", "operation"])):
        reply = ada_rest.get(path, by=by)
        assert (reply.status, reply.body["error"], reply.body["allowed"]) == (400, "invalid", words)
        assert ", ".join(words) in reply.body["message"]
    answer = ada_mcp.call("hub", "trends", by=by)
    assert answer["allowed"] == ["layer", "tag", "agent", "status"]


def test_use_of_an_unknown_agent_names_the_nearest(ada_rest: RestClient) -> None:
    body = ada_rest.get("use/", of="aad", by="operation").body
    assert (body["items"], body["hint"]) == ([], NO_AGENT)


def test_a_search_by_post_names_unknown_names(stored: None, ada_rest: RestClient) -> None:
    body = ada_rest.post("search/", {"query": "pools", "tags": "secuirty"}).body
    assert (body["count"], body["hint"]) == (0, NO_TAG)


@pytest.mark.parametrize(
    ("tool", "action", "filters"),
    [
        ("decision", "list", {"by": "ADA", "text": "nothing"}),
        ("decision", "list", {"tags": ["API"], "text": "nothing"}),
        ("decision", "list", {"scope": "api/*", "text": "nothing"}),
        ("constraint", "list", {"category": "Security", "layer": "data"}),
        ("hub", "activity", {"verbs": ["deprecated", "Set", "decision_update"], "since": "2099-01-01"}),
        ("hub", "activity", {"agents": ["*"], "since": "2099-01-01"}),
        ("decision", "list", {"text": "nothing"}),
    ],
    ids=str,
)
def test_a_list_that_is_empty_for_another_reason_has_no_hint(
    stored: None, ada_mcp: McpClient, tool: str, action: str, filters: dict[str, Any]
) -> None:
    answer = ada_mcp.call(tool, action, **filters)
    assert (answer["count"], answer.get("hint")) == (0, None)


def test_a_list_with_rows_has_no_hint(stored: None, ada_mcp: McpClient) -> None:
    answer = ada_mcp.call("decision", "list", tags=["api", "secuirty"])
    assert (answer["count"], "hint" in answer) == (1, False)


def test_names_of_another_project_are_not_suggested(stored: None, cy_mcp: McpClient) -> None:
    answer = cy_mcp.call("decision", "list", by="ada", tags=["own"], scope="api/auth")
    assert answer["hint"] == "There is no agent 'ada'. There is no scope 'api/auth'. There is no tag 'own'."


def test_only_an_empty_list_takes_more_queries(ada: Caller) -> None:
    set_decision(caller=ada, key="a", value=1, tags=["api"])
    call(ada, "decision", {"tags": ["api"]})

    def queries(**filters: Any) -> int:
        with CaptureQueriesContext(
            connection,
        ) as found:
            call(ada, "decision", filters)
        return len(found)

    with_rows, empty = queries(tags=["api"]), queries(tags=["api"], status="draft")
    assert queries(tags=["none"], by="ada") <= with_rows + 2
    assert empty == with_rows + 1


def test_only_a_few_of_many_unknown_names_are_reported(ada: Caller) -> None:
    hint = unknown_names(ada.project_id, {"tags": [f"none{n}" for n in range(50)]})["hint"]
    assert hint.count("There is no tag") == 5


def test_a_glob_is_not_reported_when_there_are_too_many_names(ada: Caller) -> None:
    Scope.unscoped.bulk_create(
        Scope(project=ada.project, name=f"s/{n}", folded=f"s/{n}") for n in range(NAMES + 1)
    )
    assert unknown_names(ada.project_id, {"scope": "web/*"}) == {}
    assert "hint" in unknown_names(ada.project_id, {"scope": "web"})


def test_the_verbs_are_those_of_the_events(ada: Caller, ben: Caller) -> None:
    """Calls every action on stored rows."""
    call(ben, "message", {"action": "inbox"})
    workflow = call(ada, "scratchpad", {"action": "create_workflow"})["workflow_id"]
    pad = call(ada, "scratchpad", {"action": "create", "workflow_id": workflow, "name": "x"})
    sent = call(ada, "message", {"action": "send", "text": "x", "to": "ben", "type": "request", "ack": True})
    ids = {
        "memory": call(ada, "memory", {"action": "add", "title": "x", "content": "y"})["id"],
        "constraint": call(ada, "constraint", {"action": "add", "category": "own", "text": "x"})["id"],
        "message": sent["id"],
    }
    lease = call(ada, "file", {"action": "lease", "paths": "a"})["lease_id"]
    other_ids = {
        "workflow_id": workflow,
        "scratchpad_id": pad["scratchpad_id"],
        "lease_id": lease,
        "revision": 1,
    }
    for tool in all_tools().values():
        for action in sorted(tool.actions.values(), key=lambda action: action.destroys):
            own = {"id": ids.get(tool.name), "ids": [ids.get(tool.name)], "wait_seconds": 0, **other_ids}
            accepted = {name: value for name, value in own.items() if name in action.arguments.names}
            overrides = {
                name: value for name, value in accepted.items() if name in (*action.example, "wait_seconds")
            }
            arguments = {**action.example, **overrides}
            for caller in (ada, ben):
                with suppress(CtxhubError):
                    call(caller, tool.name, {**arguments, "action": action.name})
    written = set(Event.objects.in_project(ada.project).values_list("verb", flat=True))
    assert {"created", "sent", "acked", "claimed", "done", "leased", "renewed", "closed"} <= written
    assert written <= set(VERBS)
    assert {verb for verbs in VERBS_OF_ACTION.values() for verb in verbs} <= set(VERBS)
