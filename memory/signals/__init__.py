from memory.signals import (
    constraints,
    contexts,
    decisions,
    memories,
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
    "relationships",
    "scratchpads",
    "templates",
    "workflows",
]
