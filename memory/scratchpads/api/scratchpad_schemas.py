"""REST responses of scratchpads, for the OpenAPI schema."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from memory.scratchpads.models.scratchpad import PadChange

CHANGES = tuple(PadChange.labels)


class ListedPad(serializers.Serializer[Mapping[str, Any]]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    length = serializers.IntegerField(help_text="In characters.")
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    content = serializers.CharField(allow_null=True, allow_blank=True, help_text="Null unless asked for.")


class Outline(serializers.Serializer[Mapping[str, Any]]):
    columns = serializers.ListField(child=serializers.CharField(), help_text="level, text, line")
    rows = serializers.ListField(child=serializers.ListField())


class Pad(serializers.Serializer[Mapping[str, Any]]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    workflow_id = serializers.IntegerField()
    content = serializers.CharField(required=False, allow_blank=True, help_text="Not with an outline.")
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    revision = serializers.IntegerField(help_text="The ETag.")
    lines = serializers.CharField(required=False, help_text="Which lines the content is: 10-40.")
    total_lines = serializers.IntegerField(required=False)
    outline = Outline(required=False)


class CreatedPad(serializers.Serializer[Mapping[str, Any]]):
    scratchpad_id = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    warning = serializers.CharField(required=False, help_text="How much was cut off.")


class AppendedPad(serializers.Serializer[Mapping[str, Any]]):
    updated_at = serializers.DateTimeField()
    new_length = serializers.IntegerField(help_text="In characters.")
    warning = serializers.CharField(required=False, help_text="How much was cut off.")


class ChangedPad(AppendedPad):
    revision = serializers.IntegerField()
    result = serializers.ChoiceField(["updated", "unchanged"])


class ListedRevision(serializers.Serializer[Mapping[str, Any]]):
    revision = serializers.IntegerField()
    change = serializers.ChoiceField(CHANGES)
    length = serializers.IntegerField(help_text="In characters.")
    agent = serializers.CharField()
    at = serializers.DateTimeField()


class Revision(ListedRevision):
    id = serializers.IntegerField()
    name = serializers.CharField()
    workflow_id = serializers.IntegerField()
    content = serializers.CharField(allow_blank=True, help_text="The text as it was.")


class FoundPad(serializers.Serializer[Mapping[str, Any]]):
    scratchpad_id = serializers.IntegerField()
    name = serializers.CharField()
    workflow_id = serializers.IntegerField()
    snippet = serializers.CharField(allow_null=True, help_text="What is found stands between « and ».")
    line = serializers.IntegerField(allow_null=True, help_text="In one pad: where it is.")
