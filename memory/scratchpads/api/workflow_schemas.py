"""What only REST takes about workflows, and its responses, for the OpenAPI schema."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired

from rest_framework import serializers
from typing_extensions import TypedDict

from ctxhub.core.toolbox.argument_types import About, Object


class WorkflowChanges(TypedDict):
    metadata: NotRequired[Annotated[Object, About("Merges by key; null removes one, or all.")] | None]
    active: NotRequired[Annotated[bool, About("The pads of a closed one can only be read.")]]


# -- Answers ---------------------------------------------------------------------------------------


class Workflow(serializers.Serializer[Mapping[str, Any]]):
    id = serializers.IntegerField()
    name = serializers.CharField(allow_blank=True)
    pads = serializers.IntegerField(help_text="How many it has.")
    active = serializers.BooleanField()
    metadata = serializers.JSONField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField(help_text="When it, or one of its pads, was last written to.")


class CreatedWorkflow(Workflow):
    workflow_id = serializers.IntegerField()


class ChangedWorkflow(CreatedWorkflow):
    result = serializers.ChoiceField(["updated", "unchanged"])
