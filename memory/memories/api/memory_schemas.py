"""REST schemas of memories: queries, bodies and answers, for validation and OpenAPI."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from ctxhub.core.api.bodies import JsonObject, ProjectBody, Text, Texts, Word, Words
from ctxhub.core.api.queries import ListQuery, Query, number, text, words
from ctxhub.core.kit.answers import MAX_TOKENS
from ctxhub.core.kit.inputs import MAX_LIMIT
from ctxhub.core.kit.limits import CONTENT, NAME, OPTIONAL_NAME, OPTIONAL_WORD, PATH, QUESTION, TITLE
from memory.memories.api.context_schemas import STACK, Metadata
from memory.memories.models.memory import Difficulty, MemoryType
from memory.memories.selectors.fuzzy import MOST_TOLERANCE
from memory.memories.selectors.search import DETAILS

TYPES = tuple(MemoryType.labels)
DIFFICULTIES = tuple(Difficulty.labels)

IN_CONTEXT = "In this context, by its name or id."
BUDGET = f"A budget for the answer, {MAX_TOKENS:,} at most; `omitted` counts what did not fit."


class MemoryQuery(ListQuery):
    context = text(IN_CONTEXT)
    type = text("Of this type.", one_of=TYPES)
    stack = text("About this.")
    difficulty = text("Of this difficulty.", one_of=DIFFICULTIES)
    tags = words("With any of these tags.")


class MemorySearchQuery(Query):
    query = text(
        'A sentence, words, an identifier. Also "a phrase", -not and prefix*.', limits=QUESTION, required=True
    )
    detail = text(
        "What title and excerpt may cost: compact (left out) 60 tokens, standard 120, detailed 250.",
        one_of=DETAILS,
    )
    context = text(IN_CONTEXT)
    type = text("Of this type.", one_of=TYPES)
    stack = text("About this.")
    tags = words("With any of these tags.")
    limit = number("How many of the best; left out: 10.", at_most=MAX_LIMIT)
    max_tokens = number(BUDGET)


class FuzzyQuery(Query):
    query = text("Words that may be mistyped.", limits=QUESTION, required=True)
    context = text(IN_CONTEXT)
    type = text("Of this type.", one_of=TYPES)
    limit = number("How many of the nearest; left out: 20.", at_most=MAX_LIMIT)
    tolerance = number("How many edits a word may be away; left out: 2.", at_least=0, at_most=MOST_TOLERANCE)
    max_tokens = number(BUDGET)


# -- Bodies ----------------------------------------------------------------------------------------


@extend_schema_field(
    {"oneOf": [{"type": "string", "enum": TYPES}, {"type": "integer", "minimum": 1, "maximum": len(TYPES)}]}
)
class TypeWord(Word):
    """A type by its word or its number."""


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string", "enum": [*DIFFICULTIES, ""]},
            {"type": "integer", "minimum": 1, "maximum": len(DIFFICULTIES)},
        ],
        "nullable": True,
    }
)
class DifficultyWord(Word):
    """A difficulty by its word or its number."""


@extend_schema_field({"oneOf": [{"type": "string", **OPTIONAL_NAME}, {"type": "integer", "minimum": 1}]})
class ContextWord(Word):
    """A context by its name or its id."""


@extend_schema_field({"oneOf": [{"type": "string", **NAME}, {"type": "integer", "minimum": 1}]})
class OtherContextWord(ContextWord):
    """A context to move to."""


class MemoryFields(ProjectBody):
    type = TypeWord(required=False, help_text="Left out: note.")
    stack = Text(limits=OPTIONAL_WORD, required=False, allow_null=True, help_text=STACK)
    difficulty = DifficultyWord(required=False, allow_null=True)
    tags = Words(required=False, allow_null=True)
    paths = Texts(limits=PATH, required=False, allow_null=True, help_text="Globs of the files it bears on.")
    metadata = JsonObject(required=False, allow_null=True)


class AddMemory(MemoryFields):
    example = {
        "title": "Caching the product list",
        "content": "Keep it in Redis for five minutes. Without it the page takes two seconds.",
        "context": "shop",
        "type": "reference",
        "stack": "django",
    }
    title = Text(limits=TITLE)
    content = Text(limits=CONTENT)
    context = ContextWord(  # type: ignore[assignment]  # The contract's name; it does not become an attribute.
        required=False, help_text="Its name or id; a new name makes one. Left out: general."
    )


class ChangeMemory(MemoryFields):
    """What is left out stays as it is; an empty text or null clears, metadata merges by key."""

    example = {"content": "Keep it in Redis for ten minutes.", "tags": ["caching"]}
    title = Text(limits=TITLE, required=False)
    content = Text(limits=CONTENT, required=False)
    context = OtherContextWord(  # type: ignore[assignment]
        required=False, help_text="Moves it there."
    )


# -- Answers ---------------------------------------------------------------------------------------


class ListedMemory(serializers.Serializer[Mapping[str, Any]]):
    id = serializers.IntegerField()
    title = serializers.CharField()
    digest = serializers.CharField(help_text="The first sentence of its content.")
    type = serializers.ChoiceField(TYPES)
    context = serializers.CharField()  # type: ignore[assignment]
    stack = serializers.CharField(allow_blank=True)
    tags = serializers.ListField(child=serializers.CharField())
    tokens = serializers.IntegerField(help_text="What title and content cost.")
    updated = serializers.DateTimeField()


class Memory(ListedMemory):
    content = serializers.CharField()
    difficulty = serializers.ChoiceField(DIFFICULTIES, allow_null=True)
    paths = serializers.ListField(child=serializers.CharField())
    metadata = Metadata()
    agent = serializers.CharField()
    created = serializers.DateTimeField()


class SimilarMemory(serializers.Serializer[Mapping[str, Any]]):
    id = serializers.IntegerField()
    title = serializers.CharField()
    score = serializers.FloatField(min_value=0, max_value=1)


class AddedMemory(Memory):
    context_created = serializers.BooleanField(required=False, help_text="Its context is new.")
    similar = SimilarMemory(many=True, required=False, help_text="What says nearly the same.")


class ChangedMemory(Memory):
    result = serializers.ChoiceField(["updated", "unchanged"])


class MemoryHit(serializers.Serializer[Mapping[str, Any]]):
    id = serializers.IntegerField()
    title = serializers.CharField()
    excerpt = serializers.CharField(allow_blank=True, help_text="What of it answers.")
    type = serializers.ChoiceField(TYPES)
    context = serializers.CharField()  # type: ignore[assignment]
    stack = serializers.CharField(allow_blank=True)
    score = serializers.FloatField(min_value=0, max_value=1)
    tokens = serializers.IntegerField(help_text="What title and excerpt cost.")


class SearchMeta(serializers.Serializer[Mapping[str, Any]]):
    search_method = serializers.CharField(help_text="any, or corrected where words were put right.")
    excerpt_strategy = serializers.CharField()


class Hits(serializers.Serializer[Mapping[str, Any]]):
    next = serializers.CharField(allow_null=True, help_text="Null: ask for more with `limit`.")
    count = serializers.IntegerField(help_text="How many items there are.")
    omitted = serializers.IntegerField(required=False, help_text="Left out to keep to `max_tokens`.")
    hint = serializers.CharField(required=False, help_text="What the filters name that is not there.")


class MemorySearchAnswer(Hits):
    items = MemoryHit(many=True, help_text="Best first.")
    total = serializers.IntegerField(help_text="How many memories answer, counted to 1,000.")
    more = serializers.BooleanField(required=False, help_text="There are more than `total`.")
    total_tokens = serializers.IntegerField(help_text="What titles and excerpts cost together.")
    avg_tokens = serializers.IntegerField()
    meta = SearchMeta()
    did_you_mean = serializers.CharField(required=False, help_text="The question without its slips.")


class NearMemory(serializers.Serializer[Mapping[str, Any]]):
    id = serializers.IntegerField()
    title = serializers.CharField()
    excerpt = serializers.CharField(allow_blank=True)
    distance = serializers.IntegerField(help_text="The edits of all words together.")
    score = serializers.FloatField(min_value=0, max_value=1)


class FuzzyAnswer(Hits):
    items = NearMemory(many=True, help_text="The nearest first.")
