"""Queries of relationships and texts use an index and never read a whole project."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.projects import create_project
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.memories.rows import MEMORIES
from memory.memories.similar import read_texts
from memory.models import Context, Memory, Relationship
from memory.relationships.rows import delete_edges_of, read_edges_from, read_edges_of, read_related
from tests.databases import take_statistics
from tests.query_plans import explained, start_compact

pytestmark = pytest.mark.django_db

Key = tuple[str, int]
ONE: Key = ("memory", 3)
FEW = [3, 5, 2_700]

RELATED = r"(source|target)_kind\b.*(source|target)_id\b"
# Each query, and the index or columns that its plan must name.
QUERIES: list[tuple[Callable[[int], object], str]] = [
    (lambda p: read_texts(p, FEW, 100), "PRIMARY KEY|memory_memory_pkey"),
    (lambda p: MEMORIES.read(p, FEW), "PRIMARY KEY|memory_memory_pkey"),
    (lambda p: read_edges_from(p, ONE, ("memory", 5)), RELATED),
    (lambda p: read_edges_of(p, [("memory", n) for n in FEW], 10), RELATED),
    (lambda p: read_related(p, ONE, "memory", FEW), RELATED),
    (lambda p: delete_edges_of(p, "memory", FEW), RELATED),
]


@pytest.fixture(scope="module")
def many(rows_of_module: Callable[[], AbstractContextManager[None]]) -> Caller:
    with rows_of_module():
        ada = Caller(project=create_project(slug="apollo"), agent="ada")
        fill(ada.project)
        return ada


def fill(project: Project) -> None:
    start_compact(Memory, Relationship)
    [context] = Context.unscoped.bulk_create([Context(project=project, name="c", folded="c")])
    Memory.unscoped.bulk_create(
        [Memory(project=project, context=context, title=f"t{n}", content="x") for n in range(4_000)]
    )
    Relationship.unscoped.bulk_create(
        [
            Relationship(
                project=project, source_kind="memory", source_id=n, target_kind="memory", target_id=n + 1
            )
            for n in range(4_000)
        ]
    )
    if connection.vendor == "postgresql":
        take_statistics()


@pytest.mark.parametrize(("query", "index"), QUERIES)
def test_a_few_rows_are_read_by_index(many: Caller, query: Callable[[int], object], index: str) -> None:
    with CaptureQueriesContext(connection) as captured:
        query(many.project_id)
    plan = explained(captured[-1]["sql"])
    assert re.search(index, plan), plan
    assert not re.search(r"\(project_id=\?\)|Seq Scan on memory_(memory|relationship)\b", plan), plan


def test_a_scan_of_the_project_would_be_noticed(many: Caller) -> None:
    plan = explained(f"SELECT title FROM memory_memory WHERE project_id = {many.project_id}")
    assert re.search(r"\(project_id=\?\)|Seq Scan on memory_memory", plan), plan
