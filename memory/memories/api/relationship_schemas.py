"""REST schemas of relationships: queries, bodies and answers, for validation and OpenAPI."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from ctxhub.core.api.bodies import ProjectBody, WholeNumber, Word
from ctxhub.core.api.queries import Query, number, share, text
from ctxhub.core.kit.inputs import MAX_LIMIT
from ctxhub.core.kit.limits import REF
from memory.memories.models.relationship import Relation
from memory.memories.selectors.relationships import MAX_DEPTH

RELATIONS = tuple(Relation.labels)
NAME: dict[str, Any] = {"oneOf": [{"type": "string"}, {"type": "integer"}]}


class AroundQuery(Query):
    threshold = share("How much a suggested memory has in common at least; left out: 0.3.")
    limit = number("How many memories are suggested; left out: 10.", at_most=MAX_LIMIT)
    depth = number("How many relationships away; left out: 1.", at_most=MAX_DEPTH)


class UnrelateQuery(Query):
    target = text("A memory's id, or the ref of anything.", limits=REF, required=True)
    relation = text("Left out: all that was said in this direction.", one_of=RELATIONS)


# -- Bodies ----------------------------------------------------------------------------------------


@extend_schema_field({"oneOf": [{"type": "string", **REF}, {"type": "integer", "minimum": 1}]})
class NameWord(Word):
    """A memory's id, or the ref of anything."""


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string", "enum": RELATIONS},
            {"type": "integer", "minimum": 1, "maximum": len(RELATIONS)},
        ]
    }
)
class RelationWord(Word):
    """A relation by its word or its number."""


class Relate(ProjectBody):
    example = {"target": "decision:api/auth/method", "relation": "depends_on", "strength": 80}
    target = NameWord(help_text="A memory's id, or the ref of anything: decision:api/auth/method.")
    relation = RelationWord(required=False, help_text="Left out: related.")
    strength = WholeNumber(required=False, min_value=0, max_value=100, help_text="Left out: 50.")


class RelateSuggested(ProjectBody):
    example = {"threshold": 0.5}
    threshold = serializers.FloatField(required=False, min_value=0, max_value=1, help_text="Left out: 0.3.")
    limit = WholeNumber(required=False, min_value=1, max_value=MAX_LIMIT, help_text="Left out: 10.")
    depth = WholeNumber(required=False, min_value=1, max_value=MAX_DEPTH, help_text="Left out: 1.")


# -- Answers ---------------------------------------------------------------------------------------


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
