"""Responses of templates over REST, for the OpenAPI schema."""

from typing import Annotated, Any

from typing_extensions import TypedDict

from ctxhub.core.toolbox.argument_types import one_of
from memory.decisions.api.decision_schemas import RESULTS
from memory.decisions.selectors.builtin_templates import BUILT_IN, OWN


class Template(TypedDict):
    name: str
    defaults: dict[str, Any]
    require: list[str]
    patterns: dict[str, str]
    origin: Annotated[str, one_of(OWN, BUILT_IN)]


class TemplateAnswer(Template):
    result: Annotated[str, one_of(*RESULTS)]
