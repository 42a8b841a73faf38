"""Pads and workflows that are nearly full, and what the first page says of them."""

from collections.abc import Sequence
from datetime import datetime

from django.urls import reverse

from ctxhub.console.needs.sources import SHOWN, Ago, FoundNeeds, Name, Need, PageLink, Part, Reader
from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import CONTENT_BYTES
from ctxhub.core.kit.priority import Priority
from memory.scratchpads.models import NEARLY_FULL_BYTES
from memory.scratchpads.services import PADS_IN_WORKFLOW

PAD, WORKFLOW = "pad", "workflow"


@frozen
class Filled:
    """A pad with its `size` in bytes, or a workflow with its number of pads, and when it was last written.

    `total`: how many there are of either.
    """

    what: str
    project_id: int
    id: int
    name: str
    workflow: str
    size: int
    updated_at: datetime
    total: int


def read_filled(project_ids: Sequence[int], most_pads: int, limit: int) -> list[Filled]:
    """Of open workflows: pads that are nine tenths full, and workflows of so many pads; the fullest first."""
    in_pads, pad_values = sql.among("p.project_id", project_ids)
    in_workflows, workflow_values = sql.among("w.project_id", project_ids)
    # The size is said as in the condition of the index memory_scratchpad_nearly_full.
    found = sql.rows(
        f"""
        WITH filled AS (
            SELECT '{PAD}' AS what, p.project_id, p.id, p.name, w.name AS workflow, p.size, p.updated_at
            FROM memory_scratchpad p JOIN memory_workflow w ON w.id = p.workflow_id
            WHERE {in_pads} AND p.size >= {NEARLY_FULL_BYTES} AND w.is_active
            UNION ALL
            SELECT * FROM (
                SELECT '{WORKFLOW}' AS what, w.project_id, w.id, w.name, w.name,
                    (SELECT count(*) FROM memory_scratchpad p WHERE p.workflow_id = w.id) AS size,
                    w.updated_at
                FROM memory_workflow w WHERE {in_workflows} AND w.is_active) counted WHERE size >= %s)
        SELECT what, project_id, id, name, workflow, size, updated_at, count(*) OVER () FROM filled
        ORDER BY size DESC, what, id LIMIT %s""",
        [*pad_values, *workflow_values, most_pads, limit],
    )
    return [
        Filled(what, project_id, row_id, name, workflow, size, sql.read_time(updated_at), total)
        for what, project_id, row_id, name, workflow, size, updated_at, total in found
    ]


__all__ = ["PAD", "WORKFLOW", "find_filled"]


def find_filled(project_ids: Sequence[int], *, most_pads: int, at_most: int) -> list[Filled]:
    """Pads that are nine tenths full, and workflows with `most_pads` pads, the fullest first."""
    return read_filled(project_ids, most_pads, at_most)


NEARLY = 0.9


def filled_pads(reader: Reader) -> FoundNeeds:
    found = find_filled(reader.project_ids, most_pads=round(PADS_IN_WORKFLOW * NEARLY), at_most=SHOWN)
    return FoundNeeds(
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
        [PageLink("Open", reverse(f"admin:{page}_read", args=[filled.id]))],
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
