"""REST views of constraints: list, add, read by id, and change the status."""

from collections.abc import Mapping
from typing import Annotated, Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.core.api.answers import in_parts, joined, page_of
from ctxhub.core.api.pages import Page
from ctxhub.core.api.takes import READ_IN_PARTS, takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.hub.partial_reads import Opened
from ctxhub.core.kit.inputs import clean_choice
from ctxhub.core.toolbox.argument_types import Says, Word
from memory.constraints import services
from memory.constraints.lists import list_constraints
from memory.constraints.models import ConstraintStatus
from memory.constraints.selectors import Constraint, ListedConstraint, constraint_item, get_constraint


class NewStatus(TypedDict):
    status: Annotated[Word, Says("active|inactive")]


AddedConstraint = joined("AddedConstraint", services.AddAnswer, Constraint)
ChangedConstraint = joined("ChangedConstraint", services.StatusAnswer, Constraint)


class ConstraintViewSet(ProjectViewSet):
    instead = {
        "PUT": "PATCH changes its status alone; for another text deactivate it and add a new one.",
        "DELETE": 'A constraint is kept: PATCH with {"status": "inactive"} ends it.',
    }
    queries = {"list": takes("constraint", "list"), "retrieve": READ_IN_PARTS}
    bodies = {
        "create": takes("constraint", "add"),
        "partial_update": takes(
            "constraint",
            "deactivate",
            without=["id"],
            also=NewStatus,
            name="ChangeConstraint",
            example={"status": "inactive", "reason": "The client was replaced."},
        ),
        "deactivate": takes("constraint", "deactivate", without=["id"]),
        "activate": takes("constraint", "activate", without=["id"]),
    }

    @extend_schema(responses=page_of(ListedConstraint))
    def list(self, request: Request, slug: str) -> Response:
        """Constraints that pass every filter: the most urgent first, then by category, then the newest."""
        return self.listed(Page.of(list_constraints(self.project_id, **self.query)))

    @extend_schema(responses={200: AddedConstraint, 201: AddedConstraint})
    def create(self, request: Request, slug: str) -> Response:
        """State what must hold: 201 where it is new, 200 where its category says so already."""
        answer = self.write(services.add_constraint, **self.body)
        return Response(answer, status=201 if answer.get("result") == "created" else 200)

    @extend_schema(responses=in_parts(Constraint))
    def retrieve(self, request: Request, slug: str, constraint_id: int) -> Response:
        """One constraint, whole, or some lines of its text."""
        requested = self.requested_lines()
        item = constraint_item(get_constraint(self.project_id, constraint_id))
        return Response(self.opened(Opened(item, "text", requested, "constraint")))

    @extend_schema(responses=ChangedConstraint)
    def partial_update(self, request: Request, slug: str, constraint_id: int) -> Response:
        """Take it out of force, or put it back: its status."""
        status = clean_choice(self.body.pop("status"), ConstraintStatus, "status")
        return Response(
            self.write(services.change_status, constraint_id=constraint_id, status=status, **self.body)
        )

    @extend_schema(responses=ChangedConstraint)
    def deactivate(self, request: Request, slug: str, constraint_id: int) -> Response:
        """It need not hold any more. It stays, and can be activated again."""
        return Response(self.write(services.deactivate_constraint, constraint_id=constraint_id, **self.body))

    @extend_schema(responses=ChangedConstraint)
    def activate(self, request: Request, slug: str, constraint_id: int) -> Response:
        """It must hold again."""
        return Response(self.write(services.activate_constraint, constraint_id=constraint_id))

    def item_of(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        return constraint_item(get_constraint(self.project_id, answer["id"]))
