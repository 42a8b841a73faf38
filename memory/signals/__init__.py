from memory.signals import (
    constraints,
    decisions,
    memories,
    relationships,
    scratchpads,
    templates,
)

__all__ = [
    "constraints",
    "decisions",
    "memories",
    "relationships",
    "scratchpads",
    "templates",
]
