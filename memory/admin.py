"""Registers the admin pages and dashboard panels of the memory app."""

import memory.constraints.admin
import memory.contexts.admin
import memory.decisions.admin
import memory.decisions.timeline
import memory.memories.admin
import memory.overview
import memory.relationships.admin
import memory.scratchpads.admin.needs
import memory.scratchpads.admin.scratchpads
import memory.scratchpads.admin.workflows
import memory.snapshots.admin.snapshots
import memory.statistics.admin
import memory.templates.admin
