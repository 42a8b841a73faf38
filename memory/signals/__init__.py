from memory.signals import (
    constraints,
    relationships,
    scratchpads,
)

__all__ = [
    "constraints",
    "relationships",
    "scratchpads",
]
