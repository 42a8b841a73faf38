"""Validates the input of decision operations. Runs before the write lock."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypedDict, Unpack

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import (
    WORD_LENGTH,
    clean_choice,
    clean_json,
    clean_name,
    clean_number,
    clean_object,
    clean_text,
    clean_words,
    refuse_joined_secret,
    refuse_secret,
)
from ctxhub.core.kit.limits import VERSION
from ctxhub.core.kit.text_lists import read_entries
from ctxhub.core.kit.unset import UNSET, Unset
from ctxhub.core.paths.reading import PathReader, reader_of
from ctxhub.toolbox.argument_types import (
    SINCE,
    UNDECLARED,
    About,
    Anything,
    ByAgent,
    Cursor,
    Default,
    InLayer,
    InScope,
    Limit,
    Match,
    Object,
    OnlyStale,
    OptionalWord,
    Paths,
    Says,
    Text,
    WithoutTags,
    WithTags,
    Word,
    Words,
)
from memory.decisions.models import DecisionStatus, ValueType

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


VERSION_LENGTH = 50


StatusWord = Annotated[Word, Says("active|draft|deprecated")]
Version = Annotated[Text, About(schema=VERSION)]
Numeric = Annotated[
    bool,
    UNDECLARED,
    About("Whether a text that is a plain number is stored as one. Left out: as the value before."),
]


class DecisionArguments(TypedDict, total=False):
    """The arguments of `set` besides key and value. UNSET or absent: unchanged; None clears."""

    layer: OptionalWord | None | Unset
    tags: Words | None | Unset
    scopes: Words | None | Unset
    paths: Paths | None | Unset
    status: StatusWord | Unset
    version: Version | Unset
    rationale: str | None | Unset
    alternatives: Annotated[Anything, About("Texts, or {option, why_not}.", items=ALTERNATIVE)] | None | Unset
    tradeoffs: Annotated[Object, About("A null inside removes pros or cons.", TRADEOFFS)] | None | Unset
    metadata: Annotated[Object, About("Merges by key; null removes one.")] | None | Unset
    expected_version: Annotated[Version, About("Refused with 409 if it is at another version.")] | Unset
    numeric: Numeric | None | Unset


# The values of a decision whose optional arguments are all absent.
DEFAULTS: DecisionArguments = {
    "layer": None,
    "tags": None,
    "scopes": None,
    "paths": None,
    "status": "active",
    "rationale": None,
    "alternatives": None,
    "tradeoffs": None,
    "metadata": None,
}


ALL_WORDS = 'All these words are in it: key, value, reasons, tags. "A phrase", -not, prefix*.'


class DecisionFilters(TypedDict, total=False):
    """What `decision list` takes, before validation."""

    status: Annotated[Word, Says("active|draft|deprecated|any"), About("Left out: active.")]
    layer: InLayer | None
    tags: WithTags | None
    match: Match
    exclude_tags: WithoutTags | None
    scope: InScope | None
    by: ByAgent | None
    text: Annotated[str, About(ALL_WORDS)] | None
    since: Annotated[str, About(f"Changed since. {SINCE}")] | None
    until: Annotated[str, About(f"Changed before. {SINCE}")] | None
    sort: Annotated[str, Says("updated|key|version", in_description=False), About("Left out: updated.")]
    order: Annotated[str, Says("desc|asc", in_description=False), About("Left out: desc.")]
    limit: Limit
    cursor: Cursor | None
    full: Annotated[bool, Default(False), About("Values whole, not cut to 200 characters.")]
    stale: OnlyStale | None


@frozen
class DecisionFields:
    """Validated fields; UNSET where the caller gave no value."""

    key: str
    value: str | Unset
    value_type: ValueType | Unset
    layer: str | None | Unset = UNSET
    tags: Sequence[str] | Unset = UNSET
    scopes: Sequence[str] | Unset = UNSET
    paths: Sequence[str] | Unset = UNSET
    status: DecisionStatus | Unset = UNSET
    version: str | Unset = UNSET
    rationale: str | Unset = UNSET
    alternatives: Sequence[Any] | Unset = UNSET
    tradeoffs: Mapping[str, Any] | Unset = UNSET
    metadata: Mapping[str, Any] | None | Unset = UNSET
    expected_version: str | Unset = UNSET
    numeric: bool | None | Unset = UNSET


def clean_fields(
    caller: Caller,
    *,
    key: str,
    value: str | int | float | Unset,
    reader: PathReader | None = None,
    **rest: Unpack[DecisionArguments],
) -> DecisionFields:
    """Validate everything that needs no lock. Raises InvalidInput.

    `numeric`: whether the value is to be a number, also where it is given as a text; left out or None: as the
    value that is there. `reader`: reads the paths, where several decisions have some.
    """
    _check_kind(value, rest.get("numeric"))
    text, value_type = (UNSET, UNSET) if isinstance(value, Unset) else _clean_value(value, caller)
    if not isinstance(text, Unset):
        refuse_joined_secret([f"{key}: ", text], "value", caller)
    given = {name: argument for name, argument in rest.items() if argument is not UNSET}
    paths = given.pop("paths", UNSET)
    return DecisionFields(
        key=_clean_new_key(key, caller),
        value=text,
        value_type=value_type,
        paths=paths if isinstance(paths, Unset) else _clean_paths(paths, reader or reader_of(caller), caller),
        **{name: _CLEANERS[name](argument, caller) for name, argument in given.items()},
    )


def clean_key(key: str) -> str:
    """Validate a key to look up. Allows keys that contain a credential, so that they can be deleted."""
    return clean_name(key, "key")


def _clean_new_key(key: str, caller: Caller) -> str:
    cleaned = clean_key(key)
    refuse_secret(cleaned, "key", caller)
    return cleaned


def plain_number(text: str) -> int | float | None:
    """The number that a text is, if it is one in JSON; None for texts such as 007, 1.2.3 and 5 ms."""
    if not _PLAIN_NUMBER.fullmatch(text := text.strip()):
        return None
    try:
        return clean_number(int(text) if _WHOLE_NUMBER.fullmatch(text) else float(text), "value")
    except (ValueError, InvalidInput):
        return None  # It is too large.


_WHOLE_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)")
_PLAIN_NUMBER = re.compile(rf"{_WHOLE_NUMBER.pattern}(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def _check_kind(value: str | int | float | Unset, numeric: bool | None | Unset) -> None:
    if numeric is True and isinstance(value, str) and plain_number(value) is None:
        raise InvalidInput(
            f"value: {shown(value)} is no plain number.",
            hint="Write it like 50, -1.5 or 2e6, or leave numeric out.",
        )
    if numeric is False and not isinstance(value, str | Unset):
        raise InvalidInput(
            f"value: {shown(value)} is a number.", hint="Send it as a text, or leave numeric out."
        )


def _clean_value(value: str | int | float, caller: Caller) -> tuple[str, ValueType]:
    if isinstance(value, str):
        return clean_text(value, "value", caller), ValueType.TEXT
    return stored_number(clean_number(value, "value"))


def stored_number(number: int | float) -> tuple[str, ValueType]:
    """Value and type of a number as they are stored."""
    return repr(number), ValueType.INTEGER if isinstance(number, int) else ValueType.FLOAT


def _clean_layer(layer: str | None, caller: Caller) -> str | None:
    return clean_name(layer, "layer", at_most=WORD_LENGTH) if layer else None


def _clean_version(version: str | None, caller: Caller) -> str | Unset:
    if version is None:
        return UNSET
    cleaned = clean_name(version, "version", at_most=VERSION_LENGTH)
    refuse_secret(cleaned, "version", caller)
    return cleaned


def _clean_list(clean: Callable[[Any, str], list[str]], name: str) -> Callable[[Any, Caller], list[str]]:
    def cleaner(values: Sequence[str] | None, caller: Caller) -> list[str]:
        cleaned = clean(values, name)
        refuse_secret("\n".join(cleaned), name, caller)
        return cleaned

    return cleaner


def _clean_paths(values: Any, reader: PathReader, caller: Caller) -> list[str]:
    cleaned = reader.bearing(values)
    refuse_secret("\n".join(cleaned), "paths", caller)
    return cleaned


def _clean_alternatives(alternatives: Sequence[Any] | None, caller: Caller) -> list[Any]:
    cleaned = list(clean_json(read_entries(list(alternatives or ())), "alternatives", caller))
    for position, entry in enumerate(cleaned):
        if isinstance(entry, str) or (isinstance(entry, dict) and isinstance(entry.get("option"), str)):
            continue
        raise InvalidInput(f"alternatives[{position}] must be a text or {{option, why_not}}.")
    return cleaned


def _clean_tradeoffs(tradeoffs: Mapping[str, Any] | None, caller: Caller) -> dict[str, Any]:
    """Validate {pros, cons}; null instead of a list removes that side."""
    cleaned = clean_object(tradeoffs, "tradeoffs", caller)
    for name, given in cleaned.items():
        entries = cleaned[name] = None if given is None else read_entries(given)
        is_texts = isinstance(entries, list) and all(isinstance(entry, str) for entry in entries)
        if name not in ("pros", "cons") or not (entries is None or is_texts):
            raise InvalidInput("tradeoffs must be {pros: [texts], cons: [texts]}.", allowed=["pros", "cons"])
    return cleaned


_CLEANERS: dict[str, Callable[[Any, Caller], Any]] = {
    "layer": _clean_layer,
    "tags": _clean_list(clean_words, "tags"),
    "scopes": _clean_list(clean_words, "scopes"),
    "status": lambda value, caller: clean_choice(value, DecisionStatus, "status"),
    "version": _clean_version,
    "rationale": lambda value, caller: clean_text(value, "rationale", caller),
    "alternatives": _clean_alternatives,
    "tradeoffs": _clean_tradeoffs,
    "metadata": lambda value, caller: None if value is None else clean_object(value, "metadata", caller),
    "expected_version": _clean_version,
    "numeric": lambda value, caller: value,
}
