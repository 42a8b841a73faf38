"""Queries, request bodies and responses of constraints over REST, for validation and the OpenAPI schema."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from ctxhub.core.api.bodies import ProjectBody, Text, Texts, Word, Words
from ctxhub.core.api.limits import OPTIONAL_WORD, PATH, SAID, WORD
from ctxhub.core.api.queries import ListQuery, flag, text, words
from ctxhub.core.kit.priority import Priority
from memory.constraints.models import ConstraintStatus

PRIORITIES = tuple(Priority.labels)
STATUSES = tuple(ConstraintStatus.labels)


class ConstraintQuery(ListQuery):
    category = text("Of this category.")
    layer = text("In this layer.")
    priority = text("Of this priority.", one_of=PRIORITIES)
    tags = words("With these tags.")
    match = text("Any of the tags (left out), or all.", one_of=["any", "all"])
    scope = text("In this scope; `api/*` means every one below.")
    by = text("By this agent.")
    status = text("Left out: active.", one_of=[*STATUSES, "any"])
    full = flag("Texts whole, not cut to 200 characters.")


# -- Bodies ----------------------------------------------------------------------------------------


@extend_schema_field(
    {"oneOf": [{"type": "string", "enum": PRIORITIES}, {"type": "integer", "minimum": 1, "maximum": 4}]}
)
class PriorityWord(Word):
    """A priority by its word or its number."""


@extend_schema_field(
    {"oneOf": [{"type": "string", "enum": STATUSES}, {"type": "integer", "minimum": 1, "maximum": 2}]}
)
class StatusWord(Word):
    """A status by its word or its number."""


class AddConstraint(ProjectBody):
    example = {
        "category": "security",
        "text": "Every address of the API asks for a token.",
        "priority": "critical",
        "reason": "It is reachable from the internet.",
    }
    category = Text(limits=WORD, help_text="performance, architecture, security, or a new one.")
    text = Text(limits=SAID)
    priority = PriorityWord(required=False, help_text="Left out: medium.")
    layer = Text(limits=OPTIONAL_WORD, required=False, allow_null=True)
    tags = Words(required=False, allow_null=True)
    scopes = Words(required=False, allow_null=True)
    paths = Texts(limits=PATH, required=False, allow_null=True, help_text="Globs of the files it bears on.")
    reason = Text(required=False, allow_null=True, help_text="Why it must hold.")


class WithReason(ProjectBody):
    reason = Text(required=False, allow_null=True, help_text="Stands in the log.")


class ChangeConstraint(WithReason):
    example = {"status": "inactive", "reason": "The client was replaced."}
    status = StatusWord()


class DeactivateConstraint(WithReason):
    example = {"reason": "The client was replaced."}


class ActivateConstraint(ProjectBody):
    """Nothing more to say."""


# -- Answers ---------------------------------------------------------------------------------------


class ListedConstraint(serializers.Serializer[Mapping[str, Any]]):
    id = serializers.IntegerField()
    category = serializers.CharField()
    text = serializers.CharField()
    priority = serializers.ChoiceField(PRIORITIES)
    layer = serializers.CharField(allow_null=True)
    tags = serializers.ListField(child=serializers.CharField())
    scopes = serializers.ListField(child=serializers.CharField())
    reason = serializers.CharField(allow_blank=True)
    status = serializers.ChoiceField(STATUSES)
    agent = serializers.CharField()
    at = serializers.DateTimeField()


class Constraint(ListedConstraint):
    paths = serializers.ListField(child=serializers.CharField())


class AddedConstraint(Constraint):
    result = serializers.ChoiceField(["created", "exists"])
    hint = serializers.CharField(required=False)


class ChangedConstraint(Constraint):
    result = serializers.ChoiceField(["updated", "unchanged"])
