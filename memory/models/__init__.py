from memory.models.decision import (
    Decision,
    DecisionRevision,
    DecisionScope,
    DecisionStatus,
    DecisionTag,
    ValueType,
)

__all__ = ["Decision", "DecisionRevision", "DecisionScope", "DecisionStatus", "DecisionTag", "ValueType"]
