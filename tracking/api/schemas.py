"""What only REST takes about files, and the responses about files and leases, for the OpenAPI schema."""

from collections.abc import Mapping
from typing import Annotated, Any

from rest_framework import serializers
from typing_extensions import TypedDict

from ctxhub.core.api.serializers_of_parts import BatchAnswer, BatchResult
from ctxhub.core.api.takes import Budget
from ctxhub.core.kit.limits import OPTIONAL_PATH
from ctxhub.core.toolbox.argument_types import About, Cursor, Limit

CHANGES = ("created", "modified", "deleted")
STATES = ("live", "expired", "released")


class ListResources(TypedDict, total=False):
    path: Annotated[
        str, About("A path, or a glob: `src/*.py`, `src/**`, `src/` for everything below.", OPTIONAL_PATH)
    ]
    limit: Limit
    cursor: Cursor
    max_tokens: Budget


# -- Answers ---------------------------------------------------------------------------------------


Answer = serializers.Serializer[Mapping[str, Any]]


class Change(Answer):
    id = serializers.IntegerField()
    path = serializers.CharField()
    change = serializers.ChoiceField(CHANGES)
    by = serializers.CharField()
    layer = serializers.CharField(allow_null=True)
    description = serializers.CharField(allow_blank=True)
    at = serializers.DateTimeField()


class ChangeResult(BatchResult):
    """How one item went: what `record` answers, or its error and its `index`."""

    id = serializers.IntegerField(required=False)
    path = serializers.CharField(required=False)


class ChangesAnswer(BatchAnswer):
    results = ChangeResult(many=True, help_text="In the order of the items.")


class Lock(Answer):
    locked = serializers.BooleanField()
    by = serializers.CharField(required=False)
    at = serializers.DateTimeField(required=False, help_text="When it was changed, or leased.")
    change = serializers.ChoiceField(CHANGES, required=False)
    expires = serializers.DateTimeField(required=False, help_text="When the lease ends.")


class ListedLease(Answer):
    lease_id = serializers.IntegerField()
    paths = serializers.ListField(child=serializers.CharField())
    by = serializers.CharField()
    exclusive = serializers.BooleanField()
    reason = serializers.CharField(allow_blank=True)
    expires = serializers.DateTimeField()
    fence = serializers.IntegerField(help_text="Grows with every lease of a project.")


class Lease(ListedLease):
    state = serializers.ChoiceField(STATES)
    created = serializers.DateTimeField()


class Released(Answer):
    released = serializers.IntegerField()


class Resource(Answer):
    path = serializers.CharField()
    change = serializers.ChoiceField(CHANGES, allow_null=True, help_text="The last one, while it is kept.")
    by = serializers.CharField(allow_null=True)
    at = serializers.DateTimeField(allow_null=True)
