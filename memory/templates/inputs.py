"""Validates the input of template operations. Runs before the write lock."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, Unpack

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, shown, shown_all
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import (
    LIST_LENGTH,
    WORD_LENGTH,
    clean_name,
    clean_object,
    clean_words,
    merge_object,
    names_in,
    refuse_secret,
)
from ctxhub.core.kit.likeness import nearest
from ctxhub.core.kit.unset import UNSET, Unset
from ctxhub.core.text.patterns import check_pattern, compiled
from memory.decisions.inputs import ALTERNATIVES, TRADEOFFS, DecisionArguments, clean_fields
from memory.decisions.models import DecisionStatus


def matches(pattern: str, value: Any) -> bool:
    """Whether the pattern occurs anywhere in the value, or in its JSON if it is not a string."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return compiled(pattern).search(text) is not None


PATTERN_LENGTH = 1_000

# The arguments of `set` that can have a default, and the type of each.
TEXT, TEXTS, LIST, OBJECT = "a text", "a list of texts", "a list", "an object"
SHAPES = {
    "layer": TEXT,
    "tags": TEXTS,
    "scopes": TEXTS,
    "paths": TEXTS,
    "status": TEXT,
    "version": TEXT,
    "rationale": TEXT,
    "alternatives": LIST,
    "tradeoffs": OBJECT,
    "metadata": OBJECT,
}


class TemplateArguments(TypedDict, total=False):
    """The arguments of `template_set` besides the name. UNSET or absent: unchanged; None clears."""

    defaults: Mapping[str, Any] | None | Unset
    require: Sequence[str] | None | Unset
    patterns: Mapping[str, Any] | None | Unset


@frozen
class TemplateFields:
    """Validated fields; UNSET where the caller gave no value."""

    name: str
    defaults: Mapping[str, Any] | Unset = UNSET
    require: Sequence[str] | Unset = UNSET
    patterns: Mapping[str, str] | Unset = UNSET


def clean_template(caller: Caller, *, name: str, **rest: Unpack[TemplateArguments]) -> TemplateFields:
    """Validate everything that needs no database. Raises InvalidInput."""
    cleaned = clean_name(name, "name")
    refuse_secret(cleaned, "name", caller)
    cleaners: dict[str, Callable[[Any, Caller], Any]] = {
        "defaults": clean_defaults,
        "require": _clean_require,
        "patterns": _clean_patterns,
    }
    given: Mapping[str, Any] = {name: value for name, value in rest.items() if value is not UNSET}
    return TemplateFields(cleaned, **{name: cleaners[name](value, caller) for name, value in given.items()})


def clean_defaults(defaults: Mapping[str, Any] | None, caller: Caller) -> dict[str, Any]:
    """Return the validated defaults as arguments of `set`, without the empty ones."""
    cleaned = clean_object(defaults, "defaults", caller)
    if unknown := [name for name in cleaned if name not in SHAPES]:
        raise InvalidInput(
            f"defaults: set has no {shown_all(unknown)} that can have a default.",
            did_you_mean=nearest(unknown[0], list(SHAPES)),
            allowed=list(SHAPES),
        )
    given: Any = {name: _shaped(name, value) for name, value in cleaned.items() if not is_empty(value)}
    arguments: DecisionArguments = given
    try:
        fields = clean_fields(caller, key="any", value=UNSET, **arguments)
    except InvalidInput as error:
        raise InvalidInput(f"defaults: {error.message}", hint=error.hint, **error.details) from None
    return {name: _as_json(name, getattr(fields, name)) for name in given}


def is_empty(value: Any) -> bool:
    """Whether a value counts as absent: null, blank, [] or an object of nulls, but not 0 or false."""
    if isinstance(value, Mapping):
        return all(entry is None for entry in value.values())
    return value in (None, "", []) or (isinstance(value, str) and not value.strip())


def _shaped(name: str, value: Any) -> Any:
    """Return the value in the type `set` takes: numbers become texts, a single entry becomes a list."""
    shape = SHAPES[name]
    if shape is TEXT and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if name in ("tags", "scopes") and isinstance(value, str):
        return clean_words(names_in(value, name), name)
    if (shape is TEXTS and isinstance(value, str)) or (shape is LIST and isinstance(value, str | Mapping)):
        return [value]
    fits = {
        TEXT: isinstance(value, str),
        TEXTS: isinstance(value, list) and all(isinstance(entry, str) for entry in value),
        LIST: isinstance(value, list),
        OBJECT: isinstance(value, Mapping),
    }
    if not fits[shape]:
        raise InvalidInput(f"defaults: {name} must be {shape}, not {shown(value)}.")
    return value


def _as_json(name: str, value: Any) -> Any:
    if name in ("metadata", "tradeoffs"):
        return merge_object({}, value)
    return str(value.label) if isinstance(value, DecisionStatus) else value


def _clean_require(require: Sequence[str] | None, caller: Caller) -> list[str]:
    cleaned = clean_words(require, "require")
    refuse_secret("\n".join(cleaned), "require", caller)
    return cleaned


def _clean_patterns(patterns: Mapping[str, Any] | None, caller: Caller) -> dict[str, str]:
    cleaned = clean_object(patterns, "patterns", caller)
    if len(cleaned) > LIST_LENGTH:
        raise InvalidInput(f"patterns has {len(cleaned)} entries; the limit is {LIST_LENGTH}.")
    return {
        clean_name(field, "patterns", at_most=WORD_LENGTH): _clean_pattern(field, pattern)
        for field, pattern in cleaned.items()
        if not is_empty(pattern)
    }


def _clean_pattern(field: str, pattern: Any) -> str:
    label = f"patterns: that of {shown(field)}"
    if not isinstance(pattern, str):
        raise InvalidInput(f"{label} must be a text, not {shown(pattern)}.")
    if len(pattern) > PATTERN_LENGTH:
        raise InvalidInput(f"{label} has {len(pattern):,} characters; the limit is {PATTERN_LENGTH:,}.")
    check_pattern(pattern, label)
    return pattern


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
