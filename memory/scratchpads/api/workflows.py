"""REST views of workflows."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.core.api.answers import joined, page_of
from ctxhub.core.api.pages import Page
from ctxhub.core.api.takes import takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.hub.partial_reads import Opened
from ctxhub.core.kit.caller import WRITE
from ctxhub.core.toolbox.argument_types import About, Object
from memory.scratchpads.selectors.workflows import Workflow, get_workflow, list_workflows, workflow_item
from memory.scratchpads.services import workflows as services

CreatedWorkflow = joined("CreatedWorkflow", services.CreateWorkflowAnswer, Workflow)
ChangedWorkflow = joined("ChangedWorkflow", services.WorkflowAnswer, Workflow)


class WorkflowChanges(TypedDict):
    metadata: NotRequired[Annotated[Object, About("Merges by key; null removes one, or all.")] | None]
    active: NotRequired[Annotated[bool, About("The pads of a closed one can only be read.")]]


class WorkflowViewSet(ProjectViewSet):
    queries = {"list": takes("scratchpad", "workflows")}
    bodies = {
        "create": takes("scratchpad", "create_workflow"),
        "partial_update": takes(
            "scratchpad",
            "create_workflow",
            without=["metadata"],
            also=WorkflowChanges,
            name="ChangeWorkflow",
            example={"active": False},
        ),
    }
    scopes = {"destroy": WRITE}

    @extend_schema(responses=page_of(Workflow))
    def list(self, request: Request, slug: str) -> Response:
        """Workflows, the one written to last first."""
        return self.listed(Page.of(list_workflows(self.project_id, **self.query)))

    @extend_schema(responses={201: CreatedWorkflow})
    def create(self, request: Request, slug: str) -> Response:
        """Begin a piece of work that pads are shared for."""
        return Response(self.write(services.create_workflow, **self.body), status=201)

    @extend_schema(responses=Workflow)
    def retrieve(self, request: Request, slug: str, workflow_id: int) -> Response:
        """One workflow; its pads are below it."""
        item = workflow_item(get_workflow(self.project_id, workflow_id))
        return Response(self.opened(Opened(item, kind="workflow")))

    @extend_schema(responses=ChangedWorkflow)
    def partial_update(self, request: Request, slug: str, workflow_id: int) -> Response:
        """Rename it, change what is said of it, close it or open it again."""
        return Response(self.write(services.update_workflow, workflow_id=workflow_id, **self.body))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, slug: str, workflow_id: int) -> Response:
        """Remove it with all its pads, for good."""
        self.perform(services.delete_workflow, workflow_id=workflow_id)
        return Response(status=204)

    def item_of(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        return workflow_item(get_workflow(self.project_id, answer["workflow_id"]))
