"""Registers the admin pages and dashboard panels of the memory app."""

from memory import overview
from memory.constraints.admin import constraints
from memory.decisions.admin import decisions, most_changed, templates, timeline
from memory.memories.admin import contexts, memories, relationships
from memory.scratchpads.admin import needs, scratchpads, workflows
from memory.snapshots.admin import snapshots

__all__ = [
    "constraints",
    "contexts",
    "decisions",
    "memories",
    "most_changed",
    "needs",
    "overview",
    "relationships",
    "scratchpads",
    "snapshots",
    "templates",
    "timeline",
    "workflows",
]
