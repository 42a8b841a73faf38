"""Registers the tools of all families, in the order in which help lists them."""

# ruff: noqa: I001
from memory.constraints import tools as constraints
from memory.memories.tools import contexts, memories, relationships
from memory.decisions.tools import decisions, templates
from memory.scratchpads import tools as scratchpads
from memory.snapshots.tools import snapshots, causes, predictions

__all__ = [
    "causes",
    "constraints",
    "contexts",
    "decisions",
    "memories",
    "predictions",
    "relationships",
    "scratchpads",
    "snapshots",
    "templates",
]
