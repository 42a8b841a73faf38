"""Workflows and pads written through the ORM leave what the services leave."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from memory.models import PadChange, Scratchpad, ScratchpadRevision, Workflow
from memory.scratchpads.selectors.scratchpads import content_at
from memory.scratchpads.services.scratchpads import append_to_scratchpad
from tests.memory.pads import content_of, events_of, figures_are_right, pad_of, states_of

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


def test_one_that_is_closed_and_renamed_is_updated(workflow: Workflow) -> None:
    workflow.is_active, workflow.name = False, "other"
    workflow.save()
    assert events_of(workflow.project, "workflow") == ["created", "updated"]


@pytest.mark.parametrize("many", [False, True])
def test_a_deleted_workflow_takes_its_pads_with_it_in_one_event(pad: Scratchpad, many: bool) -> None:
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
    figures_are_right(project)


# -- Pads ------------------------------------------------------------------------------------------


def test_appends_go_on_behind_it(ada: Caller, pad: Scratchpad) -> None:
    pad.content = "new"
    pad.save()
    append_to_scratchpad(caller=ada, scratchpad_id=pad.pk, content="er", separator="")
    assert content_of(pad.pk) == "newer"
    assert [content_at(pad.project_id, pad.pk, n) for n in (1, 2, 3)] == ["text", "new", "newer"]


@pytest.mark.parametrize("named", [None, ["workflow"], ["workflow_id"]])
def test_a_pad_that_moves_is_found_where_it_is(pad: Scratchpad, named: list[str] | None) -> None:
    """The fixture compares what the index narrows by."""
    pad.workflow = workflow_in(pad.project, name="other")
    pad.save(update_fields=named)
    assert last_event(pad.project)[2]["changed"] == ["workflow_id"]


def test_a_pad_that_moves_touches_both_workflows(pad: Scratchpad) -> None:
    pad.workflow = workflow_in(pad.project, name="other")
    before = pad.workflow.updated_at
    pad.save()
    assert all(workflow.updated_at > before for workflow in Workflow.objects.in_project(pad.project))


def test_what_goes_with_its_whole_project_needs_nothing(pad: Scratchpad) -> None:
    pad.project.delete()
    assert not Scratchpad.unscoped.exists()
    assert not ScratchpadRevision.unscoped.exists()


def test_a_state_has_a_number_of_its_own(ada: Caller) -> None:
    pad = pad_of(ada)
    rows: Any = ScratchpadRevision.objects
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.create(project=ada.project, scratchpad_id=pad, number=1, change=PadChange.CREATED, length=0)


def test_each_says_what_it_is(pad: Scratchpad, apollo: Project) -> None:
    assert (str(pad), pad.ref) == ("pad", f"scratchpad:{pad.pk}")
    assert (str(pad.workflow), pad.workflow.ref) == ("w", f"workflow:{pad.workflow_id}")
    assert str(workflow_in(apollo, name="")).startswith("workflow ")
    assert str(states_of(pad.pk)[0]) == f"{pad.pk} as it was at 1"
