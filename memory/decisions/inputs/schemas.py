"""JSON schemas of what decisions hold as JSON: alternatives, tradeoffs and the defaults of a template."""

from typing import Any

from memory.decisions.inputs.templates import LIST, OBJECT, SHAPES, TEXT, TEXTS

OPTION = {
    "type": "object",
    "required": ["option"],
    "properties": {"option": {"type": "string"}, "why_not": {"type": "string"}},
}
ALTERNATIVE: dict[str, Any] = {"oneOf": [{"type": "string"}, OPTION]}
ALTERNATIVES: dict[str, Any] = {"type": "array", "items": ALTERNATIVE}

REASONS = {"type": "array", "items": {"type": "string"}, "nullable": True}
TRADEOFFS: dict[str, Any] = {
    "type": "object",
    "properties": {"pros": REASONS, "cons": REASONS},
    "additionalProperties": False,
    "example": {"pros": ["Fast."], "cons": ["One more server."]},
}

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
