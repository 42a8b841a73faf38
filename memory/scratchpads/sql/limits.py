"""Reads pads and workflows that are nearly full, in all of some projects."""

from collections.abc import Sequence
from datetime import datetime

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from memory.scratchpads.models.scratchpad import NEARLY_FULL_BYTES

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
