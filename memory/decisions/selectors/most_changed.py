"""The decisions that changed most often in a period."""

from collections.abc import Sequence
from datetime import datetime

from memory.decisions.sql.most_changed import ChangedDecision, read_most_changed


def most_changed(project_id: int, since: datetime, until: datetime, limit: int) -> Sequence[ChangedDecision]:
    """Those with most new versions first; without those that were only created. Runs one query."""
    return read_most_changed(project_id, since, until, limit)
