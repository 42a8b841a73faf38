"""Token budgets of lists and readers: any budget is kept, and each page leads to the next."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ctxhub.core.kit.answers import size
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.listing import Listing
from ctxhub.toolbox.actions import all_tools
from ctxhub.toolbox.dispatch import call
from memory.constraints.services import add_constraint
from memory.decisions.services import set_decision
from memory.memories.services import add_memory, update_memory
from memory.predictions.services import predict_snapshots
from memory.scratchpads.services import append_to_scratchpad, create_scratchpad
from memory.snapshots.services import save_snapshot
from memory.workflows.services import create_workflow
from messaging.messages.services import acknowledge_messages, send_message
from sessions.accesses.services import add_dependency, track_access
from sessions.sittings.services import save_session
from tests.hub import RestClient
from tracking.changes.services import record_change
from tracking.leases.services import acquire_lease

pytestmark = pytest.mark.one_engine

# Tokens of a row with its first field, the marks and a cursor; a smaller budget cannot always be kept.
SMALLEST = 100
ROWS = 4
TEXT = "Sessions expire after fifteen minutes, because tokens rotate. " * 8
BUDGETS = (1, 20, 60, 100, 200, 500, 20_000)


@pytest.fixture
def ids(ada: Caller, ben: Caller) -> dict[str, int]:
    """Several rows of every kind, with long texts; the ids that some lists take."""
    workflow = thread = reply = pad = 0
    for n in range(ROWS):
        set_decision(
            caller=ada, key="sessions/ttl", value=f"{TEXT} {n}", rationale=TEXT, tags=["api", "security"]
        )
        set_decision(caller=ada, key=f"sessions/ttl-{n}", value=TEXT, tags=["api", "security"], layer="data")
        add_constraint(caller=ada, category="security", text=f"{TEXT} {n}", tags=["api"])
        memory = add_memory(
            caller=ada, title=f"Sessions expire {n}", content=TEXT, context=f"work {n}", tags=["api"]
        )["id"]
        sent = send_message(
            caller=ben,
            text=TEXT,
            to=["ada", "cid", "dan", "eve"],
            ack=True,
            payload={"why": TEXT},
            reply_to=thread or None,
        )
        thread, reply = thread or sent["id"], sent["id"]
        record_change(caller=ben, path=f"src/{n}.py", change="modified", description=TEXT, layer="data")
        acquire_lease(caller=ada, paths=[f"docs/{n}/**"], reason=TEXT)
        workflow = create_workflow(caller=ada, name=f"Sessions {n}", metadata={"why": TEXT})["workflow_id"]
    for n in range(ROWS):
        pad = create_scratchpad(caller=ada, workflow_id=workflow, name=f"sessions {n}", content=TEXT)[
            "scratchpad_id"
        ]
        append_to_scratchpad(caller=ada, scratchpad_id=pad, content=TEXT)
        update_memory(caller=ada, memory_id=memory, title=f"Sessions end {n}")
    acknowledge_messages(caller=ada, ids=[thread])
    numbers = {"workflow": workflow, "pad": pad, "thread": thread, "reply": reply, "memory": memory}
    return {**numbers, "session": some_sessions(ada), **some_snapshots(ada)}


def some_sessions(ada: Caller) -> int:
    """A line of sessions; the id of the last one, which has files."""
    session = 0
    for n in range(ROWS):
        session = save_session(
            caller=ada, session=f"s{n}", summary=TEXT, parent=str(session) if session else None
        )["session"]
    for n in range(ROWS):
        track_access(caller=ada, session=str(session), path=f"lib/{n}.py", access="edited", content=TEXT)
        add_dependency(caller=ada, source="lib/0.py", target=f"lib/{n + 1}.py", type="imports")
    return session


def some_snapshots(ada: Caller) -> dict[str, int]:
    """A chain of snapshots; the ids of the first and the last one."""
    made: list[int] = []
    for n in range(ROWS):
        cause = made[-1] if made else None
        fields: Any = {"source": "mcp", "rationale": TEXT, "tags": ["api", "security"], "caused_by": cause}
        made.append(save_snapshot(caller=ada, content=f"{TEXT} {n}", **fields)["id"])
    predict_snapshots(caller=ada)
    return {"root": made[0], "effect": made[-1]}


# The arguments of each list. A new list must be added here.
LISTS: dict[str, Callable[[dict[str, int]], dict[str, Any]]] = {
    "hub.layer_summary": lambda ids: {},
    "hub.activity": lambda ids: {"limit": 200},
    "hub.agents": lambda ids: {},
    "hub.trends": lambda ids: {"by": "tag"},
    "hub.view": lambda ids: {"name": "active_context"},
    "search": lambda ids: {"query": "sessions expire", "detail": "detailed"},
    "constraint.list": lambda ids: {},
    "memory.list": lambda ids: {},
    "memory.revisions": lambda ids: {"id": ids["memory"]},
    "memory.search": lambda ids: {"query": "sessions expire", "detail": "detailed"},
    "memory.fuzzy": lambda ids: {"query": "sesions"},
    "memory.similar": lambda ids: {"text": TEXT, "threshold": 0},
    "memory.contexts": lambda ids: {},
    "decision.list": lambda ids: {"full": True},
    "decision.versions": lambda ids: {"key": "sessions/ttl"},
    "decision.suggest": lambda ids: {"key": "sessions/ttl-9"},
    "decision.templates": lambda ids: {},
    "scratchpad.workflows": lambda ids: {},
    "scratchpad.list": lambda ids: {"workflow_id": ids["workflow"], "include_content": True},
    "scratchpad.revisions": lambda ids: {"scratchpad_id": ids["pad"]},
    "scratchpad.search": lambda ids: {"query": "sessions"},
    "message.inbox": lambda ids: {},
    "message.thread": lambda ids: {"id": ids["thread"]},
    "message.status": lambda ids: {"id": ids["thread"]},
    "file.changes": lambda ids: {},
    "file.leases": lambda ids: {},
    "snapshot.load": lambda ids: {"limit": ROWS},
    "snapshot.search": lambda ids: {"query": "sessions expire"},
    "snapshot.list": lambda ids: {},
    "snapshot.why": lambda ids: {"id": f"message:{ids['reply']}"},
    "snapshot.chain": lambda ids: {"id": ids["effect"]},
    "snapshot.impact": lambda ids: {"id": ids["root"]},
    "snapshot.prefetch": lambda ids: {"min_score": 0},
    "session.list": lambda ids: {},
    "session.lineage": lambda ids: {"session": ids["session"]},
    "session.accesses": lambda ids: {},
    "session.resources": lambda ids: {"session": ids["session"]},
    "session.dependencies": lambda ids: {"path": "lib/0.py"},
}
# These lists read files, not rows.
ELSEWHERE = {"memory.grep"}


def test_every_list_is_tested() -> None:
    lists = {a.call for tool in all_tools().values() for a in tool.actions.values() if Listing in a.answers}
    assert lists == LISTS.keys() | ELSEWHERE


def pages(caller: Caller, name: str, arguments: dict[str, Any], budget: int) -> Iterator[dict[str, Any]]:
    """The pages of a list, following `next`."""
    tool, _, action = name.partition(".")
    call_arguments = {
        **({"action": action} if action else {}),
        **arguments,
        "format": "objects",
        "max_tokens": budget,
    }
    seen: set[str] = set()
    while True:
        page = call(caller, tool, call_arguments)
        yield page
        if (cursor := page.get("next")) is None:
            return
        assert cursor not in seen
        seen.add(cursor)
        call_arguments["cursor"] = cursor


def first_fields(rows: list[dict[str, Any]]) -> list[Any]:
    return [next(iter(row.values())) for row in rows]


@pytest.mark.parametrize("name", LISTS)
def test_each_page_keeps_the_budget_and_leads_to_the_next(
    ada: Caller, ids: dict[str, int], name: str
) -> None:
    arguments = LISTS[name](ids)
    [whole] = pages(ada, name, arguments, 20_000)
    assert whole["count"] >= 2
    for budget in BUDGETS:
        found_pages = list(pages(ada, name, arguments, budget))
        rows = [row for page in found_pages for row in page["items"]]
        for page in found_pages:
            assert size(page) <= max(budget, SMALLEST)
            assert page["count"] == len(page["items"]) >= 1
        # A paged list ends; any other list reports how many rows are left.
        left = found_pages[-1].get("omitted", 0)
        assert first_fields(rows) == first_fields(whole["items"])[: len(rows)]
        assert len(rows) + left == whole["count"]


@pytest.mark.parametrize(
    "name", ["decision.list", "message.inbox", "message.thread", "file.changes", "constraint.list"]
)
def test_the_last_page_of_a_list_omits_nothing(ada: Caller, ids: dict[str, int], name: str) -> None:
    found_pages = list(pages(ada, name, LISTS[name](ids), 1))
    assert [page["count"] for page in found_pages] == [1] * len(found_pages)
    assert all(page["truncated"] for page in found_pages)
    assert "omitted" not in found_pages[-1]
    assert [page["omitted"] for page in found_pages[:-1]] == list(range(len(found_pages) - 1, 0, -1))


@pytest.mark.usefixtures("ids")
@pytest.mark.parametrize("name", ["decision.list", "memory.list", "constraint.list", "message.inbox"])
def test_a_page_with_its_cursor_needs_no_more_than_60_tokens(ada: Caller, name: str) -> None:
    tool, _, action = name.partition(".")
    page = call(ada, tool, {"action": action, "max_tokens": 60})
    assert size(page) <= 60
    assert page["next"]


@pytest.mark.usefixtures("ids")
def test_get_names_what_it_left_out(ada: Caller) -> None:
    refs = [f"decision:sessions/ttl-{n}" for n in range(ROWS)]
    answer = call(ada, "get", {"refs": refs, "max_tokens": 200})
    left = refs[len(answer["items"]) :]
    assert left
    assert answer["omitted"] == len(left)
    assert answer["omitted_refs"] == left[: len(answer["omitted_refs"])]
    assert size(answer) <= 200
    whole = call(ada, "get", {"refs": answer["omitted_refs"]})
    assert [item["ref"] for item in whole["items"]] == answer["omitted_refs"]
    assert "omitted_refs" not in call(ada, "get", {"refs": refs})


def test_many_that_are_left_out_are_named_as_far_as_there_is_room(ada: Caller) -> None:
    for n in range(50):
        set_decision(caller=ada, key=f"sessions/limits/{n}", value=TEXT)
    refs = [f"decision:sessions/limits/{n}" for n in range(50)]
    answer = call(ada, "get", {"refs": refs, "max_tokens": 600})
    shown, named = len(answer["items"]), answer["omitted_refs"]
    assert named == refs[shown : shown + len(named)]
    assert 1 < len(named) < answer["omitted"] == 50 - shown
    assert size(answer) <= 600


@pytest.mark.usefixtures("ids")
@pytest.mark.parametrize("format_", ["rows", "objects"])
def test_the_first_row_keeps_all_fields_and_its_texts_are_cut(ada: Caller, format_: str) -> None:
    page = call(ada, "message", {"action": "inbox", "format": format_, "max_tokens": 250})
    row = (
        page["items"][0] if format_ == "objects" else dict(zip(page["columns"], page["rows"][0], strict=True))
    )
    assert {"id", "from", "to", "type", "priority", "text", "payload", "thread", "ack", "at"} <= set(row)
    assert row["text"].endswith("…")
    assert row["payload"]["why"].endswith("…")
    assert TEXT.startswith(row["text"].removesuffix("…"))


@pytest.mark.usefixtures("ids")
@pytest.mark.parametrize("budget", [1, 20, 60, 100, 200, 500])
@pytest.mark.parametrize("detail", ["full", "digest"])
def test_get_keeps_its_budget_and_returns_the_first_item(ada: Caller, budget: int, detail: str) -> None:
    refs = ["decision:sessions/ttl", "decision:nothing", "decision:sessions/ttl-1"]
    answer = call(ada, "get", {"refs": refs, "max_tokens": budget, "detail": detail})
    assert size(answer) <= max(budget, SMALLEST)
    assert answer["items"][0]["ref"] == refs[0]
    assert answer["missing"] == refs[1:2]
    assert len(answer["items"]) + answer.get("omitted", 0) == 2


@pytest.mark.parametrize("budget", BUDGETS[:-1])
def test_scratchpads_keep_their_budget(ada: Caller, ids: dict[str, int], budget: int) -> None:
    pads = [ids["pad"], ids["pad"] - 1, 999_999]
    answer = call(ada, "scratchpad", {"action": "get", "scratchpad_ids": pads, "max_tokens": budget})
    assert size(answer) <= max(budget, SMALLEST)
    assert len(answer["scratchpads"]) + answer.get("omitted", 0) == 2
    outline = {"action": "get", "scratchpad_id": ids["pad"], "outline": True, "max_tokens": budget}
    assert size(call(ada, "scratchpad", outline)) <= max(budget, SMALLEST)


PATHS = ["decisions/?full=true&", "messages/?", "constraints/?", "memories/?", "changes/?", "workflows/?"]


@pytest.mark.parametrize("path", PATHS)
def test_a_page_over_rest_shows_one_item_with_all_its_fields(
    ada: Caller, ada_rest: RestClient, ids: dict[str, int], path: str
) -> None:
    [fields] = {tuple(item) for item in ada_rest.get(path).body["items"][:1]}
    cursor = ""
    for _ in range(3):
        page = ada_rest.get(f"{path}max_tokens=1{cursor}").body
        assert (page["count"], page["truncated"], tuple(page["items"][0])) == (1, True, fields)
        cursor = f"&cursor={page['next']}"
