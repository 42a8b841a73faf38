"""JSON schemas of what decisions hold as JSON: alternatives and tradeoffs."""

from typing import Any

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
