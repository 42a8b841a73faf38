"""Imports the models of all nouns, so that Django finds them."""

from memory.constraints.models import Constraint, ConstraintScope, ConstraintStatus, ConstraintTag
from memory.contexts.models import Context, ContextTag
from memory.decisions.models import (
    Decision,
    DecisionRevision,
    DecisionScope,
    DecisionStatus,
    DecisionTag,
    ValueType,
)
from memory.memories.models import Difficulty, Memory, MemoryRevision, MemoryTag, MemoryType
from memory.predictions.models import PredictionOutcome, PredictionWeights
from memory.relationships.models import Relation, Relationship
from memory.scratchpads.models import PadChange, Scratchpad, ScratchpadRevision
from memory.snapshots.models import ActionType, Snapshot, SnapshotDependency, SnapshotTag, Tier
from memory.templates.models import DecisionTemplate
from memory.workflows.models import Workflow
