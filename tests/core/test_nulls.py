"""Strict clients send null for every argument they omit: null means the same as omitted."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.apps import apps
from django.core.management.color import no_style
from django.db import connection, transaction
from pytest import Subtests  # noqa: PT013  # A name for a type.

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.toolbox.actions import Action, all_tools
from ctxhub.toolbox.dispatch import call
from memory.snapshots import reads
from tests.hub import McpClient, RestClient
from tests.tables import Dump, dump_all

pytestmark = pytest.mark.one_engine

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ACTIONS = {action.call: action for tool in all_tools().values() for action in tool.actions.values()}
ONE_OF_A_BATCH = {"decision": "set", "message": "send", "file": "record"}

OF_A_SNAPSHOT = ("get", "why", "chain", "impact")

DECISION = {
    "layer": "data",
    "tags": ["api"],
    "scopes": ["auth"],
    "paths": ["src/*.py"],
    "status": "draft",
    "version": "2.0.0",
    "rationale": "Stateless.",
    "alternatives": ["cookies"],
    "tradeoffs": {"pros": ["fast"], "cons": ["revocation"]},
    "metadata": {"ticket": 7},
}
MEMORY = {
    "context": "shop",
    "type": "reference",
    "stack": "django",
    "difficulty": "hard",
    "tags": ["caching"],
    "paths": ["shop/*.py"],
    "metadata": {"seen": True},
}
CONTEXT = {"description": "The shop.", "tags": ["api"], "stack": "django", "metadata": {"team": "a"}}
SESSION = {
    "workspace_id": "shop",
    "conversation": "user: It is slow.",
    "token_count": 9,
    "summary": "It is slow.",
    "items": [{"category": "task", "content": "Measure.", "importance": 9}],
    "files": [{"path": "src/a.py", "hash": "1"}],
    "active_project": "shop",
    "enabled_mcps": ["ctxhub"],
    "settings": {"theme": "dark"},
    "branch": "main",
    "worktree": "trees/main",
}
SNAPSHOT = {
    "summary": "Redis is up",
    "action_type": "tool_use",
    "rationale": "It was down.",
    "tags": ["api"],
    "source": "editor",
    "metadata": {"a": 1},
}
TEMPLATE = {
    "defaults": {"layer": "data"},
    "require": ["rationale"],
    "patterns": {"rationale": "."},
}


@pytest.fixture
def ids(ada: Caller, ben: Caller) -> Iterator[dict[str, Any]]:
    """Fills a project with one object of each kind, every field set. Returns their ids by name."""
    with time_machine.travel(NOON, tick=False):
        yield create_one_of_each(ada, ben)


def create_one_of_each(ada: Caller, ben: Caller) -> dict[str, Any]:
    made: dict[str, Any] = {}
    call(ada, "decision", {"key": "heir", "value": "JWT"})
    call(ada, "decision", {"key": "k", "value": "x", **DECISION})
    call(ada, "decision", {"key": "old", "value": "x"})
    end = {"action": "deprecate", "key": "old", "reason": "Old.", "superseded_by": "heir"}
    call(ada, "decision", end)
    call(ada, "decision", {"action": "template_set", "name": "incident", **TEMPLATE})
    call(ada, "memory", {"action": "context_create", "name": "shop", **CONTEXT})
    memories = [
        call(ada, "memory", {"title": f"Caching {n}", "content": "Keep it in Redis.", **MEMORY})["id"]
        for n in range(2)
    ]
    made["memory"], made["other"] = memories
    relation = {"source": memories[0], "target": memories[1], "relation": "blocks", "strength": 80}
    call(ada, "memory", {"action": "relate", **relation})
    rule = {"category": "security", "text": "Ask for a token.", "priority": "high", "layer": "data"}
    links = {"tags": ["api"], "scopes": ["auth"], "paths": ["src/*"], "reason": "It is public."}
    made["constraint"] = call(ada, "constraint", {"action": "add", **rule, **links})["id"]
    workflow = {"action": "create_workflow", "name": "Refactoring", "metadata": {"keep": "never"}}
    made["workflow"] = call(ada, "scratchpad", workflow)["workflow_id"]
    pad = {"workflow_id": made["workflow"], "name": "notes", "content": "# A\none\ntwo"}
    made["pad"] = call(ada, "scratchpad", pad)["scratchpad_id"]
    request = {"text": "Tests, please.", "to": ["ada"], "type": "request", "priority": "high", "ack": True}
    made["message"] = call(ben, "message", {**request, "payload": {"a": 1}, "ack_within": "2h"})["id"]
    change = {"path": "src/a.py", "change": "modified", "layer": "data", "description": "Rotate."}
    call(ada, "file", change)
    lease = {"paths": ["src/a.py"], "minutes": 30, "exclusive": True, "reason": "Rotation."}
    made["lease"] = call(ada, "file", lease)["lease_id"]
    call(ada, "hub", {"action": "config_set", "values": {"message_hours": 48}})
    made["session"] = call(ada, "session", {"action": "save", **SESSION})["session"]
    track = {"action": "track", "session": made["session"], "path": "src/a.py", "access": "edited"}
    call(ada, "session", {**track, "content": "a = 1", "importance": 5})
    made["cause"] = call(ada, "snapshot", {"content": "Redis is down."})["id"]
    snapshot = {"content": "Redis is up.", "caused_by": made["cause"], **SNAPSHOT}
    made["snapshot"] = call(ada, "snapshot", snapshot)["id"]
    return made


def minimal_arguments(action: str, ids: dict[str, Any]) -> dict[str, Any]:
    """The fewest arguments with which the action does something."""
    pad, workflow = {"scratchpad_id": ids["pad"]}, {"workflow_id": ids["workflow"]}
    message, memory, lease = {"id": ids["message"]}, {"id": ids["memory"]}, {"lease_id": ids["lease"]}
    by_action: dict[str, dict[str, Any]] = {
        "get": {"refs": ["decision:k"]},
        "delete": {"refs": ["decision:k"]},
        "hub.view": {"name": "active_context"},
        "hub.confirm": {"refs": ["decision:k"]},
        "hub.wait": {"wait_seconds": 0},
        "hub.config_set": {"values": {"change_days": 9}},
        "search": {"query": "Redis"},
        "check": {"paths": ["src/a.py"]},
        "session.begin": {"session": "claude-9c"},
        "constraint.add": {"category": "security", "text": "Another."},
        "constraint.deactivate": {"id": ids["constraint"]},
        "constraint.activate": {"id": ids["constraint"]},
        "memory.add": {"title": "t", "content": "c"},
        "session.save": {"summary": "So."},
        "memory.get": memory,
        "memory.update": memory,
        "memory.revisions": memory,
        "memory.restore": {**memory, "revision": 1},
        "memory.search": {"query": "Redis"},
        "memory.fuzzy": {"query": "Redis"},
        "memory.similar": memory,
        "memory.capture": {"content": "We decided to keep sessions in `store.py` of PostgreSQL 16."},
        "memory.grep": {"pattern": "x"},
        "memory.context_create": {"name": "new"},
        "memory.context_get": {"context": "shop"},
        "memory.context_update": {"context": "shop"},
        "memory.suggest_context": {"text": "Redis"},
        "memory.relate": {"source": ids["other"], "target": ids["memory"]},
        "memory.unrelate": {"source": ids["memory"], "target": ids["other"]},
        "memory.relationships": memory,
        "decision.set": {"key": "k", "value": "x"},
        "decision.set_batch": {"items": [{"key": "k", "value": "x"}]},
        "decision.quick_set": {"key": "k", "value": "x"},
        "decision.get": {"key": "k"},
        "decision.versions": {"key": "k"},
        "decision.deprecate": {"key": "old"},
        "decision.suggest": {"text": "JWT"},
        "decision.analytics": {"pattern": "*"},
        "decision.template_set": {"name": "incident"},
        "decision.from_template": {"name": "incident", "key": "k", "value": "y", "rationale": "So."},
        "snapshot.save": {"content": "x"},
        "snapshot.search": {"query": "Redis"},
        **{f"snapshot.{name}": {"id": ids["snapshot"]} for name in OF_A_SNAPSHOT},
        "session.restore": {"session": ids["session"]},
        "session.get": {"session": ids["session"]},
        "session.lineage": {"session": ids["session"]},
        "session.track": {"path": "src/a.py", "access": "viewed"},
        "session.depend": {"source": "src/a.py", "target": "src/b.py", "type": "imports"},
        "session.dependencies": {"path": "src/a.py"},
        "session.prioritize": {"budget_tokens": 100},
        "scratchpad.close_workflow": workflow,
        "scratchpad.create": {**workflow, "name": "more"},
        "scratchpad.list": workflow,
        "scratchpad.get": pad,
        "scratchpad.append": {**pad, "content": "three"},
        "scratchpad.update": {**pad, "content": "other"},
        "scratchpad.revisions": pad,
        "scratchpad.restore": {**pad, "revision": 1},
        "scratchpad.search": {"query": "one"},
        "message.send": {"text": "Hello."},
        "message.send_batch": {"items": [{"text": "Hello."}]},
        "message.read": {"all": True},
        "message.ack": {"ids": [ids["message"]]},
        "message.thread": message,
        "message.status": message,
        "message.claim": message,
        "message.done": message,
        "file.record": {"path": "src/b.py", "change": "created"},
        "file.record_batch": {"items": [{"path": "src/b.py", "change": "created"}]},
        "file.check_lock": {"path": "src/a.py"},
        "file.lease": {"paths": ["src/c.py"]},
        "file.renew": lease,
        "file.release": lease,
    }
    return by_action.get(action, {})


def add_nulls(action: Action, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments, and null for all others of the tool, including those of other actions."""
    tool = all_tools()[action.tool]
    names = [name for other in tool.actions.values() for name in other.arguments.names]
    names += ["agent", "format", "max_tokens"]
    return {**dict.fromkeys(name for name in names if name not in arguments), **arguments}


