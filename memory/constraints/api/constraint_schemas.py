"""What only REST takes about constraints, and its responses, for the OpenAPI schema."""

from collections.abc import Mapping
from typing import Annotated, Any

from rest_framework import serializers
from typing_extensions import TypedDict

from ctxhub.core.kit.priority import Priority
from ctxhub.core.toolbox.argument_types import Says, Word
from memory.constraints.models import ConstraintStatus

PRIORITIES = tuple(Priority.labels)
STATUSES = tuple(ConstraintStatus.labels)


class NewStatus(TypedDict):
    status: Annotated[Word, Says("active|inactive")]


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
