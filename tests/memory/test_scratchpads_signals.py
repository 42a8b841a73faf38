"""Workflows and pads written through the ORM leave what the services leave."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from ctxhub.core.caller import Caller, acting
from ctxhub.core.models import Event, Project
from memory.models import PadChange, Scratchpad, ScratchpadRevision, Workflow
from memory.selectors.scratchpads import content_at
from memory.services.scratchpads import append_to_scratchpad
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


def test_a_new_workflow_is_counted_and_signed(ada: Caller) -> None:
    with acting(ada):
        made = workflow_in(ada.project, metadata={"keep": "never"})
    assert made.agent
    assert (made.agent.name, made.is_kept) == ("ada", True)
    assert last_event(ada.project) == ("created", f"workflow:{made.pk}", {"note": "w"})
    figures_are_right(ada.project)


@pytest.mark.parametrize(
    ("change", "verb"),
    [
        ({"name": "other"}, "updated"),
        ({"metadata": {"team": "payments"}}, "updated"),
        ({"is_active": False}, "closed"),
        ({"is_active": False, "name": "other"}, "updated"),
    ],
)
@pytest.mark.parametrize("named", [False, True])
def test_a_change_is_one_event_and_has_its_time(
    workflow: Workflow, change: dict[str, Any], verb: str, named: bool
) -> None:
    before = workflow.updated_at
    for name, value in change.items():
        setattr(workflow, name, value)
    workflow.save(update_fields=list(change) if named else None)
    assert events_of(workflow.project, "workflow") == ["created", verb]
    assert Workflow.unscoped.get(pk=workflow.pk).updated_at > before


def test_what_keeps_it_follows_its_metadata_whatever_is_saved(workflow: Workflow) -> None:
    workflow.metadata = {"keep": "never"}
    workflow.save(update_fields=["metadata"])
    assert Workflow.unscoped.get(pk=workflow.pk).is_kept


def test_saving_it_as_it_is_leaves_nothing(workflow: Workflow) -> None:
    workflow.save()
    assert events_of(workflow.project, "workflow") == ["created"]


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


def test_a_new_pad_is_counted_measured_and_has_a_state(ada: Caller, workflow: Workflow) -> None:
    with acting(ada):
        pad = pad_in(workflow, "效能")
    assert pad.agent
    assert (pad.length, pad.size, pad.revision, pad.agent.name) == (2, 6, 1, "ada")
    [state] = states_of(pad.pk)
    assert (state.change, state.length, state.content) == (PadChange.CREATED, 2, None)
    assert events_of(ada.project, "scratchpad") == ["created"]
    figures_are_right(ada.project)


@pytest.mark.parametrize("named", [None, ["content"]])
def test_a_new_text_is_a_state_and_the_old_one_can_be_read(pad: Scratchpad, named: list[str] | None) -> None:
    pad.content = "brand new"
    pad.save(update_fields=named)
    found = Scratchpad.unscoped.get(pk=pad.pk)
    assert (found.length, found.size, found.revision) == (9, 9, 2)
    assert content_at(pad.project_id, pad.pk, 1) == "text"
    assert states_of(pad.pk)[-1].change == PadChange.REPLACED
    assert events_of(pad.project, "scratchpad") == ["created", "updated"]


def test_a_text_that_is_not_saved_is_no_state(pad: Scratchpad) -> None:
    pad.content, pad.name = "not saved", "renamed"
    pad.save(update_fields=["name"])
    found = Scratchpad.unscoped.get(pk=pad.pk)
    assert (found.content, found.name, found.length, found.revision) == ("text", "renamed", 4, 1)
    assert last_event(pad.project)[2]["changed"] == ["name"]


def test_appends_go_on_behind_it(ada: Caller, pad: Scratchpad) -> None:
    pad.content = "new"
    pad.save()
    append_to_scratchpad(caller=ada, scratchpad_id=pad.pk, content="er", separator="")
    assert content_of(pad.pk) == "newer"
    assert [content_at(pad.project_id, pad.pk, n) for n in (1, 2, 3)] == ["text", "new", "newer"]


def test_a_write_touches_its_workflow(pad: Scratchpad) -> None:
    before = Workflow.unscoped.get(pk=pad.workflow_id).updated_at
    pad.content = "new"
    pad.save()
    assert Workflow.unscoped.get(pk=pad.workflow_id).updated_at > before


@pytest.mark.parametrize("named", [None, ["workflow"], ["workflow_id"]])
def test_a_pad_that_moves_is_found_where_it_is(pad: Scratchpad, named: list[str] | None) -> None:
    """The fixture compares what the index narrows by."""
    pad.workflow = workflow_in(pad.project, name="other")
    pad.save(update_fields=named)
    assert last_event(pad.project)[2]["changed"] == ["workflow_id"]


def test_saving_a_pad_as_it_is_leaves_nothing(pad: Scratchpad) -> None:
    pad.save()
    assert events_of(pad.project, "scratchpad") == ["created"]
    assert len(states_of(pad.pk)) == 1


@pytest.mark.parametrize("many", [False, True])
def test_a_deleted_pad_is_one_event(pad: Scratchpad, many: bool) -> None:
    project, row_id = pad.project, pad.pk
    if many:
        Scratchpad.objects.in_project(project).filter(pk=row_id).delete()
    else:
        pad.delete()
    assert last_event(project)[:2] == ("deleted", f"scratchpad:{row_id}")
    figures_are_right(project)


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