def with_nulls(action: Action, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments with nulls added, also in the items of a batch."""
    if items := arguments.get("items"):
        one = ACTIONS[f"{action.tool}.{ONE_OF_A_BATCH[action.tool]}"]
        arguments = {"items": [{**dict.fromkeys(one.arguments.names), **item} for item in items]}
    return add_nulls(action, arguments)


def outcome(caller: Caller, action: Action, arguments: dict[str, Any]) -> tuple[Any, Dump]:
    """The answer of a call and all rows after it. The call is then rolled back."""
    action_argument = {"action": action.name} if action.name else {}
    reads._noted_at.clear()  # Else the second read of a snapshot does not count.
    with transaction.atomic():
        with connection.cursor() as cursor:
            # A rollback does not reset sequences.
            for statement in connection.ops.sequence_reset_sql(no_style(), list(apps.get_models())):
                cursor.execute(statement)
        try:
            answer = call(caller, action.tool, {**action_argument, **arguments})
        except CtxhubError as error:
            answer = error.body()
        rows = dump_all()
        transaction.set_rollback(True)
    return answer, rows


def test_null_means_the_same_as_omitted(ada: Caller, ids: dict[str, Any], subtests: Subtests) -> None:
    for action in ACTIONS.values():
        arguments = minimal_arguments(action.call, ids)
        with subtests.test(action.call):
            expected, rows = outcome(ada, action, arguments)
            error = "not_allowed" if action.call == "memory.grep" else None
            assert expected.get("error") == error, expected
            answer, rows_with_nulls = outcome(ada, action, with_nulls(action, arguments))
            assert answer == expected
            assert rows_with_nulls == rows


CHANGES = ["decision.set", "decision.set_batch", "decision.deprecate", "decision.template_set"]
CHANGES += ["memory.update", "memory.context_update"]


@pytest.mark.parametrize("action", CHANGES)
def test_a_change_with_nulls_changes_nothing(ada: Caller, ids: dict[str, Any], action: str) -> None:
    before = dump_all()
    answer, rows = outcome(ada, ACTIONS[action], with_nulls(ACTIONS[action], minimal_arguments(action, ids)))
    assert answer.get("results", [answer])[0]["result"] == "unchanged"
    assert rows == before


REQUIRED = [
    (name, arg.name) for name, action in ACTIONS.items() for arg in action.arguments.all if arg.required
]


def test_a_required_argument_that_is_null_is_missing(
    ada: Caller, ids: dict[str, Any], subtests: Subtests
) -> None:
    for action, name in REQUIRED:
        with subtests.test(f"{action}.{name}"):
            answer, _ = outcome(ada, ACTIONS[action], {**minimal_arguments(action, ids), name: None})
            assert (answer["error"], answer["missing"]) == ("invalid", [name])


def test_a_null_argument_does_not_select_the_action(ada: Caller, ids: dict[str, Any]) -> None:
    assert call(ada, "decision", {"action": None, "key": "k", "value": None})["found"] is True
    assert call(ada, "scratchpad", {"scratchpad_id": ids["pad"], "content": None})["scratchpad"]
    assert call(ada, "message", {"text": None})["count"] == 1


# -- Over MCP and REST -----------------------------------------------------------------------------


def strict_arguments(client: McpClient, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Every property of the tool's schema: the given arguments, and null for all others."""
    [schema] = [one["inputSchema"] for one in client.tools() if one["name"] == tool]
    return {**dict.fromkeys(schema["properties"]), **arguments}


def test_nulls_of_a_strict_client_change_nothing(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    ada_mcp.call("decision", "set", key="k", value="x", **DECISION)
    memory = ada_mcp.call("memory", "add", title="t", content="c", **MEMORY)["id"]
    refs = ["decision:k", f"memory:{memory}"]
    before = ada_mcp.call("get", refs=refs)["items"]
    for tool, arguments in (
        ("decision", {"action": "set", "key": "k", "value": "x"}),
        ("memory", {"action": "update", "id": memory}),
    ):
        all_arguments = strict_arguments(ada_mcp, tool, arguments)
        assert len(all_arguments) >= 30
        assert ada_mcp.call(tool, **all_arguments)["result"] == "unchanged"
        assert ada_rest.post(f"call/{tool}/", all_arguments).body["result"] == "unchanged"
        without_action = {**all_arguments, "action": None}
        reply = ada_rest.post(f"call/{tool}/{arguments['action']}/", without_action)
        assert reply.body["result"] == "unchanged"
    assert ada_mcp.call("get", refs=refs)["items"] == before
