"""What only REST takes about workflows, and its responses, for the OpenAPI schema."""

from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from ctxhub.core.toolbox.argument_types import About, Object, Time, one_of


class WorkflowChanges(TypedDict):
    metadata: NotRequired[Annotated[Object, About("Merges by key; null removes one, or all.")] | None]
    active: NotRequired[Annotated[bool, About("The pads of a closed one can only be read.")]]


# -- Answers ---------------------------------------------------------------------------------------


class Workflow(TypedDict):
    id: int
    name: str
    pads: Annotated[int, About("How many it has.")]
    active: bool
    metadata: Any
    created_at: Time
    updated_at: Annotated[Time, About("When it, or one of its pads, was last written to.")]


class CreatedWorkflow(Workflow):
    workflow_id: int


class ChangedWorkflow(CreatedWorkflow):
    result: Annotated[str, one_of("updated", "unchanged")]
