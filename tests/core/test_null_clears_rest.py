"""PATCH follows JSON Merge Patch: null clears a field that can be empty, an omitted field stays."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.addresses import Operation, operations
from tests.core.test_nulls import CONTEXT, DECISION, MEMORY, SESSION, TEMPLATE
from tests.hub import RestClient

PATCHES = operations("PATCH")
# Fields of a PATCH that describe the change itself and are not stored; null means absent in them.
NOT_STORED = {"agent", "reason", "expected_version", "numeric", "minutes", "values", "ended"}
WEBHOOK = {
    "url": "https://example.com/hook",
    "nouns": ["decision"],
    "verbs": ["created"],
    "priority": ["high"],
}
EMPTY: tuple[Any, ...] = (None, "", [], {})


def make(rest: RestClient, operation: Operation) -> str:
    """Creates an object that the operation changes, with every field set. Returns its path."""
    noun = operation.address.partition("/")[0]
    if noun == "decisions":
        rest.post("decisions/", {"key": "k", "value": "x", **DECISION})
        return "decisions/k/"
    if noun == "templates":
        rest.put("templates/incident/", TEMPLATE)
        return "templates/incident/"
    if noun == "config":
        return "config/"
    workflow = rest.post("workflows/", {"name": "Refactoring", "metadata": {"keep": "never"}}).body["id"]
    made: dict[str, Callable[[], Any]] = {
        "contexts": lambda: rest.post("contexts/", {"name": "shop", **CONTEXT}).body["id"],
        "memories": lambda: rest.post("memories/", {"title": "t", "content": "c", **MEMORY}).body["id"],
        "workflows": lambda: workflow,
        "scratchpads": lambda: rest.post(
            "scratchpads/", {"workflow_id": workflow, "name": "n", "content": "c"}
        ).body["scratchpad_id"],
        "constraints": lambda: rest.post("constraints/", {"category": "security", "text": "t"}).body["id"],
        "leases": lambda: rest.post("leases/", {"paths": ["a"]}).body["lease_id"],
        "sessions": lambda: make_session(rest),
        "webhooks": lambda: rest.post("webhooks/", WEBHOOK).body["id"],
    }
    return f"{noun}/{made[noun]()}/"


def make_session(rest: RestClient) -> int:
    parent = rest.post("sessions/", {"summary": "Before."}).body["session"]
    made: int = rest.post("sessions/", {**SESSION, "parent": parent}).body["session"]
    return made


def stored_fields(rest: RestClient, path: str, changed: str = "") -> dict[str, Any]:
    """The fields of the object, without those that every change updates."""
    body = stored_session(rest, path, changed) if path.startswith("sessions/") else rest.get(path).body
    volatile = ("updated", "updated_at", "origin", "result", "expires", "at", "saved_at", "cursor")
    return {name: value for name, value in body.items() if name not in volatile}


def stored_session(rest: RestClient, path: str, changed: str) -> dict[str, Any]:
    """The fields of a session by their names as arguments. Its tokens are counted anew with its texts."""
    body = rest.get(path, full=True).body
    conversations = body.pop("conversations")
    body |= {**body.pop("state"), "conversation": [each["text"] for each in conversations]}
    body["files"] = [item["path"] for item in rest.get(f"{path}resources/").body["items"]]
    volatile = {"resources", "token_count"} - {changed}
    return {name: value for name, value in body.items() if name not in volatile}


FIELDS = [
    (operation, name, nullable)
    for operation in PATCHES
    for name, nullable in operation.nullable().items()
    if name not in NOT_STORED and not operation.address.startswith("scratchpads")
]


@pytest.mark.parametrize(
    ("operation", "name", "nullable"), FIELDS, ids=[f"{one} {name}" for one, name, _ in FIELDS]
)
def test_null_clears_one_field_or_is_refused(
    ada_rest: RestClient, operation: Operation, name: str, nullable: bool
) -> None:
    path = make(ada_rest, operation)
    before = stored_fields(ada_rest, path, name)
    assert before[name] not in EMPTY, "Nothing to clear."

    reply = ada_rest.patch(path, {name: None})
    after = stored_fields(ada_rest, path, name)
    if nullable:
        assert reply.status in (200, 201), reply
        assert after.get(name) in EMPTY
        assert {**after, name: None} == {**before, name: None}
    else:
        assert (reply.status, reply.body["error"]) == (400, "invalid"), reply
        assert after == before


def test_only_required_fields_refuse_null() -> None:
    never_empty = {f"{operation.address} {name}" for operation, name, nullable in FIELDS if not nullable}
    assert never_empty == {
        "constraints/<id:constraint_id>/ status",
        "contexts/<key:context>/ name",
        "decisions/<key:key>/ status",
        "decisions/<key:key>/ value",
        "decisions/<key:key>/ version",
        "memories/<id:memory_id>/ content",
        "memories/<id:memory_id>/ context",
        "memories/<id:memory_id>/ title",
        "memories/<id:memory_id>/ type",
        "sessions/<id:session_id>/ conversation",
        "sessions/<id:session_id>/ token_count",
        "sessions/<id:session_id>/ workspace_id",
        "webhooks/<id:webhook_id>/ active",
        "webhooks/<id:webhook_id>/ kind",
        "webhooks/<id:webhook_id>/ url",
        "workflows/<id:workflow_id>/ active",
    }


@pytest.mark.parametrize("operation", PATCHES, ids=str)
def test_omitted_fields_stay(ada_rest: RestClient, operation: Operation) -> None:
    path = make(ada_rest, operation)
    before = stored_fields(ada_rest, path)
    values = {"message_hours": before.get("message_hours")}
    needed = {
        "scratchpads": {"content": "c"},
        "constraints": {"status": "active"},
        "config": {"values": values},
    }
    assert ada_rest.patch(path, needed.get(path.partition("/")[0], {})).status in (200, 201)
    assert stored_fields(ada_rest, path) == before


def test_null_inside_values_resets_one_setting(ada_rest: RestClient) -> None:
    default = ada_rest.get("config/").body
    ada_rest.patch("config/", {"values": {"message_hours": 48, "change_days": 9}})
    body = ada_rest.patch("config/", {"values": {"message_hours": None}}).body
    assert body == {**default, "change_days": 9}
    assert ada_rest.patch("config/", {"values": None}).status == 400


def test_null_inside_metadata_and_tradeoffs_removes_one_key(ada_rest: RestClient) -> None:
    ada_rest.post("decisions/", {"key": "k", "value": "x", **DECISION, "metadata": {"a": 1, "b": 2}})
    body = ada_rest.patch("decisions/k/", {"metadata": {"a": None}, "tradeoffs": {"pros": None}}).body
    assert (body["metadata"], body["tradeoffs"]) == ({"b": 2}, {"cons": ["revocation"]})
    body = ada_rest.put("decisions/k/", {"value": "x", "tradeoffs": {"pros": ["z"], "cons": None}}).body
    assert (body.get("metadata"), body["tradeoffs"]) == (None, {"pros": ["z"]})
    body = ada_rest.put("decisions/k/", {"value": "x", "tradeoffs": {"cons": None}}).body
    assert body["tradeoffs"] == {}
