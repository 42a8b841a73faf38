from memory.signals import (
    constraints,
    relationships,
)

__all__ = [
    "constraints",
    "relationships",
]
