"""Every operation that answers a list takes `limit` and `cursor`, or has its reason here."""

import json
from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator

from ctxhub.toolbox.actions import all_tools

RANKED = "a ranking: `limit`, 200 at most, says how far down it goes; there are no further pages"
IN_A_BUDGET = "made for a budget of tokens, and counts what it left out"
OF_ONE = "the parts of one object, which is read by lines"
NAMED = "what the call names, 50 at most"
WALK = "a walk along links, which stops at a depth and a number of rows, and says `more`"
DRAWING = "a picture of the nearest or newest, which says `more`"

MCP = {
    "brief": IN_A_BUDGET,
    "check": IN_A_BUDGET,
    "decision.get": f"{OF_ONE}; versions pages its history",
    "decision.suggest": RANKED,
    "delete": NAMED,
    "get": NAMED,
    "memory.context_get": OF_ONE,
    "memory.fuzzy": RANKED,
    "memory.get": OF_ONE,
    "memory.relationships": DRAWING,
    "memory.search": RANKED,
    "memory.similar": RANKED,
    "memory.suggest_context": RANKED,
    "scratchpad.get": NAMED,
    "scratchpad.search": RANKED,
    "search": RANKED,
    "session.get": "its newest 200 conversations, and 50 items at most",
    "session.prioritize": IN_A_BUDGET,
    "session.restore": IN_A_BUDGET,
    "snapshot.chain": WALK,
    "snapshot.get": OF_ONE,
    "snapshot.graph": DRAWING,
    "snapshot.impact": WALK,
    "snapshot.load": "1 to 10, the newest",
    "snapshot.prune": "what one call deletes; the next call goes on",
    "snapshot.search": RANKED,
    "snapshot.why": "itself, its cause and what it rests on, 50 at most",
}
REST = {
    "brief/": IN_A_BUDGET,
    "check/": IN_A_BUDGET,
    "contexts/suggest/": RANKED,
    "decisions/suggest/": RANKED,
    "links/chain/": WALK,
    "links/impact/": WALK,
    "links/why/": WALK,
    "memories/fuzzy/": RANKED,
    "memories/search/": RANKED,
    "memories/similar/": RANKED,
    "memories/{memory_id}/relationships/": DRAWING,
    "scratchpads/search/": RANKED,
    "search/": RANKED,
    "snapshots/graph/": DRAWING,
    "snapshots/load/": "1 to 10, the newest",
    "snapshots/search/": RANKED,
    "snapshots/{snapshot_id}/chain/": WALK,
    "snapshots/{snapshot_id}/impact/": WALK,
    "snapshots/{snapshot_id}/why/": WALK,
}
PAGE = {"limit", "cursor"}


def test_every_list_of_an_action_is_paged_or_has_a_reason() -> None:
    unpaged = {
        action.call
        for tool in all_tools().values()
        for action in tool.actions.values()
        if (action.answers or action.holds_lists) and not {a.name for a in action.arguments.all} >= PAGE
    }
    assert unpaged - MCP.keys() == set()


def test_every_list_over_rest_is_paged_or_has_a_reason(document: dict[str, Any]) -> None:
    unpaged = {
        path.partition("{slug}/")[2] or path
        for path, methods in document["paths"].items()
        if "get" in methods
        and _holds_a_list(document, methods["get"])
        and not _parameters(document, methods["get"]) >= PAGE
    }
    assert unpaged - REST.keys() == set()


def test_each_reason_is_of_something_there(document: dict[str, Any]) -> None:
    calls = {action.call for tool in all_tools().values() for action in tool.actions.values()}
    assert MCP.keys() <= calls
    assert REST.keys() <= {path.partition("{slug}/")[2] for path in document["paths"]}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    generated = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    plain: dict[str, Any] = json.loads(json.dumps(generated, default=str))
    return plain


def _found(document: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    while ref := node.get("$ref"):
        _, *names = ref.split("/")
        node = document
        for name in names:
            node = node[name]
    return node


def _parameters(document: dict[str, Any], operation: dict[str, Any]) -> set[str]:
    return {_found(document, parameter)["name"] for parameter in operation.get("parameters", ())}


def _holds_a_list(document: dict[str, Any], operation: dict[str, Any]) -> bool:
    """Whether the answer is a list of objects, or has one as a field and no id: else it is an object."""
    content = operation["responses"].get("200", {}).get("content", {})
    for answer in content.values():
        fields = _found(document, answer["schema"]).get("properties", {})
        lists = [
            name
            for name, field in fields.items()
            if "properties" in _found(document, _found(document, field).get("items", {}))
        ]
        if lists and not {"id", "key", "name", "session", "ref"} & fields.keys():
            return True
    return False
