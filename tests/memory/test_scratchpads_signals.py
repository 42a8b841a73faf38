"""Writes of workflows and pads through the ORM have the same effects as the services."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from memory.models import PadChange, Scratchpad, ScratchpadRevision, Workflow
from memory.scratchpads.queries import content_at
from memory.scratchpads.services import append_to_scratchpad, update_scratchpad
from tests.memory.pads import assert_counters_are_right, content_of, events_of, pad_of, revisions_of

pytestmark = pytest.mark.usefixtures("index_is_kept")


def workflow_in(project: Project, **rest: Any) -> Workflow:
    objects: Any = Workflow.objects
    made: Workflow = objects.create(project=project, **{"name": "w", **rest})
    return made


def pad_in(workflow: Workflow, content: str = "text", **rest: Any) -> Scratchpad:
    objects: Any = Scratchpad.objects
    made: Scratchpad = objects.create(
        project=workflow.project, workflow=workflow, name="pad", content=content, **rest
    )
    return made


@pytest.fixture
def workflow(apollo: Project) -> Workflow:
    return workflow_in(apollo)


@pytest.fixture
def pad(workflow: Workflow) -> Scratchpad:
    return pad_in(workflow)


def last_event(project: Project) -> tuple[str, str, dict[str, Any]]:
    event = Event.objects.in_project(project).latest("pk")
    return event.verb, event.ref, event.data


# -- Workflows -------------------------------------------------------------------------------------


def test_closing_and_renaming_at_once_is_one_update(workflow: Workflow) -> None:
    workflow.is_active, workflow.name = False, "other"
    workflow.save()
    assert events_of(workflow.project, "workflow") == ["created", "updated"]


@pytest.mark.parametrize("many", [False, True])
def test_deleting_a_workflow_deletes_its_pads_in_one_event(pad: Scratchpad, many: bool) -> None:
    project, workflow = pad.project, pad.workflow
    row_id = workflow.pk
    pad_in(workflow)
    if many:
        Workflow.objects.in_project(project).filter(pk=row_id).delete()
    else:
        workflow.delete()
    assert last_event(project) == ("deleted", f"workflow:{row_id}", {"note": "w", "scratchpads": 2})
    assert events_of(project, "scratchpad") == ["created", "created"]
    assert not ScratchpadRevision.objects.in_project(project).exists()
    assert_counters_are_right(project)


# -- Pads ------------------------------------------------------------------------------------------


def test_appends_continue_after_an_orm_save(ada: Caller, pad: Scratchpad) -> None:
    pad.content = "new"
    pad.save()
    append_to_scratchpad(caller=ada, scratchpad_id=pad.pk, content="er", separator="")
    assert content_of(pad.pk) == "newer"
    assert [content_at(pad.project_id, pad.pk, n) for n in (1, 2, 3)] == ["text", "new", "newer"]


@pytest.mark.parametrize("named", [None, ["workflow"], ["workflow_id"]])
def test_a_moved_pad_is_indexed_in_its_new_workflow(pad: Scratchpad, named: list[str] | None) -> None:
    """The fixture compares the columns that the index filters by."""
    pad.workflow = workflow_in(pad.project, name="other")
    pad.save(update_fields=named)
    assert last_event(pad.project)[2]["changed"] == ["workflow_id"]


def test_moving_a_pad_touches_both_workflows(pad: Scratchpad) -> None:
    pad.workflow = workflow_in(pad.project, name="other")
    before = pad.workflow.updated_at
    pad.save()
    assert all(workflow.updated_at > before for workflow in Workflow.objects.in_project(pad.project))


def test_deleting_a_project_deletes_its_pads(pad: Scratchpad) -> None:
    pad.project.delete()
    assert not Scratchpad.unscoped.exists()
    assert not ScratchpadRevision.unscoped.exists()


def test_revision_numbers_are_unique(ada: Caller) -> None:
    pad = pad_of(ada)
    rows: Any = ScratchpadRevision.objects
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.create(project=ada.project, scratchpad_id=pad, number=1, change=PadChange.CREATED, length=0)


def test_str_and_ref_name_each_row(pad: Scratchpad, apollo: Project) -> None:
    assert (str(pad), pad.ref) == ("pad", f"scratchpad:{pad.pk}")
    assert (str(pad.workflow), pad.workflow.ref) == ("w", f"workflow:{pad.workflow_id}")
    assert str(workflow_in(apollo, name="")).startswith("workflow ")
    assert str(revisions_of(pad.pk)[0]) == f"{pad.pk} as it was at 1"


def test_saving_a_stale_pad_keeps_its_revision(pad: Scratchpad, ada: Caller) -> None:
    stale = Scratchpad.objects.in_project(pad.project).get()
    for text in ("other", "text"):
        update_scratchpad(caller=ada, scratchpad_id=pad.pk, content=text)
    stale.save()
    stale.refresh_from_db()
    assert stale.revision == 3
    update_scratchpad(caller=ada, scratchpad_id=pad.pk, content="more")
    assert content_at(pad.project_id, pad.pk, 4) == "more"
