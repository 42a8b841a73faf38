"""Lists of workflows and pads walk an index in their own order, however many there are."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.toolbox.dispatch import call
from memory.models import PadChange, Scratchpad, ScratchpadRevision, Workflow
from memory.scratchpads.rows.workflows import idle_workflows
from tests.query_plans import explained, plan_by_indexes, sorts_inside, start_compact

FIRST, NEXT = "first", "next"


@pytest.fixture
def many(ada: Caller, ben: Caller) -> Caller:
    """Many at once, as an import writes them; each pad of the first workflow was 30 times something else."""
    start_compact(Workflow, Scratchpad)
    made = Workflow.unscoped.bulk_create(
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
        for workflow in made
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
    """What the database was really asked for the page's rows."""
    given = {"action": action, "limit": 2, **query}
    if page == NEXT:
        given["cursor"] = call(caller, "scratchpad", given)["next"]
    with CaptureQueriesContext(connection) as captured:
        assert call(caller, "scratchpad", given)["rows"]
    found = [asked["sql"] for asked in captured.captured_queries if marker in asked["sql"]]
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
def test_workflows_are_walked_in_their_order(
    many: Caller, page: str, query: dict[str, Any], index: str
) -> None:
    plan = explained(statement(many, "workflows", page, "WITH page", **query))
    assert re.search(rf"\b{index}\b", plan), plan
    assert not sorts_inside(plan), plan


@pytest.mark.parametrize("page", [FIRST, NEXT])
def test_pads_are_walked_in_their_order(many: Caller, page: str) -> None:
    plan = explained(statement(many, "list", page, "WITH page", workflow_id=first_workflow(many)))
    assert re.search(r"\bmemory_scratchpad_by_workflow\b", plan), plan
    assert not sorts_inside(plan), plan


@pytest.mark.parametrize("page", [FIRST, NEXT])
def test_revisions_are_walked_in_their_order(many: Caller, page: str) -> None:
    plan = explained(statement(many, "revisions", page, "r.number <", scratchpad_id=first_pad(many)))
    assert re.search(r"\bmemory_one_state_per_number\b|autoindex_memory_scratchpadrevision", plan), plan
    assert_sorts_nothing(plan)


def test_the_idle_are_found_by_how_long_they_have_lain(many: Caller) -> None:
    with CaptureQueriesContext(connection) as captured:
        assert idle_workflows(many.project_id, clock.now() - timedelta(days=300), 5)
    plan = explained(captured.captured_queries[0]["sql"])
    assert re.search(r"\bmemory_workflow_by_(rest|time)\b", plan), plan
    assert_sorts_nothing(plan)


def assert_sorts_nothing(plan: str) -> None:
    assert not re.search(r"USE TEMP B-TREE|(?<!Incremental )Sort +\(cost", plan), plan


def test_an_append_reads_no_text_but_the_last_passage(ada: Caller) -> None:
    workflow = call(ada, "scratchpad", {"action": "create_workflow"})["workflow_id"]
    made = {"action": "create", "workflow_id": workflow, "name": "x", "content": "word " * 100_000}
    pad = call(ada, "scratchpad", made)["scratchpad_id"]
    with CaptureQueriesContext(connection) as captured:
        call(ada, "scratchpad", {"action": "append", "scratchpad_id": pad, "content": "new"})
    asked = [query["sql"] for query in captured.captured_queries]
    assert max(map(len, asked)) < 20_000
    assert [statement for statement in asked if "substr(content" in statement]
    # Of the text that was there no more than a credential may have begun in.
    assert not [
        statement for statement in asked if re.search(r"d\.content(?! AS BLOB\), -|, 10240)", statement)
    ]
