"""Connects the signal receivers of all families."""

from memory.constraints import signals as constraints
from memory.memories import signals as relationships

__all__ = [
    "constraints",
    "relationships",
]
