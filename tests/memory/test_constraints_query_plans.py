"""Query plans of constraint lists: each page reads an index in list order, whatever the number of rows."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import now
from ctxhub.core.models import Category, Layer, Scope, Tag
from ctxhub.core.vocabulary.names import register_agent
from ctxhub.toolbox.dispatch import call
from memory.constraints.models import digest_of, rank_of
from memory.models import Constraint, ConstraintScope, ConstraintTag
from tests.databases import statements_within_cpu_seconds, take_statistics
from tests.query_plans import explained, plan_by_indexes, sorts_inside, start_compact

INDEXES: list[tuple[dict[str, Any], str]] = [
    ({"status": "any"}, "memory_constraint_by_rank"),
    ({}, "memory_constraint_by_(status|rank)"),
    ({"status": "inactive"}, "memory_constraint_by_status"),
    ({"priority": "high"}, "memory_constraint_by_(status|rank)"),
    ({"category": "security"}, "memory_constraint_by_(status|rank)"),
    ({"category": "security", "priority": "low"}, "memory_constraint_by_(status|rank)"),
    ({"layer": "data"}, "memory_constraint_by_layer"),
    ({"layer": "data", "category": "security"}, "memory_constraint_by_layer"),
    ({"by": "ada"}, "memory_constraint_by_agent"),
    ({"tags": ["t1"]}, "memory_constrainttag_by_rank"),
    ({"tags": ["t1", "t2"]}, "memory_constrainttag_by_rank"),
    ({"tags": ["t1", "all"], "match": "all"}, "memory_constrainttag_by_rank"),
    ({"tags": ["t1"], "priority": "high"}, "memory_constrainttag_by_rank"),
    ({"tags": ["t1"], "category": "security", "layer": "data"}, "memory_constrainttag_by_rank"),
    ({"scope": "s/1"}, "memory_constraintscope_by_rank"),
    ({"scope": "s/1*"}, "memory_constraintscope_by_rank"),
    ({"scope": "*"}, "memory_constraint_by_(status|rank)"),
]


@pytest.fixture
def filled(ada: Caller, ben: Caller) -> Caller:
    start_compact(Constraint)
    fill(ada, 400)
    fill(ben, 800, start=400)
    plan_by_indexes()
    return ada


def fill(caller: Caller, end: int, start: int = 0) -> None:
    """Creates constraints in bulk, like an import."""
    project, agent_id = caller.project, register_agent(caller, now())
    categories = list(Category.objects.in_project(project).order_by("pk"))
    layers = list(Layer.objects.in_project(project).filter(name__in=("data", "business")))
    rows = []
    for n in range(start, end):
        category, priority = categories[n % 3], n % 4 + 1
        rows.append(
            Constraint(
                project=project,
                category=category,
                text=f"text {n}",
                digest=digest_of(f"text {n}"),
                rank=rank_of(priority, category.name),
                priority=priority,
                layer=layers[n // 4 % 2],
                agent_id=agent_id,
                status=2 if n % 9 == 0 else 1,
            )
        )
    created = Constraint.unscoped.bulk_create(rows)
    with_numbers = list(enumerate(created, start))
    link(caller, Tag, ConstraintTag, [(row, [f"t{n % 7}", "all"]) for n, row in with_numbers])
    link(caller, Scope, ConstraintScope, [(row, [f"s/{n % 15}", f"u/{n}"]) for n, row in with_numbers])


def link(
    caller: Caller, model: Any, link_model: Any, rows_with_names: list[tuple[Constraint, list[str]]]
) -> None:
    names = {name for _, row_names in rows_with_names for name in row_names}
    model.unscoped.bulk_create(
        [model(project=caller.project, name=name, folded=name) for name in sorted(names)],
        ignore_conflicts=True,
    )
    ids = dict(model.objects.in_project(caller.project).values_list("name", "pk"))
    link_model.unscoped.bulk_create(
        link_model(
            project=caller.project,
            constraint=row,
            rank=row.rank,
            created_at=row.created_at,
            **{f"{model._meta.model_name}_id": ids[name]},
        )
        for row, row_names in rows_with_names
        for name in row_names
    )


@pytest.mark.parametrize("page", ["first", "next"])
def test_a_list_reads_an_index_in_list_order(filled: Caller, page: str) -> None:
    for query, index in INDEXES:
        plan = explained(statement(filled, query, page))
        assert re.search(rf"\b{index}\b", plan), (query, plan)
        assert not sorts_inside(plan), (query, plan)


def statement(caller: Caller, query: dict[str, Any], page: str) -> str:
    """The SQL statement that reads the rows of the page."""
    arguments = {"action": "list", "limit": 5, **query}
    if page == "next":
        arguments["cursor"] = call(caller, "constraint", arguments)["next"]
    with CaptureQueriesContext(connection) as captured:
        assert call(caller, "constraint", arguments)["count"] == 5
    [found] = [query["sql"] for query in captured.captured_queries if "JOIN core_layer" in query["sql"]]
    return str(found)


def test_cursors_read_every_row_once_in_the_same_order(filled: Caller) -> None:
    for query, _ in INDEXES:
        expected = ids(filled, {**query, "limit": 200})
        assert ids(filled, {**query, "limit": 37}) == expected
        assert (
            len(expected)
            == len(set(expected))
            == call(filled, "constraint", {"action": "list", **query})["total"]
        )


def ids(caller: Caller, query: dict[str, Any]) -> list[int]:
    found: list[int] = []
    arguments = {"action": "list", **query}
    while True:
        page = call(caller, "constraint", arguments)
        found += [row[0] for row in page["rows"]]
        if "next" not in page:
            return found
        arguments["cursor"] = page["next"]


def test_lists_are_fast_with_statistics_of_empty_tables(ada: Caller) -> None:
    """As in a new hub during an import: PostgreSQL then expects one row in each table."""
    take_statistics()
    fill(ada, 1_200)
    with statements_within_cpu_seconds(2):
        for query, _ in INDEXES:
            assert call(ada, "constraint", {"action": "list", "limit": 20, **query})["count"] == 20
