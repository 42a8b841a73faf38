"""REST schemas of the answers about contexts, for OpenAPI."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from ctxhub.core.api.schemas import ANYTHING


@extend_schema_field(ANYTHING)
class Metadata(serializers.JSONField):
    """Any JSON object."""


class ListedContext(serializers.Serializer[Mapping[str, Any]]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    memories = serializers.IntegerField(help_text="How many it holds.")
    stack = serializers.CharField(allow_blank=True)
    tags = serializers.ListField(child=serializers.CharField())
    updated = serializers.DateTimeField(help_text="When it or one of its memories was last written.")


class Context(ListedContext):
    description = serializers.CharField(allow_blank=True)
    metadata = Metadata()
    agent = serializers.CharField()
    created = serializers.DateTimeField()


class CreatedContext(Context):
    result = serializers.ChoiceField(["created"])


class ChangedContext(Context):
    result = serializers.ChoiceField(["updated", "unchanged"])
