"""Responses of templates over REST, for the OpenAPI schema."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from ctxhub.core.api.bodies import JsonObject
from memory.decisions.api.decision_schemas import RESULTS
from memory.decisions.selectors.builtin_templates import BUILT_IN, OWN


class Template(serializers.Serializer[Mapping[str, Any]]):
    name = serializers.CharField()
    defaults = JsonObject()
    require = serializers.ListField(child=serializers.CharField())
    patterns = serializers.DictField(child=serializers.CharField())
    origin = serializers.ChoiceField([OWN, BUILT_IN])


class TemplateAnswer(Template):
    result = serializers.ChoiceField(RESULTS)
