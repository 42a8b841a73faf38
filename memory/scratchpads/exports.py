"""What workflows and scratchpads are in an export."""

from typing import Any

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.transfer import cleaners
from ctxhub.core.transfer.declaration import Exported, Part, Shifts, Values, register
from ctxhub.core.transfer.links import shifted
from memory.scratchpads.models import Scratchpad, ScratchpadRevision
from memory.workflows.models import Workflow
from memory.workflows.rows import is_kept


def _kept(values: Values) -> Values:
    return {"is_kept": is_kept(values["metadata"])}


def _sizes(values: Values) -> Values:
    text = values["content"]
    return {"length": len(text), "size": len(text.encode())}


def _shift_lengths(data: dict[str, Any], shifts: Shifts) -> None:
    """The states that are the beginnings of the content are as long as these are after its links changed."""
    length = len(data["content"])
    for state in reversed(data["revisions"]):
        if state["content"] is not None:
            break
        state["length"] = min(length, shifted(state["length"], [*shifts.get("content", ())]))


def _check_lengths(data: dict[str, Any], shifts: Shifts) -> None:
    """Raise InvalidInput for a state that is longer than the text that holds it."""
    _shift_lengths(data, shifts)
    text = len(data["content"])
    for state in reversed(data["revisions"]):
        text = len(state["content"]) if state["content"] is not None else text
        if state["length"] > text:
            raise InvalidInput(f"revisions: state {state['number']} is longer than the text that follows it.")


register(
    Exported(
        Workflow,
        derived=("is_kept",),
        derive=_kept,
        cleaners={"metadata": cleaners.object_},
        kind="workflow",
        loose=("updated_at",),
    ),
    Exported(
        Scratchpad,
        derived=("length", "size"),
        derive=_sizes,
        linked=("content",),
        kind="scratchpad",
        parts=(Part(ScratchpadRevision, name="revisions", owner="scratchpad_id", order=("number",)),),
        export=_shift_lengths,
        import_=_check_lengths,
    ),
)
