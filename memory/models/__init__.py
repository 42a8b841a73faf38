from memory.models.constraint import Constraint, ConstraintScope, ConstraintStatus, ConstraintTag
from memory.models.context import Context, ContextTag
from memory.models.decision import (
    Decision,
    DecisionRevision,
    DecisionScope,
    DecisionStatus,
    DecisionTag,
    ValueType,
)
from memory.models.memory import Difficulty, Memory, MemoryTag, MemoryType
from memory.models.relationship import Relation, Relationship
from memory.models.scratchpad import PadChange, Scratchpad, ScratchpadRevision
from memory.models.template import DecisionTemplate
from memory.models.workflow import Workflow

__all__ = [
    "Constraint",
    "ConstraintScope",
    "ConstraintStatus",
    "ConstraintTag",
    "Context",
    "ContextTag",
    "Decision",
    "DecisionRevision",
    "DecisionScope",
    "DecisionStatus",
    "DecisionTag",
    "DecisionTemplate",
    "Difficulty",
    "Memory",
    "MemoryTag",
    "MemoryType",
    "PadChange",
    "Relation",
    "Relationship",
    "Scratchpad",
    "ScratchpadRevision",
    "ValueType",
    "Workflow",
]
