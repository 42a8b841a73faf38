"""REST views of workflows."""

from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from ctxhub.core.kit.caller import WRITE
from ctxhub.rest.answers import written
from ctxhub.rest.operations import CREATED, deletes, lists, reads, writes
from ctxhub.rest.takes import takes
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox.argument_types import About, Object
from memory.workflows import services
from memory.workflows.queries import ORDERS, Workflow, get_workflow, list_workflows, workflow_item

CreatedWorkflow = written("CreatedWorkflow", services.CreateWorkflowAnswer, Workflow)
ChangedWorkflow = written("ChangedWorkflow", services.WorkflowAnswer, Workflow)


class WorkflowChanges(TypedDict):
    metadata: NotRequired[Annotated[Object, About("Merges by key; null removes one, or all.")] | None]
    active: NotRequired[Annotated[bool, About("The pads of a closed one can only be read.")]]


class WholeWorkflow(TypedDict):
    active: NotRequired[Annotated[bool, About("The pads of a closed one can only be read.")]]


class WorkflowViewSet(ProjectViewSet):
    scopes = {"destroy": WRITE}
    kind, named_by = "workflow", "workflow_id"

    def item(self, workflow_id: int) -> dict[str, Any]:
        return workflow_item(get_workflow(self.project_id, workflow_id))

    list = lists(
        takes("scratchpad", "workflows"),
        Workflow,
        by=list_workflows,
        orders=(ORDERS, "-updated_at"),
        says="Workflows, the one written to last first.",
    )
    create = writes(
        takes("scratchpad", "create_workflow"),
        CreatedWorkflow,
        statuses=CREATED,
        says="Begin a piece of work that pads are shared for.",
    )
    retrieve = reads(Workflow, kind="workflow", says="One workflow; its pads are below it.")
    update = writes(
        takes(
            "scratchpad",
            "create_workflow",
            also=WholeWorkflow,
            name="ReplaceWorkflow",
            example={"name": "Slow search", "metadata": {"keep": "never"}},
        ),
        ChangedWorkflow,
        by=services.replace_workflow,
        says="Make a workflow what the body says and nothing else. What is left out goes back to its "
        "default: no name, no metadata, open. Its pads stay.",
    )
    partial_update = writes(
        takes(
            "scratchpad",
            "create_workflow",
            without=["metadata"],
            also=WorkflowChanges,
            name="ChangeWorkflow",
            example={"active": False},
        ),
        ChangedWorkflow,
        by=services.update_workflow,
        says="Rename it, change what is said of it, close it or open it again.",
    )
    destroy = deletes(by=services.delete_workflow, says="Remove it with all its pads, for good.")
