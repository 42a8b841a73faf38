"""REST schemas of similarity and captures: queries, bodies and answers, for validation and OpenAPI."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from ctxhub.core.api.bodies import Flag, ProjectBody, Text
from ctxhub.core.api.queries import Query, id_of, number, share, text
from ctxhub.core.kit.inputs import MAX_LIMIT
from ctxhub.core.kit.limits import CONTENT, OPTIONAL_TITLE, QUESTION
from memory.memories.api.memory_schemas import BUDGET, TYPES, ContextWord, Hits, SimilarMemory, TypeWord


class SimilarQuery(Query):
    id = id_of("memory", "Like this memory. This, or `text`.")
    text = text("Like this text.", limits=QUESTION)
    threshold = share("How like it is at least; left out: 0.3.")
    limit = number("How many of the best; left out: 10.", at_most=MAX_LIMIT)
    max_tokens = number(BUDGET)


class ContextSuggestionQuery(Query):
    text = text("What belongs somewhere.", limits=QUESTION, required=True)


# -- Bodies ----------------------------------------------------------------------------------------


class Capture(ProjectBody):
    example = {
        "content": "We decided to keep sessions in PostgreSQL 16: `sessions/store.py` needs one transaction.",
        "dry_run": True,
    }
    content = Text(limits=CONTENT)
    context = ContextWord(  # type: ignore[assignment]  # The contract's name; it does not become an attribute.
        required=False, help_text="Its name or id; a new name makes one. Left out: where it fits, or general."
    )
    type = TypeWord(required=False, help_text="Left out: told from the content.")
    title = Text(
        limits=OPTIONAL_TITLE, required=False, allow_null=True, help_text="Left out: told from the content."
    )
    dry_run = Flag(required=False, help_text="Only tell what would happen.")


# -- Answers ---------------------------------------------------------------------------------------


class SimilarAnswer(Hits):
    items = SimilarMemory(many=True, help_text="Best first.")


class FittingContext(serializers.Serializer[Mapping[str, Any]]):
    context = serializers.CharField()  # type: ignore[assignment]
    score = serializers.FloatField(min_value=0, max_value=1)


class SuggestedContext(serializers.Serializer[Mapping[str, Any]]):
    name = serializers.CharField()
    description = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField())


class ContextSuggestion(serializers.Serializer[Mapping[str, Any]]):
    existing = FittingContext(required=False, help_text="It covers half of the keywords, or more.")
    new = SuggestedContext(required=False, help_text="One to make, where none does.")
    similar = FittingContext(many=True, required=False, help_text="Others that come near.")
    keywords = serializers.ListField(child=serializers.CharField())


class Confidence(serializers.Serializer[Mapping[str, Any]]):
    pattern = serializers.FloatField(min_value=0, max_value=1)
    uniqueness = serializers.FloatField(min_value=0, max_value=1)
    specificity = serializers.FloatField(min_value=0, max_value=1)
    quality = serializers.FloatField(min_value=0, max_value=1)


class Captured(serializers.Serializer[Mapping[str, Any]]):
    saved = serializers.BooleanField()
    id = serializers.IntegerField(required=False)
    confidence = serializers.FloatField(min_value=0, max_value=1, help_text="Saved above 0.65.")
    parts = Confidence()
    duplicate_of = serializers.CharField(required=False, help_text="The ref of what says the same.")
    reason = serializers.CharField(required=False, help_text="Why it is not saved.")
    context = serializers.CharField(required=False)  # type: ignore[assignment]
    type = serializers.ChoiceField(TYPES, required=False)
    title = serializers.CharField(required=False)
    context_created = serializers.BooleanField(required=False, help_text="Its context is new.")
