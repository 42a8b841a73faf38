"""REST schemas of the answers about similarity and captures, for OpenAPI."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from memory.memories.api.memory_schemas import TYPES, Hits, SimilarMemory


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
