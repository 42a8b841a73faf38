from memory.signals import (
    constraints,
    decisions,
    memories,
    relationships,
    scratchpads,
    templates,
    workflows,
)

__all__ = [
    "constraints",
    "decisions",
    "memories",
    "relationships",
    "scratchpads",
    "templates",
    "workflows",
]
