from memory.signals import (
    constraints,
    relationships,
    scratchpads,
    templates,
)

__all__ = [
    "constraints",
    "relationships",
    "scratchpads",
    "templates",
]
