from memory.models.constraint import Constraint, ConstraintScope, ConstraintStatus, ConstraintTag
from memory.models.decision import (
    Decision,
    DecisionRevision,
    DecisionScope,
    DecisionStatus,
    DecisionTag,
    ValueType,
)
from memory.models.template import DecisionTemplate

__all__ = [
    "Constraint",
    "ConstraintScope",
    "ConstraintStatus",
    "ConstraintTag",
    "Decision",
    "DecisionRevision",
    "DecisionScope",
    "DecisionStatus",
    "DecisionTag",
    "DecisionTemplate",
    "ValueType",
]
