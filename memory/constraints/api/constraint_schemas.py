"""What only REST takes and answers about constraints."""

from typing import Annotated

from typing_extensions import TypedDict

from ctxhub.core.api.answers import joined
from ctxhub.core.kit.priority import Priority
from ctxhub.core.toolbox.argument_types import Says, Time, Word, one_of
from memory.constraints import services
from memory.constraints.models import ConstraintStatus
from memory.constraints.selectors import Constraint


class NewStatus(TypedDict):
    status: Annotated[Word, Says("active|inactive")]


class ListedConstraint(TypedDict):
    id: int
    category: str
    text: str
    priority: Annotated[str, one_of(*Priority.labels)]
    layer: str | None
    tags: list[str]
    scopes: list[str]
    reason: str
    status: Annotated[str, one_of(*ConstraintStatus.labels)]
    agent: str
    at: Time


AddedConstraint = joined("AddedConstraint", services.AddAnswer, Constraint)
ChangedConstraint = joined("ChangedConstraint", services.StatusAnswer, Constraint)
