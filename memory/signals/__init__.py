from memory.signals import (
    constraints,
    decisions,
    relationships,
    scratchpads,
    templates,
)

__all__ = [
    "constraints",
    "decisions",
    "relationships",
    "scratchpads",
    "templates",
]
