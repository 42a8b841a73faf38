"""REST schemas of the answers about memories, for OpenAPI."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from memory.memories.api.context_schemas import Metadata
from memory.memories.models.memory import Difficulty, MemoryType

TYPES = tuple(MemoryType.labels)
DIFFICULTIES = tuple(Difficulty.labels)


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
