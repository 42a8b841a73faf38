"""What only REST takes about decisions, and its responses, for the OpenAPI schema."""

from collections.abc import Mapping
from typing import Annotated, Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from typing_extensions import TypedDict

from ctxhub.core.api.bodies import Anything, JsonObject, StringOrNumber
from ctxhub.core.api.serializers_of_parts import BatchAnswer, BatchResult
from ctxhub.core.toolbox.argument_types import About, Lines, Says, Tail, Words
from memory.decisions.inputs.schemas import ALTERNATIVES, TRADEOFFS

STATUSES = ("active", "draft", "deprecated")
RESULTS = ("created", "updated", "unchanged")


class KeyFilter(TypedDict, total=False):
    key: Annotated[str, About("Exactly this key: the decision whole, whatever its status.")]
    include: Annotated[Words, Says("rationale|history|links"), About("More of the decision; with `key`.")]


class PartOfValue(TypedDict, total=False):
    lines: Lines
    tail: Tail


class Cutting(TypedDict, total=False):
    full: Annotated[bool, About("Values whole, not cut to 200 characters.")]


# -- Answers ---------------------------------------------------------------------------------------


Answer = serializers.Serializer[Mapping[str, Any]]


@extend_schema_field({**ALTERNATIVES, "nullable": True})
class Alternatives(Anything):
    """What else was weighed."""


@extend_schema_field({**TRADEOFFS, "nullable": True})
class Tradeoffs(JsonObject):
    """What speaks for it and against."""


class Decision(Answer):
    key = serializers.CharField()
    value = StringOrNumber()
    version = serializers.CharField()
    status = serializers.ChoiceField(STATUSES)
    layer = serializers.CharField(allow_null=True)
    tags = serializers.ListField(child=serializers.CharField())
    scopes = serializers.ListField(child=serializers.CharField())
    paths = serializers.ListField(child=serializers.CharField())
    agent = serializers.CharField()
    updated = serializers.DateTimeField()
    metadata = JsonObject(required=False)
    reason = serializers.CharField(required=False, help_text="Why it was deprecated.")
    superseded_by = serializers.CharField(required=False, allow_null=True)


class Version(Answer):
    version = serializers.CharField()
    value = StringOrNumber()
    status = serializers.ChoiceField(STATUSES)
    agent = serializers.CharField()
    at = serializers.DateTimeField()


class Reasons(Answer):
    rationale = serializers.CharField(allow_blank=True)
    alternatives = Alternatives()
    tradeoffs = Tradeoffs()


class WholeDecision(Reasons, Decision):
    history = Version(many=True, required=False)
    supersedes = serializers.ListField(child=serializers.CharField(), required=False)


class ListedDecision(Decision):
    rationale = serializers.CharField(allow_blank=True, required=False, help_text="With `key`.")
    alternatives = Alternatives(required=False)
    tradeoffs = Tradeoffs(required=False)
    history = Version(many=True, required=False)
    supersedes = serializers.ListField(child=serializers.CharField(), required=False)


class Similar(Answer):
    key = serializers.CharField()
    score = serializers.IntegerField(help_text="0 to 100.")


class SetAnswer(WholeDecision):
    id = serializers.IntegerField()
    result = serializers.ChoiceField(RESULTS)
    hint = serializers.CharField(required=False)
    similar = Similar(many=True, required=False, help_text="Keys that may mean what this new one does.")


class SetOutcome(BatchResult):
    """How one item went: what `set` answers, or its error and its `index`."""

    key = serializers.CharField(required=False)
    id = serializers.IntegerField(required=False)
    version = serializers.CharField(required=False)
    result = serializers.ChoiceField(RESULTS, required=False)
    hint = serializers.CharField(required=False)


class SetOutcomes(BatchAnswer):
    results = SetOutcome(many=True, help_text="In the order of the items.")


class Parts(Answer):
    """What each part adds to the score; left out: nothing."""

    tags = serializers.FloatField(required=False)
    layer = serializers.FloatField(required=False)
    key = serializers.FloatField(required=False)
    text = serializers.FloatField(required=False)
    recency = serializers.FloatField(required=False)


class Suggestion(Similar):
    reason = serializers.CharField()
    parts = Parts()


class Analytics(Answer):
    """With nothing to measure: `count` 0 and perhaps a `hint`."""

    count = serializers.IntegerField(help_text="How many numbers.")
    min = serializers.FloatField(required=False)
    max = serializers.FloatField(required=False)
    mean = serializers.FloatField(required=False)
    p50 = serializers.FloatField(required=False)
    p95 = serializers.FloatField(required=False)
    last = serializers.FloatField(required=False, help_text="The one written last.")
    columns = serializers.ListField(child=serializers.CharField(), required=False)
    rows = serializers.ListField(
        child=serializers.ListField(child=StringOrNumber()),
        required=False,
        help_text="For each bucket: when it begins (UTC), count, mean; newest first.",
    )
    omitted = serializers.IntegerField(required=False, help_text="Older buckets that are not shown.")
    more = serializers.BooleanField(required=False, help_text="Only the newest 100,000 numbers were read.")
    hint = serializers.CharField(required=False)
