"""Lists of workflows, pads and revisions read an index in their sort order, however many rows there are."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.toolbox.dispatch import call
from memory.models import PadChange, Scratchpad, ScratchpadRevision, Workflow
from memory.workflows.rows import idle_workflows
from tests.query_plans import explained, plan_by_indexes, sorts_inside, start_compact

FIRST, NEXT = "first", "next"


@pytest.fixture
def many(ada: Caller, ben: Caller) -> Caller:
    """Rows written in bulk, as an import does; the first 40 pads have 30 revisions each."""
    start_compact(Workflow, Scratchpad)
    created = Workflow.unscoped.bulk_create(
        Workflow(
            project=ada.project,
            name=f"w{n}",
            is_active=n % 3 > 0,
            is_kept=n % 5 == 0,
            updated_at=clock.now() - timedelta(days=n),
        )
        for n in range(400)
    )
    pads = Scratchpad.unscoped.bulk_create(
        Scratchpad(project=ada.project, workflow=workflow, name=f"p{n}", content="x" * 500, size=500)
        for workflow in created
        for n in range(3)
    )
    ScratchpadRevision.unscoped.bulk_create(
        ScratchpadRevision(project=ada.project, scratchpad=pad, number=n, change=PadChange.APPENDED, length=n)
        for pad in pads[:40]
        for n in range(1, 31)
    )
    plan_by_indexes()
    return ada


def first_workflow(caller: Caller) -> int:
    return Workflow.objects.in_project(caller.project).earliest("pk").pk


def first_pad(caller: Caller) -> int:
    return Scratchpad.objects.in_project(caller.project).earliest("pk").pk


def statement(caller: Caller, action: str, page: str, marker: str, **query: Any) -> str:
    """The SQL statement that fetched the rows of the page."""
    arguments = {"action": action, "limit": 2, **query}
    if page == NEXT:
        arguments["cursor"] = call(caller, "scratchpad", arguments)["next"]
    with CaptureQueriesContext(connection) as captured:
        assert call(caller, "scratchpad", arguments)["rows"]
    found = [
        captured_query["sql"]
        for captured_query in captured.captured_queries
        if marker in captured_query["sql"]
    ]
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize("page", [FIRST, NEXT])
@pytest.mark.parametrize(
    ("query", "index"),
    [
        ({}, "memory_workflow_by_time"),
        ({"active": True}, "memory_workflow_by_(active|time)"),
        ({"active": False}, "memory_workflow_by_(active|time)"),
    ],
    ids=str,
)
def test_workflows_are_read_in_index_order(
    many: Caller, page: str, query: dict[str, Any], index: str
) -> None:
    plan = explained(statement(many, "workflows", page, "WITH page", **query))
    assert re.search(rf"\b{index}\b", plan), plan
    assert not sorts_inside(plan), plan


@pytest.mark.parametrize("page", [FIRST, NEXT])
def test_pads_are_read_in_index_order(many: Caller, page: str) -> None:
    plan = explained(statement(many, "list", page, "WITH page", workflow_id=first_workflow(many)))
    assert re.search(r"\bmemory_scratchpad_by_workflow\b", plan), plan
    assert not sorts_inside(plan), plan


@pytest.mark.parametrize("page", [FIRST, NEXT])
def test_revisions_are_read_in_index_order(many: Caller, page: str) -> None:
    plan = explained(statement(many, "revisions", page, "ORDER BY r.number", scratchpad_id=first_pad(many)))
    assert re.search(r"\bmemory_one_state_per_number\b|autoindex_memory_scratchpadrevision", plan), plan
    assert_sorts_nothing(plan)


def test_idle_workflows_are_found_by_index(many: Caller) -> None:
    with CaptureQueriesContext(connection) as captured:
        assert idle_workflows(many.project_id, clock.now() - timedelta(days=300), 5)
    plan = explained(captured.captured_queries[0]["sql"])
    assert re.search(r"\bmemory_workflow_by_(rest|time)\b", plan), plan
    assert_sorts_nothing(plan)


def assert_sorts_nothing(plan: str) -> None:
    assert not re.search(r"USE TEMP B-TREE|(?<!Incremental )Sort +\(cost", plan), plan


def test_an_append_reads_no_text_but_the_last_passage(ada: Caller) -> None:
    workflow = call(ada, "scratchpad", {"action": "create_workflow"})["workflow_id"]
    pad_arguments = {"action": "create", "workflow_id": workflow, "name": "x", "content": "word " * 100_000}
    pad = call(ada, "scratchpad", pad_arguments)["scratchpad_id"]
    with CaptureQueriesContext(connection) as captured:
        call(ada, "scratchpad", {"action": "append", "scratchpad_id": pad, "content": "new"})
    statements = [query["sql"] for query in captured.captured_queries]
    assert max(map(len, statements)) < 20_000
    assert [statement for statement in statements if "substr(content" in statement]
    # The append reads only as much of the old text as the start of a credential may need.
    assert not [
        statement for statement in statements if re.search(r"d\.content(?! AS BLOB\), -|, 10240)", statement)
    ]
