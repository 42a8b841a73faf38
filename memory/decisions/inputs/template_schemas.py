"""JSON schemas of what templates hold as JSON: defaults and patterns."""

from typing import Any

from memory.decisions.inputs.schemas import ALTERNATIVES, TRADEOFFS
from memory.decisions.inputs.templates import LIST, OBJECT, SHAPES, TEXT, TEXTS

_KINDS: dict[str, dict[str, Any]] = {
    TEXT: {"type": "string"},
    TEXTS: {"type": "array", "items": {"type": "string"}},
    LIST: ALTERNATIVES,
    OBJECT: {"type": "object", "additionalProperties": True},
}
_DEFAULTS = {name: _KINDS[kind] for name, kind in SHAPES.items()} | {"tradeoffs": TRADEOFFS}
DEFAULTS: dict[str, Any] = {
    "type": "object",
    "properties": {name: {**schema, "nullable": True} for name, schema in _DEFAULTS.items()},
    "additionalProperties": False,
}
PATTERNS: dict[str, Any] = {"type": "object", "additionalProperties": {"type": "string"}}
