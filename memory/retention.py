"""Registers the cleanup task that deletes idle workflows."""

from ctxhub.core.events.services.cleanup import cleanup_tasks
from memory.scratchpads.services.workflows import clean_workflows

cleanup_tasks.append(clean_workflows)
