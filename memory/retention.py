"""Registers the cleanup tasks of the memory app, which run with the first write of a minute."""

from collections.abc import Mapping
from datetime import datetime

from ctxhub.core.events.cleanup import cleanup_tasks
from memory.predictions.learning import decide_some
from memory.snapshots.tiers import prune_some, retier_some
from memory.workflows.services import clean_workflows


def clean_snapshots(project_id: int, now: datetime, *, auto_prune: bool) -> Mapping[str, int]:
    """Correct stored tiers, decide predictions and, with `auto_prune`, prune: a few of each.

    Called inside the project's transaction. Returns how many snapshots were pruned.
    """
    retier_some(project_id, now)
    decide_some(project_id, now)
    return prune_some(project_id, now) if auto_prune else {}


cleanup_tasks += [
    lambda project_id, now, config: clean_workflows(project_id, now, config.scratchpad_days),
    lambda project_id, now, config: clean_snapshots(project_id, now, auto_prune=config.auto_prune),
]
