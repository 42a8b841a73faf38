"""What a cleanup does to snapshots: tiers, predictions, pruning."""

from collections.abc import Mapping
from datetime import datetime

from memory.predictions.learning import decide_some
from memory.snapshots.tiers import prune_some, retier_some


def clean_snapshots(project_id: int, now: datetime, *, auto_prune: bool) -> Mapping[str, int]:
    """Correct stored tiers, decide predictions and, with `auto_prune`, prune: a few of each.

    Called inside the project's transaction. Returns how many snapshots were pruned.
    """
    retier_some(project_id, now)
    decide_some(project_id, now)
    return prune_some(project_id, now) if auto_prune else {}
