"""Workflows and scratchpads, as tests say them."""

from typing import Any

from ctxhub.core.caller import Caller
from ctxhub.core.models import Event, Project
from memory.models import Scratchpad, ScratchpadRevision
from memory.services.scratchpads import create_scratchpad
from memory.services.workflows import create_workflow
from tests.tallies import counted, tallied

LIMIT = 1_048_576


def begin(caller: Caller, name: str | None = "Code Refactoring Task", **rest: Any) -> int:
    return create_workflow(caller=caller, name=name, **rest)["workflow_id"]


def pad_of(
    caller: Caller, content: str = "", name: str = "code_analysis", workflow: int | None = None
) -> int:
    """A new pad, in a new workflow unless one is named."""
    workflow = begin(caller) if workflow is None else workflow
    made = create_scratchpad(caller=caller, workflow_id=workflow, name=name, content=content)
    return made["scratchpad_id"]


def stored(pad_id: int) -> Scratchpad:
    return Scratchpad.unscoped.get(pk=pad_id)


def content_of(pad_id: int) -> str:
    return stored(pad_id).content


def states_of(pad_id: int) -> list[ScratchpadRevision]:
    return list(ScratchpadRevision.unscoped.filter(scratchpad_id=pad_id).order_by("number"))


def events_of(project: Project, noun: str) -> list[str]:
    """The verbs, in the order of the log."""
    events = Event.objects.in_project(project).filter(noun=noun).order_by("pk")
    return list(events.values_list("verb", flat=True))


def figures_are_right(project: Project) -> None:
    assert tallied(project) == counted(project)
