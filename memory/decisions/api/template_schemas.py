"""Request bodies and responses of templates over REST, for validation and the OpenAPI schema."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from ctxhub.core.api.bodies import JsonObject, ProjectBody, Texts
from memory.decisions.api.decision_schemas import ALTERNATIVES, RESULTS, TRADEOFFS, SetDecision
from memory.decisions.inputs.templates import LIST, OBJECT, SHAPES, TEXT, TEXTS
from memory.decisions.selectors.builtin_templates import BUILT_IN, OWN

_KINDS: dict[str, dict[str, Any]] = {
    TEXT: {"type": "string"},
    TEXTS: {"type": "array", "items": {"type": "string"}},
    LIST: ALTERNATIVES,
    OBJECT: {"type": "object", "additionalProperties": True},
}
_DEFAULTS = {name: _KINDS[kind] for name, kind in SHAPES.items()} | {"tradeoffs": TRADEOFFS}


@extend_schema_field(
    {
        "type": "object",
        "properties": {name: {**schema, "nullable": True} for name, schema in _DEFAULTS.items()},
        "additionalProperties": False,
        "nullable": True,
    }
)
class Defaults(JsonObject):
    """Arguments of a decision by their names."""


@extend_schema_field({"type": "object", "additionalProperties": {"type": "string"}, "nullable": True})
class Patterns(JsonObject):
    """Regular expressions by the names of fields."""


class ChangeTemplate(ProjectBody):
    """Left out: unchanged; null clears."""

    example = {"require": ["rationale", "severity"]}
    defaults = Defaults(
        required=False, allow_null=True, help_text="Arguments of a decision, beside key and value."
    )
    require = Texts(
        required=False, allow_null=True, help_text="What has to be said: arguments, or names in metadata."
    )
    patterns = Patterns(
        required=False, allow_null=True, help_text="{field: regular expression (RE2)}, found anywhere in it."
    )


class ReplaceTemplate(ChangeTemplate):
    """Left out: nothing."""

    example = {"defaults": {"tags": ["incident"]}, "require": ["rationale"], "patterns": {}}


class SetFromTemplate(SetDecision):
    """A decision as it is set; what the template gives can be left out."""

    example = {"key": "perf/cache", "value": "Cache for 60 s.", "rationale": "Reads outnumber writes."}


class Template(serializers.Serializer[Mapping[str, Any]]):
    name = serializers.CharField()
    defaults = JsonObject()
    require = serializers.ListField(child=serializers.CharField())
    patterns = serializers.DictField(child=serializers.CharField())
    origin = serializers.ChoiceField([OWN, BUILT_IN])


class TemplateAnswer(Template):
    result = serializers.ChoiceField(RESULTS)
