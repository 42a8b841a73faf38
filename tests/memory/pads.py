"""Helpers of tests that create and read workflows and scratchpads."""

from typing import Any

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from memory.models import PadChange, Scratchpad, ScratchpadRevision
from memory.scratchpads.services import create_scratchpad
from memory.workflows.services import create_workflow
from tests.tallies import counted, tallied

LIMIT = 1_048_576

SECTIONS = "# A\nx\n# B\ny"
# Arguments without a mode, the text that SECTIONS becomes with the content "new", and the recorded change.
INFERRED_MODES: list[tuple[dict[str, Any], str, PadChange]] = [
    ({}, "new", PadChange.REPLACED),
    ({"line": 2}, "# A\nnew\nx\n# B\ny", PadChange.INSERTED),
    ({"line": 2, "end": 3}, "# A\nnew\ny", PadChange.LINES_REPLACED),
    ({"line": 2, "end": 2}, "# A\nnew\n# B\ny", PadChange.LINES_REPLACED),
    ({"line": 2, "mode": "replace_lines"}, "# A\nnew\n# B\ny", PadChange.LINES_REPLACED),
    ({"section": "A"}, "# A\nnew\n# B\ny", PadChange.LINES_REPLACED),
    ({"section": "A", "line": None, "end": None}, "# A\nnew\n# B\ny", PadChange.LINES_REPLACED),
]
# Arguments that contradict each other, and the error message.
CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    ({"mode": "replace", "line": 1}, "mode replace does not go with line"),
    ({"mode": "replace", "end": 1}, "mode replace does not go with end"),
    ({"mode": "replace", "section": "A"}, "mode replace does not go with section"),
    ({"mode": "replace", "line": 1, "end": 2}, "mode replace does not go with line and end"),
    ({"mode": "replace", "section": ""}, "mode replace does not go with section"),
    ({"mode": "insert", "line": 1, "end": 2}, "mode insert does not go with end"),
    ({"mode": "insert", "line": 1, "section": "A"}, "mode insert does not go with section"),
    ({"mode": "insert", "section": "A"}, "mode insert does not go with section"),
    ({"mode": "replace_lines", "line": 1, "section": "A"}, "mode replace_lines does not go with section"),
    ({"mode": "section", "section": "A", "line": 1}, "mode section does not go with line"),
    ({"mode": "section", "section": "A", "end": 1}, "mode section does not go with end"),
    ({"section": "A", "line": 1}, "section does not go with line"),
    ({"section": "A", "line": 1, "end": 2}, "section does not go with line and end"),
    ({"section": "A", "end": 2}, "section does not go with end"),
]


def new_workflow(caller: Caller, name: str | None = "Code Refactoring Task", **rest: Any) -> int:
    return create_workflow(caller=caller, name=name, **rest)["workflow_id"]


def pad_of(
    caller: Caller, content: str = "", name: str = "code_analysis", workflow: int | None = None
) -> int:
    """A new pad, in a new workflow unless one is named."""
    workflow = new_workflow(caller) if workflow is None else workflow
    made = create_scratchpad(caller=caller, workflow_id=workflow, name=name, content=content)
    return made["scratchpad_id"]


def stored(pad_id: int) -> Scratchpad:
    return Scratchpad.unscoped.get(pk=pad_id)


def content_of(pad_id: int) -> str:
    return stored(pad_id).content


def revisions_of(pad_id: int) -> list[ScratchpadRevision]:
    return list(ScratchpadRevision.unscoped.filter(scratchpad_id=pad_id).order_by("number"))


def events_of(project: Project, noun: str) -> list[str]:
    """The verbs of the events, the oldest first."""
    events = Event.objects.in_project(project).filter(noun=noun).order_by("pk")
    return list(events.values_list("verb", flat=True))


def assert_counters_are_right(project: Project) -> None:
    assert tallied(project) == counted(project)
