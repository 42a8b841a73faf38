"""Registers the cleanup tasks of the memory app."""

from ctxhub.core.events.services.cleanup import cleanup_tasks
from memory.scratchpads.services.workflows import clean_workflows
from memory.snapshots.retention import clean_snapshots

cleanup_tasks += [clean_workflows, clean_snapshots]
