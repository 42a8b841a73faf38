"""Registers the admin pages and dashboard panels of the memory app."""

from memory import overview
from memory.constraints.admin import constraints
from memory.decisions.admin import decisions, templates, timeline
from memory.memories.admin import contexts, memories, relationships
from memory.scratchpads.admin import needs, scratchpads, workflows
from memory.snapshots.admin import snapshots

__all__ = [
    "constraints",
    "contexts",
    "decisions",
    "memories",
    "needs",
    "overview",
    "relationships",
    "scratchpads",
    "snapshots",
    "templates",
    "timeline",
    "workflows",
]
