"""Registers the admin pages and dashboard panels of the memory app."""

import memory.constraints.admin
import memory.decisions.admin.decisions
import memory.decisions.admin.most_changed
import memory.decisions.admin.templates
import memory.decisions.admin.timeline
import memory.memories.admin.contexts
import memory.memories.admin.memories
import memory.memories.admin.relationships
import memory.overview
import memory.scratchpads.admin.needs
import memory.scratchpads.admin.scratchpads
import memory.scratchpads.admin.workflows
import memory.snapshots.admin.snapshots
