"""Registers the cleanup tasks of the memory app."""

from ctxhub.core.events.services.cleanup import cleanup_tasks
from memory.snapshots.retention import clean_snapshots
from memory.workflows.services import clean_workflows

cleanup_tasks += [
    lambda project_id, now, config: clean_workflows(project_id, now, config.scratchpad_days),
    lambda project_id, now, config: clean_snapshots(project_id, now, auto_prune=config.auto_prune),
]
