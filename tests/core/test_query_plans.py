"""Lists read an index in their own order: a page costs the same however many rows there are."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import SearchText, Tag
from ctxhub.toolbox.dispatch import call
from memory.decisions.rows import DECISIONS
from memory.decisions.services import set_decision_batch
from memory.models import Decision, DecisionScope, DecisionTag
from tests.databases import statements_within_cpu_seconds, take_statistics
from tests.query_plans import explained, plan_by_indexes, sorts_inside, start_compact

INDEXES: list[tuple[dict[str, Any], str]] = [
    ({"status": "any"}, "memory_decision_newest"),
    ({}, "memory_decision_(by_status|newest)"),
    ({"since": "1h"}, "memory_decision_(by_status|newest)"),
    ({"exclude_tags": ["t1"]}, "memory_decision_(by_status|newest)"),
    ({"layer": "data"}, "memory_decision_by_layer"),
    ({"by": "ada"}, "memory_decision_by_agent"),
    ({"tags": ["t1"]}, "memory_decisiontag_newest"),
    ({"tags": ["t1", "t2"]}, "memory_decisiontag_newest"),
    ({"tags": ["t1", "all"], "match": "all"}, "memory_decisiontag_newest"),
    ({"tags": ["t1"], "layer": "data"}, "memory_decisiontag_newest"),
    ({"scope": "s/1"}, "memory_decisionscope_newest"),
    ({"scope": "s/1*"}, "memory_decisionscope_newest"),
    ({"scope": "*"}, "memory_decision_(by_status|newest)"),
    ({"scope": "u/*"}, "memory_decision_(by_status|newest)"),
    ({"sort": "key"}, "(sqlite_autoindex_memory_decision_1|memory_one_decision_per_key)"),
    ({"sort": "version"}, "memory_decision_by_version"),
]
PAGES: list[dict[str, Any]] = [{"order": "desc"}, {"order": "asc"}, {"cursor": "next"}]


@pytest.fixture
def many(ada: Caller, ben: Caller) -> Caller:
    start_compact(Decision)
    fill(ada, 300)
    fill(ben, 600, start=300)
    plan_by_indexes()
    return ada


def fill(caller: Caller, end: int, start: int = 0) -> None:
    for first in range(start, end, 50):
        items = [
            {
                "key": f"k/{n}",
                "value": n,
                "layer": ("data", "business")[n % 2],
                "status": "draft" if n % 9 == 0 else "active",
                "tags": [f"t{n % 7}", "all"],
                "scopes": [f"s/{n % 15}", f"u/{n}"],
            }
            for n in range(first, first + 50)
        ]
        set_decision_batch(caller=caller, items=items)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_list_reads_an_index_in_its_own_order(many: Caller, page: dict[str, Any]) -> None:
    for query, index in INDEXES:
        for statement in statements(many, query, page):
            plan = explained(statement)
            assert re.search(rf"\b{index}\b", plan), (query, plan)
            assert not sorts_inside(plan), (query, plan)


def statements(caller: Caller, query: dict[str, Any], page: dict[str, Any]) -> Iterator[str]:
    """The statement that the call really ran for the rows of the page."""
    arguments = {"action": "list", "limit": 5, **query, **page}
    if "cursor" in page:
        arguments["cursor"] = call(caller, "decision", {"action": "list", "limit": 5, **query})["next"]
    with CaptureQueriesContext(connection) as captured:
        assert call(caller, "decision", arguments)["count"] == 5
    found = [query["sql"] for query in captured.captured_queries if "JOIN core_layer" in query["sql"]]
    assert len(found) == 1
    yield from found


def test_a_sort_in_a_plan_is_detected(many: Caller) -> None:
    statement = """
        WITH page AS MATERIALIZED (
            SELECT id FROM memory_decision WHERE project_id > 0 ORDER BY rationale LIMIT 5)
        SELECT * FROM page JOIN memory_decision d ON d.id = page.id ORDER BY d.updated_at"""
    assert sorts_inside(explained(statement))


def test_the_rarest_tag_comes_first_in_any_order_of_input(many: Caller) -> None:
    ids = dict(Tag.objects.in_project(many.project_id).values_list("name", "pk"))
    common, rare = [ids["all"]], [ids["t1"]]
    assert DECISIONS.links["tags"].rarest_first([common, rare]) == [rare, common]
    assert DECISIONS.links["tags"].rarest_first([rare, common]) == [rare, common]


def test_a_list_is_quick_with_statistics_of_empty_tables(ada: Caller) -> None:
    """As in a new hub during an import: PostgreSQL then expects one row of each table."""
    fill(ada, 600)
    for model in (DecisionTag, DecisionScope, Decision):
        model.objects.in_project(ada.project_id).delete()
    take_statistics()
    fill(ada, 1_200)
    with statements_within_cpu_seconds(2):
        for query, _ in INDEXES:
            assert call(ada, "decision", {"action": "list", "limit": 20, **query})["count"] == 20


def test_passages_are_deleted_by_id(ada: Caller) -> None:
    """PostgreSQL expects a range of ids to be a part of the table, and scanned all of it."""
    start_compact(SearchText)
    fill(ada, 2_000)
    take_statistics()
    with CaptureQueriesContext(connection) as captured:
        call(ada, "delete", {"refs": ["decision:k/7"]})
    [deletion] = [
        query["sql"] for query in captured.captured_queries if "DELETE FROM core_searchtext" in query["sql"]
    ]
    assert not re.search(
        "Seq Scan on core_searchtext|SCAN (core_searchtext|t)$", explained(deletion), re.MULTILINE
    )
