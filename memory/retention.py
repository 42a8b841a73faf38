"""What this app does not keep for ever: workflows that nobody writes to any more."""

from ctxhub.core.events.services.retention import chores
from memory.scratchpads.services.workflows import clean_workflows

chores.append(clean_workflows)
