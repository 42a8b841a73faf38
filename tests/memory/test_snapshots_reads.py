"""Views of snapshots, searches, and the accesses that reads leave."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import now
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.listing import with_rows
from ctxhub.toolbox.dispatch import call
from memory.models import Snapshot
from memory.snapshots.graph import find_graph
from tests.memory.snapshots import link, save, write

HOUR = timedelta(hours=1)


def ask(caller: Caller, action: str, **arguments: Any) -> dict[str, Any]:
    return call(caller, "snapshot", {"action": action, **arguments})


def ids(answer: dict[str, Any]) -> list[int]:
    return [row[0] for row in answer["rows"]]


def accesses(caller: Caller, snapshot_id: int) -> int:
    return Snapshot.objects.in_project(caller.project).get(pk=snapshot_id).access_count


def change(snapshot_id: int, **values: Any) -> None:
    Snapshot.unscoped.filter(pk=snapshot_id).update(**values)


# -- Views -----------------------------------------------------------------------------------------


def test_a_historian_loads_the_newest_one_unless_said(ada: Caller) -> None:
    found = write(ada, 3)
    assert ids(ask(ada, "load")) == found[2:]
    assert ids(ask(ada, "load", limit=2, view="HISTORIAN")) == [found[2], found[1]]


def test_a_prophet_loads_the_highest_scores_and_then_the_newest(ada: Caller) -> None:
    found = write(ada, 5)
    for n, score in ((0, 0.2), (1, 0.9), (2, 0.2)):
        change(found[n], prediction_score=score)
    in_order = [found[n] for n in (1, 2, 0, 4, 3)]
    assert ids(ask(ada, "load", limit=5, view="prophet")) == in_order
    assert ids(ask(ada, "load", limit=2, view="prophet")) == in_order[:2]


def test_an_archaeologist_loads_of_the_50_newest_those_not_read_for_longest(ada: Caller) -> None:
    found = write(ada, 52)
    for n, row_id in enumerate(found[:50]):
        change(row_id, last_accessed=now() - (100 + n) * HOUR)
    loaded = ids(ask(ada, "load", limit=5, view="archaeologist"))
    assert loaded == [found[n] for n in (51, 50, 49, 48, 47)]


def test_a_minimalist_sees_ids_and_summaries_alone(ada: Caller) -> None:
    row_id = save(ada, tags=["api"])
    loaded = ask(ada, "load", view="minimalist")
    assert loaded == {
        "columns": ["id", "summary"],
        "rows": [[row_id, "We keep sessions in Redis."]],
        "count": 1,
    }


def test_an_auditor_sees_sources_and_the_newest_by_agent(ada: Caller, ben: Caller) -> None:
    first, second = save(ben, source="api"), save(ada, source="editor")
    third = save(ben)
    loaded = ask(ada, "load", view="auditor", limit=5, format="objects")["items"]
    assert [(row["id"], row["agent"], row["source"]) for row in loaded] == [
        (second, "ada", "editor"),
        (third, "ben", "mcp"),
        (first, "ben", "api"),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"limit": 0}, "limit is 0"),
        ({"limit": 11}, "limit is 11"),
        ({"view": "critic"}, "view: 'critic' is not"),
    ],
)
def test_a_load_refuses_bad_input(ada: Caller, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        ask(ada, "load", **arguments)


def test_a_load_of_nothing_is_empty(ada: Caller) -> None:
    for view in ("historian", "prophet", "archaeologist", "minimalist", "auditor"):
        assert ask(ada, "load", view=view)["rows"] == []


# -- Search ----------------------------------------------------------------------------------------


def test_the_best_snapshots_are_found_first(ada: Caller, cy: Caller) -> None:
    best = save(ada, "Redis, Redis and Redis.", summary="Redis")
    other = save(ada, f"Redis was mentioned. {'Something else was said. ' * 50}", summary="Else")
    save(ada, "PostgreSQL")
    call(ada, "memory", {"title": "Redis", "content": "Redis"})
    found = ask(ada, "search", query="redis")
    assert (ids(found), found["total"]) == ([best, other], 2)
    assert found["columns"] == ["id", "action_type", "summary", "tier", "agent", "at"]
    assert ids(ask(ada, "search", query="redis", limit=1)) == [best]
    assert ask(cy, "search", query="redis")["rows"] == []


def test_a_view_orders_the_hits(ada: Caller, ben: Caller) -> None:
    best = save(ben, "Redis, Redis and Redis.", summary="Redis")
    other = save(ada, f"Redis was mentioned. {'Something else was said. ' * 50}", summary="Else")
    change(best, last_accessed=now())
    change(best, prediction_score=0.5)
    expected = {
        "historian": [other, best],
        "prophet": [best, other],
        "archaeologist": [other, best],
        "minimalist": [other, best],
        "auditor": [other, best],
    }
    for view, order in expected.items():
        assert ids(ask(ada, "search", query="redis", view=view)) == order, view
    assert ask(ada, "search", query="redis", view="minimalist")["columns"] == ["id", "summary"]
    assert "source" in ask(ada, "search", query="redis", view="auditor")["columns"]


def test_a_search_puts_a_mistyped_word_right(ada: Caller) -> None:
    row_id = save(ada, "PostgreSQL keeps the sessions.")
    found = ask(ada, "search", query="postgresq sesions")
    assert ids(found) == [row_id]


@pytest.mark.parametrize(
    "arguments", [{"query": " "}, {"query": "x", "limit": 0}, {"query": "x", "view": "y"}]
)
def test_a_search_refuses_bad_input(ada: Caller, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        ask(ada, "search", **arguments)


# -- Accesses --------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["get", "why", "load", "open"])
def test_a_read_is_an_access(ada: Caller, action: str) -> None:
    row_id = save(ada)
    if action == "open":
        call(ada, "get", {"refs": [f"snapshot:{row_id}"], "detail": "digest"})
    else:
        ask(ada, action, **({} if action == "load" else {"id": row_id}))
    row = Snapshot.objects.in_project(ada.project).get(pk=row_id)
    assert (row.access_count, row.touched_at) == (1, row.last_accessed)


def test_lists_searches_walks_and_the_graph_are_no_accesses(ada: Caller) -> None:
    row_id = save(ada)
    ask(ada, "list")
    ask(ada, "search", query="redis")
    ask(ada, "graph")
    for action in ("chain", "impact"):
        ask(ada, action, id=row_id)
    call(ada, "search", {"query": "redis"})
    assert accesses(ada, row_id) == 0


def test_a_refused_read_is_no_access(ada: Caller, cy: Caller) -> None:
    row_id = save(ada)
    assert call(cy, "get", {"refs": [f"snapshot:{row_id}"]})["missing"] == [f"snapshot:{row_id}"]
    assert accesses(ada, row_id) == 0


def test_an_answer_shows_the_state_before_its_access(ada: Caller) -> None:
    row_id = save(ada)
    assert ask(ada, "get", id=row_id)["access_count"] == 0
    second = ask(ada, "get", id=row_id)
    assert (second["access_count"], second["last_accessed"] is None) == (1, False)


def test_the_tier_follows_from_the_last_access(ada: Caller) -> None:
    [row_id] = write(ada, 1, at=now() - 800 * HOUR)
    assert ask(ada, "get", id=row_id)["tier"] == "expired"
    assert ask(ada, "get", id=row_id)["tier"] == "active"


# -- Content in parts ------------------------------------------------------------------------------


def test_a_long_content_is_read_in_parts(ada: Caller) -> None:
    content = "\n".join(f"line {n}" for n in range(1, 30_001))
    row_id = save(ada, content, rationale="one\ntwo")
    whole = ask(ada, "get", id=row_id)
    assert (whole["truncated"], whole["total_lines"]) == (True, 30_000)
    rest = ask(ada, "get", id=row_id, lines=whole["next_lines"])
    assert rest["content"].startswith(f"line {whole['next_lines'].split('-')[0]}\n")
    assert ask(ada, "get", id=row_id, lines="3-4")["content"] == "line 3\nline 4"
    assert ask(ada, "get", id=row_id, tail=1)["content"] == "line 30000"
    assert ask(ada, "get", id=row_id, lines="rationale:2")["rationale"] == "two"
    with pytest.raises(InvalidInput):
        ask(ada, "get", id=row_id, lines="3-4", tail=1)


# -- Graph -----------------------------------------------------------------------------------------


def test_a_graph_has_the_newest_snapshots_and_the_links_among_them(ada: Caller) -> None:
    base = save(ada, summary="x" * 100)
    left = save(ada, caused_by=base, action_type="decision")
    top = save(ada, caused_by=left, dependencies=[base])
    graph = ask(ada, "graph")
    assert graph["nodes"]["columns"] == ["id", "action_type", "tier", "summary"]
    assert graph["nodes"]["rows"][2] == [base, "conversation", "active", "x" * 60 + "…"]
    assert graph["edges"]["rows"] == [
        [top, left, "caused_by"],
        [left, base, "caused_by"],
        [top, base, "depends_on"],
    ]
    assert "more" not in graph
    two = ask(ada, "graph", limit=2)
    assert (ids(two["nodes"]), two["edges"]["rows"], two["more"]) == (
        [top, left],
        [[top, left, "caused_by"]],
        True,
    )


def test_a_graph_is_drawn_as_mermaid(ada: Caller) -> None:
    base = save(ada, summary='a"]b')
    top = save(ada, caused_by=base, summary="Next")
    assert ask(ada, "graph", mermaid=True) == {
        "mermaid": f'flowchart TD\n  s{top}["{top} conversation: Next"]\n'
        f'  s{base}["{base} conversation: a#34;#93;b"]\n  s{base} --> s{top}'
    }


def test_a_large_graph_keeps_to_the_limit_of_answers(ada: Caller) -> None:
    found = write(
        ada, 1_000, summary='[many] (words) {in} "a" summary that is longer than sixty characters are'
    )
    link(found[1:], found[:-1])
    for mermaid in (False, True):
        graph = ask(ada, "graph", limit=1_000, mermaid=mermaid)
        assert (graph["more"], "truncated" in graph) == (True, False)
    lines = graph["mermaid"].splitlines()
    boxes = [line for line in lines if '["' in line]
    assert len(lines) == 2 * len(boxes)
    assert len(boxes) > 100


@pytest.mark.parametrize("limit", [0, 1_001])
def test_a_graph_has_1_to_1000_nodes(ada: Caller, limit: int) -> None:
    with pytest.raises(InvalidInput, match="limit is"):
        ask(ada, "graph", limit=limit)


def test_a_graph_of_nothing_is_empty(ada: Caller) -> None:
    assert with_rows(find_graph(ada.project_id).answer(mermaid=True)) == {"mermaid": "flowchart TD"}


# -- Statements ------------------------------------------------------------------------------------

STATEMENTS: list[tuple[str, dict[str, Any]]] = [
    ("load", {"limit": 10}),
    ("load", {"limit": 10, "view": "prophet"}),
    ("search", {"query": "s1*"}),
    ("list", {"by": "ada", "tier": "active", "text": "s1*", "since": "1d"}),
    ("get", {}),
    ("why", {}),
    ("chain", {}),
    ("impact", {}),
    ("graph", {}),
]


@pytest.mark.parametrize(("action", "arguments"), STATEMENTS)
def test_the_number_of_statements_does_not_grow(ada: Caller, action: str, arguments: dict[str, Any]) -> None:
    counts = []
    for count in (3, 30):
        found = write(ada, count)
        link(found[1:], found[:-1])
        given = {"id": found[1]} if action in ("get", "why", "chain", "impact") else {}
        with CaptureQueriesContext(connection) as captured:
            ask(ada, action, **arguments, **given)
        counts.append(len(captured))
    assert counts[1] <= counts[0] <= 12
