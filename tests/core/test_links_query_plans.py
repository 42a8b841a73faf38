"""Queries of links use an index and never read a whole project."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import pairwise

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.projects import create_project
from ctxhub.core.kit.caller import Caller
from ctxhub.core.links import Asked, Link
from ctxhub.core.registry import find_noun
from memory.decisions import versions
from memory.models import Decision, Relationship, Snapshot, SnapshotDependency
from memory.relationships import cause_links
from memory.snapshots import causes
from messaging.messages import queries
from messaging.models import Message
from tests.memory.snapshots import depend, write_chain
from tests.messaging.mail import known
from tests.messaging.many import fill
from tests.query_plans import explained, plan_by_indexes, start_compact

pytestmark = pytest.mark.django_db

TABLES = "memory_(decision|relationship|snapshot|snapshotdependency)|messaging_message"
READERS: list[tuple[str, Callable[[Asked], list[Link]]]] = [
    ("decision", versions.read_links),
    ("memory", cause_links.read_links),
    ("memory", cause_links.read_links_beside),
    ("snapshot", causes.read_links),
    ("message", queries.read_links),
]


@pytest.fixture(scope="module")
def many(rows_of_module: Callable[[], AbstractContextManager[None]]) -> Caller:
    with rows_of_module():
        ada = Caller(project=create_project(slug="apollo"), agent="ada")
        start_compact(Decision, Relationship, Snapshot, SnapshotDependency, Message)
        known(ada, ada.speaking_as("ben"))
        fill(ada, 600)
        ids = write_chain(ada, 2_000)
        depend(ada, pairwise(ids))
        Decision.unscoped.bulk_create(Decision(project=ada.project, key=f"k{n}") for n in range(2_000))
        Relationship.unscoped.bulk_create(
            Relationship(
                project=ada.project, source_kind="memory", source_id=n, target_kind="memory", target_id=n + 1
            )
            for n in range(2_000)
        )
        return ada


def plan(read: Callable[[], object]) -> str:
    with CaptureQueriesContext(connection) as captured:
        read()
    return "\n".join(explained(query["sql"]) for query in captured.captured_queries)


@pytest.mark.parametrize("to_causes", [True, False])
@pytest.mark.parametrize("ids", [[3, 5, 7], list(range(1, 200))])
@pytest.mark.parametrize(("kind", "read"), READERS)
def test_links_are_read_by_index(
    many: Caller, kind: str, read: Callable[[Asked], list[Link]], ids: list[int], to_causes: bool
) -> None:
    plan_by_indexes()
    asked = Asked(many.project_id, [(kind, row_id) for row_id in ids], to_causes, 100)
    found = plan(lambda: read(asked))
    assert not re.search(rf"SCAN ({TABLES}|[dlms])\b(?! USING)|Seq Scan on ({TABLES})\b", found), found
    assert not re.search(r"\(project_id=\?\)$", found, re.MULTILINE), found


def test_relationships_of_both_directions_are_read_by_index_with_one_statement(many: Caller) -> None:
    plan_by_indexes()
    with CaptureQueriesContext(connection) as captured:
        cause_links.read_direct_links(many.project_id, ("memory", 7), 100)
    [query] = captured.captured_queries
    found = explained(query["sql"])
    assert re.search("source_id", found), found
    assert re.search("target_id", found), found
    assert not re.search(rf"SCAN ({TABLES})\b(?! USING)|Seq Scan on ({TABLES})\b", found), found
    assert not re.search(r"\(project_id=\?\)$", found, re.MULTILINE), found


@pytest.mark.parametrize("kind", ["decision", "snapshot", "message"])
def test_heads_are_read_by_id(many: Caller, kind: str) -> None:
    plan_by_indexes()
    noun = find_noun(kind)
    assert noun
    assert noun.heads
    read = noun.heads
    found = plan(lambda: read(many.project_id, [3, 5, 7]))
    assert re.search("PRIMARY KEY|_pkey", found), found
