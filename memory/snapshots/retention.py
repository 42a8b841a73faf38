"""The cleanup tasks of snapshots, which run with the first write of a minute."""

from collections.abc import Mapping
from datetime import datetime

from memory.snapshots.services.learning import decide_some
from memory.snapshots.services.pruning import prune_some
from memory.snapshots.services.tiers import retier_some


def clean_snapshots(project_id: int, now: datetime, *, auto_prune: bool) -> Mapping[str, int]:
    """Correct stored tiers, decide predictions and, with `auto_prune`, prune: a few of each.

    Called inside the project's transaction. Returns how many snapshots were pruned.
    """
    retier_some(project_id, now)
    decide_some(project_id, now)
    return prune_some(project_id, now) if auto_prune else {}
