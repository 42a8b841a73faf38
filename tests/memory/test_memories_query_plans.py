"""Lists of memories read an index in their sort order: a page costs the same however many rows there are."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import now
from ctxhub.core.models import Tag
from ctxhub.core.vocabulary.names import register_agent
from ctxhub.toolbox.dispatch import call
from memory.memories.queries import turns_of
from memory.models import Context, Memory, MemoryTag
from tests.databases import statements_within_cpu_seconds, take_statistics
from tests.query_plans import explained, plan_by_indexes, sorts_inside, start_compact

QUERIES: list[tuple[dict[str, Any], str]] = [
    ({}, "memory_memory_by_time"),
    ({"context": "c1"}, "memory_memory_by_(context|time)"),
    ({"context": "rare"}, "memory_memory_by_context"),
    ({"type": "idea"}, "memory_memory_by_(type|time)"),
    ({"stack": "s1"}, "memory_memory_by_(stack|time)"),
    ({"stack": "rare"}, "memory_memory_by_stack"),
    ({"difficulty": "hard"}, "memory_memory_by_(difficulty|time)"),
    ({"context": "c1", "type": "idea"}, "memory_memory_by_(context|type|time)"),
    ({"context": "rare", "type": "note", "difficulty": "easy"}, "memory_memory_by_(context|difficulty)"),
    ({"stack": "rare", "difficulty": "easy", "type": "note"}, "memory_memory_by_(stack|difficulty)"),
    ({"tags": ["t1"]}, "memory_memorytag_by_time"),
    ({"tags": ["t1", "t2", "all"]}, "memory_memorytag_by_time"),
    ({"tags": ["t1"], "type": "idea"}, "memory_memorytag_by_time"),
    ({"tags": ["t1"], "context": "c1", "stack": "s1"}, "memory_memorytag_by_time"),
]


@pytest.fixture
def many(ada: Caller) -> Caller:
    start_compact(Memory)
    fill(ada, 1_200)
    plan_by_indexes()
    return ada


def fill(caller: Caller, count: int) -> None:
    """Writes rows in bulk, as an import does."""
    project, agent_id = caller.project, register_agent(caller, now())
    names = ["c0", "c1", "c2", "rare"]
    contexts = Context.unscoped.bulk_create(
        [Context(project=project, name=name, folded=name) for name in names]
    )
    rows = []
    for n in range(count):
        is_rare = n % 40 == 0
        stack = "rare" if is_rare else f"s{n % 2}"
        rows.append(
            Memory(
                project=project,
                context=contexts[3 if is_rare else n % 3],
                title=f"m{n}",
                content="x",
                digest="x",
                type=1 if is_rare else n // 7 % 6 + 1,
                difficulty=1 if is_rare else (None, 2, 3)[n % 3],
                stack=stack,
                folded_stack=stack,
                agent_id=agent_id,
            )
        )
    made = Memory.unscoped.bulk_create(rows)
    words = {name: Tag(project=project, name=name, folded=name) for name in ("all", "t0", "t1", "t2")}
    Tag.unscoped.bulk_create(words.values())
    MemoryTag.unscoped.bulk_create(
        MemoryTag(project=project, memory=row, tag=words[name], updated_at=row.updated_at)
        for n, row in enumerate(made)
        for name in ("all", f"t{n // 6 % 3}")
    )


@pytest.mark.parametrize("page", ["first", "next"])
def test_a_list_reads_an_index_in_its_sort_order(many: Caller, page: str) -> None:
    for query, index in QUERIES:
        plan = explained(statement(many, query, page))
        assert re.search(rf"\b{index}\b", plan), (query, plan)
        assert not sorts_inside(plan), (query, plan)


def test_turns_beside_a_memory_are_read_from_the_context_index(many: Caller) -> None:
    found = list(Memory.objects.in_project(many.project).filter(type=2).values_list("pk", flat=True)[:20])
    with CaptureQueriesContext(connection) as captured:
        turns = sql.rows(*turns_of(many.project_id, found))
    assert len({row[0] for row in turns}) == 20
    [query] = captured.captured_queries
    plan = explained(query["sql"])
    assert len(re.findall(r"\bmemory_memory_by_context\b", plan)) == 4, plan
    assert not re.search(r"Sort|TEMP B-TREE", plan), plan


def statement(caller: Caller, query: dict[str, Any], page: str) -> str:
    """The SQL statement that fetched the rows of the page."""
    arguments = {"action": "list", "limit": 5, **query}
    if page == "next":
        arguments["cursor"] = call(caller, "memory", arguments)["next"]
    with CaptureQueriesContext(connection) as captured:
        assert call(caller, "memory", arguments)["count"] == 5
    [found] = [query["sql"] for query in captured.captured_queries if "JOIN memory_context" in query["sql"]]
    return str(found)


def test_every_page_continues_where_the_last_one_ended(many: Caller) -> None:
    for query, _ in QUERIES:
        whole = ids(many, {**query, "limit": 200})
        assert ids(many, {**query, "limit": 37}) == whole
        listed = call(many, "memory", {"action": "list", **query})
        assert len(whole) == len(set(whole))
        assert listed["total"] == min(len(whole), 1_000)


def ids(caller: Caller, query: dict[str, Any]) -> list[int]:
    found: list[int] = []
    arguments = {"action": "list", **query}
    while True:
        page = call(caller, "memory", arguments)
        found += [row[0] for row in page["rows"]]
        if "next" not in page:
            return found
        arguments["cursor"] = page["next"]


def test_a_list_is_quick_with_statistics_of_empty_tables(ada: Caller) -> None:
    """As in a new server that takes an import: PostgreSQL then expects one row in each table."""
    take_statistics()
    fill(ada, 1_200)
    with statements_within_cpu_seconds(2):
        for query, _ in QUERIES:
            assert call(ada, "memory", {"action": "list", "limit": 20, **query})["count"] == 20


def test_contexts_are_read_from_an_index(many: Caller) -> None:
    names = [f"more {n}" for n in range(400)]
    Context.unscoped.bulk_create(Context(project=many.project, name=name, folded=name) for name in names)
    take_statistics()
    with CaptureQueriesContext(connection) as captured:
        assert call(many, "memory", {"action": "contexts", "limit": 2})["count"] == 2
    [found] = [query["sql"] for query in captured.captured_queries if "WITH page" in query["sql"]]
    assert "memory_context_by_time" in explained(found)
