"""What scratchpads tell a person on the first page: pads and workflows that are nearly full."""

from typing import TYPE_CHECKING

from django.urls import reverse

from ctxhub.core.admin.needs.sources import SHOWN, Ago, Found, Link, Name, Need, Part, Reader, sources
from ctxhub.core.kit.inputs import CONTENT_BYTES
from ctxhub.core.kit.priority import Priority
from memory.scratchpads.selectors.limits import PAD, find_filled
from memory.scratchpads.services.scratchpads import PADS_IN_WORKFLOW

if TYPE_CHECKING:
    from memory.scratchpads.sql.limits import Filled

NEARLY = 0.9


def filled_pads(reader: Reader) -> Found:
    found = find_filled(reader.project_ids, most_pads=round(PADS_IN_WORKFLOW * NEARLY), at_most=SHOWN)
    return Found(
        [_need(each, reader) for each in found],
        found[0].total if found else 0,
        "limits",
        "of scratchpads nearly reached",
        reader.list_url("memory_workflow", state="open"),
    )


def _need(filled: "Filled", reader: Reader) -> Need:
    is_pad = filled.what == PAD
    is_full = filled.size >= (CONTENT_BYTES if is_pad else PADS_IN_WORKFLOW)
    page = "memory_scratchpad" if is_pad else "memory_workflow"
    return Need(
        f"filled-{filled.what}-{filled.id}",
        filled.project_id,
        Priority.HIGH if is_full else Priority.MEDIUM,
        "speed",
        [*(_pad(filled) if is_pad else _workflow(filled)), ", last written ", Ago(filled.updated_at)],
        filled.updated_at,
        [Link("Open", reverse(f"admin:{page}_read", args=[filled.id]))],
    )


def _pad(filled: "Filled") -> list[Part]:
    percent = min(100 * filled.size // CONTENT_BYTES, 100)
    then = ": what agents append is cut off" if percent == 100 else ""
    return [
        "The pad ",
        Name(filled.name),
        " of ",
        Name(filled.workflow or "a workflow"),
        f" is {percent} % full{then}",
    ]


def _workflow(filled: "Filled") -> list[Part]:
    name = Name(filled.name or f"workflow {filled.id}")
    return ["The workflow ", name, f" has {filled.size} pads of at most {PADS_IN_WORKFLOW}"]


sources.append(filled_pads)
