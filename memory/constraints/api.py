"""REST views of constraints: list, add, read by id, and change the status."""

from typing import Annotated, Any

from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.core.kit.inputs import clean_choice
from ctxhub.rest.answers import written
from ctxhub.rest.operations import CREATED_OR_FOUND, lists, operation, reads, writes
from ctxhub.rest.takes import takes
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox.argument_types import Says, Word
from memory.constraints import services
from memory.constraints.models import ConstraintStatus
from memory.constraints.queries import (
    ORDERS,
    Constraint,
    ListedConstraint,
    constraint_item,
    get_constraint,
    list_constraints,
)


class NewStatus(TypedDict):
    status: Annotated[Word, Says("active|inactive")]


AddedConstraint = written("AddedConstraint", services.AddAnswer, Constraint)
ChangedConstraint = written("ChangedConstraint", services.StatusAnswer, Constraint)


class ConstraintViewSet(ProjectViewSet):
    kind = "constraint"
    instead = {
        "PUT": "PATCH changes its status alone; for another text deactivate it and add a new one.",
        "DELETE": 'A constraint is kept: PATCH with {"status": "inactive"} ends it.',
    }

    def item(self, constraint_id: int) -> dict[str, Any]:
        return constraint_item(get_constraint(self.project_id, constraint_id))

    list = lists(
        takes("constraint", "list"),
        ListedConstraint,
        by=list_constraints,
        orders=(ORDERS, "-priority"),
        says="Constraints that pass every filter: the most urgent first, then by category, then the newest.",
    )
    create = writes(
        takes("constraint", "add"),
        AddedConstraint,
        statuses=CREATED_OR_FOUND,
        says="State what must hold: 201 where it is new, 200 where its category says so already.",
    )
    retrieve = reads(
        Constraint, text="text", kind="constraint", says="One constraint, whole, or some lines of its text."
    )
    deactivate = writes(
        takes("constraint", "deactivate", at="id"),
        ChangedConstraint,
        says="It need not hold any more. It stays, and can be activated again.",
    )
    activate = writes(takes("constraint", "activate", at="id"), ChangedConstraint, says="It must hold again.")

    @operation(
        body=takes(
            "constraint",
            "deactivate",
            without=["id"],
            also=NewStatus,
            name="ChangeConstraint",
            example={"status": "inactive", "reason": "The client was replaced."},
        ),
        responses=ChangedConstraint,
    )
    def partial_update(self, request: Request, slug: str, constraint_id: int) -> Response:
        """Take it out of force, or put it back: its status."""
        status = clean_choice(self.body.pop("status"), ConstraintStatus, "status")
        return Response(
            self.write(services.change_status, constraint_id=constraint_id, status=status, **self.body)
        )
