"""What people see of a project's knowledge."""

from memory.admin import (
    constraints,
    contexts,
    decisions,
    memories,
    overview,
    relationships,
    scratchpads,
    templates,
    workflows,
)

__all__ = [
    "constraints",
    "contexts",
    "decisions",
    "memories",
    "overview",
    "relationships",
    "scratchpads",
    "templates",
    "workflows",
]
