"""Queries, request bodies and responses of decisions over REST, for validation and the OpenAPI schema."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from ctxhub.core.api import queries
from ctxhub.core.api.bodies import (
    Anything,
    Body,
    Flag,
    JsonObject,
    ProjectBody,
    StringOrNumber,
    Text,
    Texts,
    Word,
    Words,
)
from ctxhub.core.api.queries import ListQuery, Query, ReadQuery, flag, number, words
from ctxhub.core.api.serializers_of_parts import BatchAnswer, BatchResult
from ctxhub.core.kit.answers import MAX_TOKENS
from ctxhub.core.kit.inputs import MAX_LIMIT
from ctxhub.core.kit.limits import NAME, OPTIONAL_WORD, PATH, VERSION
from ctxhub.core.toolbox.argument_types import SINCE
from memory.decisions.lists import SORTS
from memory.decisions.selectors.analytics import BUCKETS
from memory.decisions.selectors.decisions import INCLUDES

STATUSES = ("active", "draft", "deprecated")
RESULTS = ("created", "updated", "unchanged")
OPTION = {
    "type": "object",
    "required": ["option"],
    "properties": {"option": {"type": "string"}, "why_not": {"type": "string"}},
}
REASONS = {"type": "array", "items": {"type": "string"}, "nullable": True}
ALTERNATIVES: dict[str, Any] = {"type": "array", "items": {"oneOf": [{"type": "string"}, OPTION]}}
TRADEOFFS: dict[str, Any] = {
    "type": "object",
    "properties": {"pros": REASONS, "cons": REASONS},
    "additionalProperties": False,
}

# -- Queries ---------------------------------------------------------------------------------------


class IncludeQuery(ReadQuery):
    include = words("More of the decision.", one_of=INCLUDES)


class DecisionQuery(ListQuery):
    key = queries.text("Exactly this key: the decision whole, whatever its status.")
    include = words("More of the decision; with `key`.", one_of=INCLUDES)
    status = queries.text("Left out: active.", one_of=[*STATUSES, "any"])
    layer = queries.text("In this layer.")
    tags = words("With these tags.")
    match = queries.text("Any of the tags (left out), or all.", one_of=["any", "all"])
    exclude_tags = words("With none of these tags.")
    scope = queries.text("In this scope; `api/*` means every one below.")
    by = queries.text("By this agent.")
    text = queries.text('All these words are in it: key, value, reasons, tags. "A phrase", -not, prefix*.')
    since = queries.text(f"Changed since. {SINCE}")
    until = queries.text(f"Changed before. {SINCE}")
    sort = queries.text("Left out: updated.", one_of=list(SORTS))
    order = queries.text("Left out: desc.", one_of=["desc", "asc"])
    full = flag("Values whole, not cut to 200 characters.")


class SuggestQuery(Query):
    key = queries.text("Like this key; one that exists asks with its layer and tags, too.")
    text = queries.text("Like this text.")
    tags = words("Like these tags.")
    layer = queries.text("Of this layer.")
    limit = number("Left out: 5.", at_most=MAX_LIMIT)
    min_score = number("0 to 100; left out: 30.", at_least=0, at_most=100)
    max_tokens = number(f"A budget for the answer, {MAX_TOKENS:,} at most.")


class VersionQuery(ListQuery, ReadQuery):
    full = flag("Values whole, not cut to 200 characters.")
    version = queries.text("This version alone, its value whole; `lines` and `tail` read a part of it.")


class AnalyticsQuery(Query):
    pattern = queries.text(
        "A whole key, in which `*` stands for anything: `perf/*`.", limits=NAME, required=True
    )
    since = queries.text(f"Numbers written since. {SINCE}")
    until = queries.text(f"Numbers written before. {SINCE}")
    bucket = queries.text("Also a row for each of these.", one_of=BUCKETS)
    layer = queries.text("Only decisions of this layer.")


# -- Bodies ----------------------------------------------------------------------------------------


@extend_schema_field(
    {"oneOf": [{"type": "string", "enum": STATUSES}, {"type": "integer", "minimum": 1, "maximum": 3}]}
)
class Status(Word):
    """A status by its word or its number."""


@extend_schema_field({**ALTERNATIVES, "nullable": True})
class Alternatives(Anything):
    """What else was weighed."""


@extend_schema_field({**TRADEOFFS, "nullable": True})
class Tradeoffs(JsonObject):
    """What speaks for it and against."""


class DecisionBody(Body):
    """Left out: unchanged; null clears."""

    layer = Text(limits=OPTIONAL_WORD, required=False, allow_null=True)
    tags = Words(required=False, allow_null=True)
    scopes = Words(required=False, allow_null=True)
    paths = Texts(limits=PATH, required=False, allow_null=True, help_text="Globs of the files it bears on.")
    status = Status(required=False)
    version = Text(limits=VERSION, required=False)
    rationale = Text(required=False, allow_null=True)
    alternatives = Alternatives(required=False, allow_null=True, help_text="Texts, or {option, why_not}.")
    tradeoffs = Tradeoffs(required=False, allow_null=True, help_text="A null inside removes pros or cons.")
    metadata = JsonObject(required=False, allow_null=True, help_text="Merges by key; null removes one.")
    expected_version = Text(
        limits=VERSION, required=False, help_text="Refused with 409 if it is at another version."
    )


class DecisionItem(DecisionBody):
    key = Text(limits=NAME)
    value = StringOrNumber()


class SetDecision(DecisionItem, ProjectBody):
    example = {"key": "api/auth/method", "value": "JWT", "rationale": "Stateless: any worker can check it."}


class ReplaceDecision(DecisionBody, ProjectBody):
    """Left out: back to its default."""

    example = {"value": "JWT", "rationale": "Stateless: any worker can check it."}
    value = StringOrNumber()


class ChangeDecision(DecisionBody, ProjectBody):
    example = {"value": "JWT, 15 minutes"}
    value = StringOrNumber(required=False)


@extend_schema_field(DecisionItem(many=True))
class Items(Anything):
    """Each is checked for itself, so that one that is wrong need not stop the others."""


class SetDecisions(ProjectBody):
    example = {"items": [{"key": "db/engine", "value": "PostgreSQL"}, {"key": "db/pool", "value": 20}]}
    items = Items(help_text="Up to 50.")
    atomic = Flag(required=False, help_text="All or nothing: the default.")


# -- Answers ---------------------------------------------------------------------------------------


Answer = serializers.Serializer[Mapping[str, Any]]


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
