"""REST query, request and response schemas of files and leases, for validation and OpenAPI."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from ctxhub.core.api.bodies import Anything, Body, Flag, IdOf, ProjectBody, Text, Texts, WholeNumber, Word
from ctxhub.core.api.queries import ListQuery, Query, flag, number, text
from ctxhub.core.api.serializers_of_parts import BatchAnswer, BatchResult
from ctxhub.core.kit.limits import OPTIONAL_PATH, OPTIONAL_WORD, PATH
from ctxhub.core.toolbox.argument_types import SINCE
from tracking.selectors.locks import LONGEST
from tracking.services.leases import MOST_MINUTES

CHANGES = ("created", "modified", "deleted")
STATES = ("live", "expired", "released")
GLOB = "A path, or a glob: `src/*.py`, `src/**`, `src/` for everything below."

# -- Queries ---------------------------------------------------------------------------------------


class ChangeQuery(ListQuery):
    path = text(GLOB, limits=OPTIONAL_PATH)
    by = text("By this agent.")
    layer = text("In this layer.")
    change = text("Only such changes.", one_of=CHANGES)
    since = text(f"Made since. {SINCE} Without any filter: the last hour.")


class LockQuery(Query):
    path = text(GLOB, limits=PATH, required=True)
    within_seconds = number("How long a change locks; left out: 300.", at_most=LONGEST)


class LeaseQuery(ListQuery):
    path = text(f"That overlap it. {GLOB}", limits=OPTIONAL_PATH)
    by = text("Held by this agent.")


class ReleaseQuery(Query):
    force = flag("Another agent's too: an administrator's, told in the log.")


class ResourceQuery(ListQuery):
    path = text(GLOB, limits=OPTIONAL_PATH)


# -- Bodies ----------------------------------------------------------------------------------------


@extend_schema_field(
    {"oneOf": [{"type": "string", "enum": CHANGES}, {"type": "integer", "minimum": 1, "maximum": 3}]}
)
class ChangeWord(Word):
    """What was done to a file, by its word or its number."""


class ChangeFields(Body):
    path = Text(limits=PATH, help_text="Relative to the repository.")
    change = ChangeWord()
    layer = Text(limits=OPTIONAL_WORD, required=False, allow_null=True)
    description = Text(required=False, allow_null=True)


class RecordChange(ChangeFields, ProjectBody):
    example = {"path": "src/api/auth.py", "change": "modified", "description": "Tokens rotate."}


@extend_schema_field(ChangeFields(many=True))
class Items(Anything):
    """Each is checked for itself, so that one that is wrong need not stop the others."""


class RecordChanges(ProjectBody):
    example = {
        "items": [{"path": "src/a.py", "change": "created"}, {"path": "src/b.py", "change": "deleted"}]
    }
    items = Items(help_text="Up to 50.")
    atomic = Flag(required=False, help_text="All or nothing: the default.")


class AcquireLease(ProjectBody):
    example = {"paths": ["src/api/**"], "minutes": 30, "reason": "Token rotation."}
    paths = Texts(limits=PATH, at_least=1, help_text="Up to 50 paths or globs.")
    minutes = WholeNumber(
        at_least=1, at_most=MOST_MINUTES, required=False, help_text=f"1 to {MOST_MINUTES}; left out: 15."
    )
    exclusive = Flag(required=False, help_text="False: others may share it. Left out: true.")
    reason = Text(required=False, allow_null=True)


class RenewLease(ProjectBody):
    example = {"minutes": 30}
    minutes = WholeNumber(
        at_least=1,
        at_most=MOST_MINUTES,
        required=False,
        help_text=f"From now: 1 to {MOST_MINUTES}; left out: 15.",
    )


class ReleaseLeases(ProjectBody):
    example = {"all": True}
    all = Flag(required=False, help_text="All of yours.")
    lease_id = IdOf("lease", required=False, help_text="Or this one.")
    force = Flag(required=False, help_text="Another agent's too: an administrator's, told in the log.")


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
