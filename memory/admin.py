"""Registers the admin pages and dashboard panels of the memory app."""

import memory.constraints.admin
import memory.contexts.admin
import memory.decisions.admin
import memory.decisions.timeline
import memory.memories.admin
import memory.overview
import memory.relationships.admin
import memory.scratchpads.admin
import memory.scratchpads.needs
import memory.snapshots.admin
import memory.statistics.admin
import memory.templates.admin
import memory.workflows.admin
