"""REST schemas of workflows: queries, bodies and answers, for validation and OpenAPI."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from ctxhub.core.api.bodies import Flag, JsonObject, ProjectBody, Text
from ctxhub.core.api.queries import ListQuery, flag, text
from ctxhub.core.kit.limits import OPTIONAL_NAME


class WorkflowQuery(ListQuery):
    active = flag("Only those that are open; false: only the closed ones.")
    text = text("All its words stand in the name, the metadata or a pad.")


class CreateWorkflow(ProjectBody):
    example = {"name": "Code Refactoring Task", "metadata": {"keep": "never"}}
    name = Text(limits=OPTIONAL_NAME, required=False, allow_null=True)
    metadata = JsonObject(required=False, allow_null=True, help_text='{"keep": "never"} spares it for ever.')


class ChangeWorkflow(ProjectBody):
    example = {"active": False}
    name = Text(limits=OPTIONAL_NAME, required=False, allow_null=True)
    metadata = JsonObject(
        required=False, allow_null=True, help_text="Merges by key; null removes one, or all."
    )
    active = Flag(required=False, help_text="The pads of a closed one can only be read.")


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
