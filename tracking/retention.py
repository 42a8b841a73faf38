"""Registers retention: old changes, and leases that ended long ago."""

from datetime import datetime

from ctxhub.core.events.cleanup import RetentionRule, cleanup_tasks, retention_rules
from tracking.changes.rows import count_before
from tracking.changes.services import remove_changes
from tracking.leases.services import forget_leases


def count_changes(project_id: int, before: datetime, *, sparing: bool) -> int:
    return count_before(project_id, before)


retention_rules.append(
    RetentionRule("changes", lambda config: config.changes_last, count_changes, remove_changes)
)
cleanup_tasks.append(lambda project_id, now, _: forget_leases(project_id, now))
