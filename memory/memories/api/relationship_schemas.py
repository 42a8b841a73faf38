"""REST schemas of the answers about relationships, for OpenAPI."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memory.memories.models.relationship import Relation

RELATIONS = tuple(Relation.labels)
NAME: dict[str, Any] = {"oneOf": [{"type": "string"}, {"type": "integer"}]}


@extend_schema_field(NAME)
class Name(serializers.Field[Any, Any, Any, Any]):
    """A memory's id; of everything else its ref."""

    def to_representation(self, value: Any) -> Any:
        return value


class Related(serializers.Serializer[Mapping[str, Any]]):
    source = Name()  # type: ignore[assignment]  # The contract's name; it does not become an attribute.
    target = Name()
    relation = serializers.ChoiceField(RELATIONS)
    strength = serializers.IntegerField()
    result = serializers.ChoiceField(["created", "updated", "unchanged"])


class Node(serializers.Serializer[Mapping[str, Any]]):
    id = Name()
    title = serializers.CharField(allow_blank=True)
    type = serializers.CharField(help_text="A memory's type, or what kind of thing it is.")


class Edge(serializers.Serializer[Mapping[str, Any]]):
    source = Name()  # type: ignore[assignment]
    target = Name()
    relation = serializers.ChoiceField(RELATIONS)
    strength = serializers.IntegerField()


class SuggestedRelationship(serializers.Serializer[Mapping[str, Any]]):
    target = serializers.IntegerField()
    title = serializers.CharField()
    relation = serializers.ChoiceField(RELATIONS)
    strength = serializers.IntegerField()
    score = serializers.FloatField(min_value=0, max_value=1)


class Around(serializers.Serializer[Mapping[str, Any]]):
    nodes = Node(many=True, help_text="The nearest first, itself before them.")
    edges = Edge(many=True)
    suggested = SuggestedRelationship(many=True, help_text="Memories that may belong there, best first.")
    created = serializers.IntegerField(help_text="How many of these are relationships now.")
    more = serializers.BooleanField(required=False, help_text="There is more around it than is shown.")
