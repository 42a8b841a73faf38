"""What this app does not keep for ever: workflows that nobody writes to any more."""

from ctxhub.core.events.services.retention import cleanup_tasks
from memory.scratchpads.services.workflows import clean_workflows

cleanup_tasks.append(clean_workflows)
