"""REST schemas of contexts: queries, bodies and answers, for validation and OpenAPI."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from ctxhub.core.api.bodies import JsonObject, ProjectBody, Text, Words
from ctxhub.core.api.queries import ListQuery, text
from ctxhub.core.api.schemas import ANYTHING
from ctxhub.core.kit.limits import NAME, OPTIONAL_WORD

NOT_ALL_DIGITS = {**NAME, "pattern": r"[^\d\s]|\d\s+\d"}
STACK = "What it is about: django, react19."


class ContextQuery(ListQuery):
    text = text("Words that its name, description, stack or tags hold.")


# -- Bodies ----------------------------------------------------------------------------------------


class ContextFields(ProjectBody):
    description = Text(required=False, allow_null=True)
    tags = Words(required=False, allow_null=True)
    stack = Text(limits=OPTIONAL_WORD, required=False, allow_null=True, help_text=STACK)
    metadata = JsonObject(required=False, allow_null=True)


class CreateContext(ContextFields):
    example = {"name": "shop", "description": "The shop's backend.", "stack": "django", "tags": ["api"]}
    name = Text(limits=NOT_ALL_DIGITS, help_text="Unique, whatever its case; not all digits.")


class ChangeContext(ContextFields):
    """What is left out stays as it is; an empty text or null clears, metadata merges by key."""

    example = {"description": "The shop's backend, since March."}
    name = Text(limits=NOT_ALL_DIGITS, required=False)


# -- Answers ---------------------------------------------------------------------------------------


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
