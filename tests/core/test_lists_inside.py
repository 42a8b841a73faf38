"""Lists inside answers: columns and rows or objects over MCP, arrays of objects over REST."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from typing import Any

import pytest
import time_machine
from drf_spectacular.generators import SchemaGenerator

from ctxhub.core.kit.answers import size
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict, InvalidInput
from ctxhub.core.kit.listing import Fitting, Listing, with_arrays, with_rows
from ctxhub.toolbox.actions import all_tools
from ctxhub.toolbox.dispatch import call
from memory.decisions.services import set_decision
from memory.memories.services import add_memory
from memory.relationships.services import relate
from memory.scratchpads.services import create_scratchpad
from memory.workflows.services import create_workflow
from sessions.sittings.services import save_session
from tests.hub import McpClient, RestClient
from tests.memory.saved import NOON, saved
from tests.memory.snapshots import save, write

LISTING = Listing(("a", "b"), [[1, None], [2, None]], extra={"more": True})
REDIS = "Keep answers in Redis, five minutes"


@dataclass(frozen=True)
class Inside:
    """A call of an action, the lists in its answer by their place, and the same over REST."""

    arguments: dict[str, Any]
    lists: list[tuple[str | int, ...]]
    path: str
    rest_lists: list[tuple[str | int, ...]]
    body: dict[str, Any] | None = None


def same(arguments: dict[str, Any], path: str, *names: str) -> Inside:
    lists: list[tuple[str | int, ...]] = [(name,) for name in names]
    return Inside(arguments, lists, path, lists)


# Over REST each object has its own DELETE, which answers nothing.
WITHOUT_REST = {"delete"}
# A new action whose answer has a list inside must be added here.
INSIDE = {
    "decision.get": Inside(
        {"key": "perf/ms", "include": "history"},
        [("decision", "history")],
        "decisions/perf/ms/?include=history",
        [("history",)],
    ),
    "decision.analytics": Inside(
        {"pattern": "perf/*", "bucket": "day"},
        [()],
        "decisions/analytics/?pattern=perf/*&bucket=day",
        [("items",)],
    ),
    "memory.get": Inside(
        {"id": "MEMORY", "outline": True}, [("outline",)], "memories/MEMORY/?outline=true", [("outline",)]
    ),
    "memory.relationships": same(
        {"id": "MEMORY"}, "memories/MEMORY/relationships/", "nodes", "edges", "suggested"
    ),
    "scratchpad.get": Inside(
        {"scratchpad_id": "PAD", "outline": True},
        [("scratchpad", "outline")],
        "scratchpads/PAD/?outline=true",
        [("outline",)],
    ),
    "session.get": same(
        {"session": "SESSION", "full": True}, "sessions/SESSION/?full=true", "conversations", "items"
    ),
    "check": Inside(
        {"paths": ["perf/a.py"]},
        [("decisions",)],
        "check/?paths=perf/a.py",
        [("decisions",)],
    ),
    "snapshot.get": same({"id": "SNAPSHOT"}, "snapshots/SNAPSHOT/", "dependencies"),
    "snapshot.why": same({"id": "SNAPSHOT"}, "snapshots/SNAPSHOT/why/", "dependencies"),
    "snapshot.graph": same({}, "snapshots/graph/", "nodes", "edges"),
    "snapshot.prune": Inside({}, [()], "snapshots/prune/", [("items",)], body={}),
    "get": Inside(
        {"refs": ["snapshot:SNAPSHOT"]},
        [("items", 0, "dependencies")],
        "snapshots/SNAPSHOT/",
        [("dependencies",)],
    ),
}


@pytest.fixture(autouse=True)
def noon() -> Iterator[None]:
    with time_machine.travel(NOON, tick=False):
        yield


@pytest.fixture
def ids(ada: Caller) -> dict[str, str]:
    """One thing of each kind, with something in its lists."""
    for value in (1, 2):
        set_decision(caller=ada, key="perf/ms", value=value, paths=["perf/**"])
    memory = add_memory(caller=ada, title="Redis cache", content=f"# Redis\n{REDIS}")["id"]
    add_memory(caller=ada, title="Redis queue", content="Keep answers in Redis, five hours")
    relate(caller=ada, source=memory, target="decision:perf/ms")
    workflow = create_workflow(caller=ada, name="w")["workflow_id"]
    pad = create_scratchpad(caller=ada, workflow_id=workflow, name="p", content="# One\nx\n## Two")
    session = save_session(caller=ada, conversation="Hi.", items=[{"category": "task", "content": "Go on."}])[
        "session"
    ]
    saved(ada.project, "old", age=9_999)
    snapshot = save(ada, dependencies=[save(ada, "The cause.")])
    return {
        "MEMORY": str(memory),
        "PAD": str(pad["scratchpad_id"]),
        "SESSION": str(session),
        "SNAPSHOT": str(snapshot),
    }


def filled(value: Any, ids: dict[str, str]) -> Any:
    if isinstance(value, str):
        return reduce(lambda text, name: text.replace(name, ids[name]), ids, value)
    if isinstance(value, list):
        return [filled(one, ids) for one in value]
    return {name: filled(one, ids) for name, one in value.items()} if isinstance(value, dict) else value


def at(answer: Any, place: tuple[str | int, ...]) -> Any:
    return reduce(getitem, place, answer)


def asked(client: McpClient, name: str, ids: dict[str, str], **more: Any) -> dict[str, Any]:
    tool, _, action = name.partition(".")
    return client.call(tool, action or None, **filled(INSIDE[name].arguments, ids), **more)


def objects_of(shown: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(shown["columns"], row, strict=True)) for row in shown["rows"]]


# -- The interfaces --------------------------------------------------------------------------------


def test_every_answer_with_a_list_inside_is_tested() -> None:
    actions = [action for tool in all_tools().values() for action in tool.actions.values()]
    holding = {each.call for each in actions if each.holds_lists and Listing not in each.answers}
    # It answers a list for refs of other kinds than snapshots.
    assert holding | {"snapshot.why"} == INSIDE.keys() | WITHOUT_REST


@pytest.mark.parametrize("name", INSIDE)
def test_over_mcp_a_list_is_rows_or_objects(ada_mcp: McpClient, ids: dict[str, str], name: str) -> None:
    rows, objects = (asked(ada_mcp, name, ids, format=format_) for format_ in ("rows", "objects"))
    for place in INSIDE[name].lists:
        one, other = at(rows, place), at(objects, place)
        assert one["rows"]
        assert other["items"] == objects_of(one)
        assert (one["count"], "columns" in other) == (other["count"], False)


@pytest.mark.parametrize("name", INSIDE)
def test_over_rest_a_list_is_an_array_of_objects(
    ada_mcp: McpClient, ada_rest: RestClient, ids: dict[str, str], name: str
) -> None:
    inside = INSIDE[name]
    path = filled(inside.path, ids)
    answer = ada_rest.get(path) if inside.body is None else ada_rest.post(path, inside.body)
    shown = asked(ada_mcp, name, ids)
    for place, rest_place in zip(inside.lists, inside.rest_lists, strict=True):
        rows = [
            {
                key: value
                for key, value in row.items()
                if value is not None and not (key == "by" and "agent" in row)
            }
            for row in at(answer.body, rest_place)
        ]
        assert rows == objects_of(at(shown, place))


@pytest.mark.parametrize("name", INSIDE)
def test_an_unknown_format_is_refused(ada_mcp: McpClient, ids: dict[str, str], name: str) -> None:
    answer = asked(ada_mcp, name, ids, format="table")
    assert (answer["error"], answer["allowed"]) == ("invalid", ["rows", "objects"])


def test_call_over_rest_answers_as_the_tool_does(ada_rest: RestClient, ids: dict[str, str]) -> None:
    body = {"id": ids["SNAPSHOT"], "format": "objects"}
    answer = ada_rest.post("call/snapshot/why/", body).body
    assert answer["dependencies"]["items"][0]["summary"] == "The cause."


def test_no_answer_over_rest_has_columns_but_what_restore_packed() -> None:
    schemas = SchemaGenerator().get_schema(request=None, public=True)["components"]["schemas"]  # type: ignore[no-untyped-call]
    columns = {name for name, schema in schemas.items() if "columns" in schema.get("properties", {})}
    assert columns == {"Rows", "Section"}
    using = {name for name, schema in schemas.items() if "#/components/schemas/Rows" in str(schema)}
    assert using == {"RestoreAnswer"}


def test_restore_answers_what_it_packed(
    ada_mcp: McpClient, ada_rest: RestClient, ids: dict[str, str]
) -> None:
    answer = ada_rest.post(f"sessions/{ids['SESSION']}/restore/").body
    assert answer["items"]["rows"] == [["task", "Go on.", 5, 3]]
    refused = ada_mcp.call("session", "restore", session=ids["SESSION"], format="objects")
    assert refused["error"] == "invalid"


# -- Sizes and retries -----------------------------------------------------------------------------


@pytest.mark.parametrize("format_", ["rows", "objects"])
def test_a_graph_is_cut_as_it_is_shown(ada: Caller, format_: str) -> None:
    write(ada, 1_000, summary="We keep the sessions in PostgreSQL now, Redis lost them.")
    answer = call(ada, "snapshot", {"action": "graph", "limit": 1_000, "format": format_})
    assert answer["more"]
    assert answer["nodes"]["count"] > 300
    assert "omitted" not in answer
    assert size(answer) <= 20_000


def test_a_retry_gets_the_lists_again(ada: Caller, ids: dict[str, str]) -> None:
    arguments = {"action": "relationships", "id": ids["MEMORY"], "create": True, "format": "objects"}
    first = call(ada, "memory", arguments, request_id="r-1")
    assert first["suggested"]["items"]
    assert call(ada, "memory", arguments, request_id="r-1") == first
    with pytest.raises(Conflict):
        call(ada, "memory", {**arguments, "format": "rows"}, request_id="r-1")


def test_a_retry_over_rest_gets_the_arrays_again(ada_rest: RestClient, ids: dict[str, str]) -> None:
    path, key = f"memories/{ids['MEMORY']}/relationships/suggested/", {"Idempotency-Key": "r-1"}
    first = ada_rest.post(path, {}, headers=key).body
    assert (first["created"], len(first["suggested"])) == (1, 1)
    assert ada_rest.post(path, {}, headers=key).body == first


def test_an_answer_without_lists_takes_no_format(ada: Caller) -> None:
    with pytest.raises(InvalidInput):
        call(ada, "scratchpad", {"action": "create_workflow", "format": "objects"})


# -- The rule --------------------------------------------------------------------------------------


def test_empty_lists_inside_are_left_out_over_mcp() -> None:
    answer = {"none": Listing(("a",), []), "some": [{"list": LISTING}], "texts": [], "nothing": None}
    rows = {"columns": ["a"], "rows": [[1], [2]], "count": 2, "more": True}
    assert with_rows(answer) == {"some": [{"list": rows}], "texts": [], "nothing": None}
    shown = with_rows(answer, as_objects=True)
    assert shown["some"] == [{"list": {"items": [{"a": 1}, {"a": 2}], "count": 2, "more": True}}]


def test_arrays_have_all_columns() -> None:
    objects = [{"a": 1, "b": None}, {"a": 2, "b": None}]
    assert with_arrays({"none": Listing(("a",), []), "some": LISTING}) == {"none": [], "some": objects}
    assert with_arrays(LISTING) == {"items": objects, "count": 2, "more": True}


def test_what_looks_like_a_list_is_data() -> None:
    data = {"metadata": {"columns": ["a"], "rows": [[1]], "count": 1}}
    assert with_rows(data, as_objects=True) == data == with_arrays(data)


def test_a_fitting_answer_is_built_as_it_is_shown() -> None:
    answer: Fitting[Any] = Fitting(lambda show: {"size": size(show({"list": LISTING}))})
    for as_objects in (False, True):
        shown = with_rows(answer, as_objects=as_objects)
        assert shown["size"] == size({"list": LISTING.answer(as_objects=as_objects)})
