"""Validates the input of constraint operations. Runs before the write lock."""

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, TypedDict, Unpack

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import (
    WORD_LENGTH,
    clean_choice,
    clean_name,
    clean_text,
    clean_words,
    refuse_secret,
)
from ctxhub.core.kit.priority import Priority
from ctxhub.core.kit.unset import UNSET, Unset
from ctxhub.core.paths.reading import reader_of
from ctxhub.toolbox.argument_types import About, OptionalWord, Paths, Says, Word, Words

PriorityWord = Annotated[Word, Says("low|medium|high|critical")]


class ConstraintArguments(TypedDict, total=False):
    """The arguments of `add` besides category and text. UNSET, None and absent are the same."""

    priority: Annotated[PriorityWord, About("Left out: medium.")] | Unset
    layer: OptionalWord | None
    tags: Words | None
    scopes: Words | None
    paths: Paths | None
    reason: Annotated[str, About("Why it must hold.")] | None


@frozen
class ConstraintFields:
    """Validated fields; UNSET where the caller gave no value."""

    category: str
    text: str
    priority: Priority | Unset = UNSET
    layer: str | Unset = UNSET
    tags: Sequence[str] | Unset = UNSET
    scopes: Sequence[str] | Unset = UNSET
    paths: Sequence[str] | Unset = UNSET
    reason: str | Unset = UNSET


def clean_constraint(
    caller: Caller, *, category: str, text: str, **rest: Unpack[ConstraintArguments]
) -> ConstraintFields:
    """Validate everything that needs no database. Raises InvalidInput."""
    given = {name: value for name, value in rest.items() if value is not None and value is not UNSET}
    return ConstraintFields(
        category=_clean_category(category, caller),
        text=_clean_text(text, caller),
        **{name: _CLEANERS[name](value, caller) for name, value in given.items()},
    )


def _clean_category(category: str, caller: Caller) -> str:
    cleaned = clean_name(category, "category", at_most=WORD_LENGTH)
    refuse_secret(cleaned, "category", caller)
    return cleaned


def _clean_text(text: str, caller: Caller) -> str:
    """Strip and normalise to NFC, so that equal texts are the same constraint."""
    cleaned = unicodedata.normalize("NFC", clean_text(text, "text", caller)).strip()
    if not cleaned:
        raise InvalidInput("text must not be blank.")
    return cleaned


def _clean_layer(layer: str, caller: Caller) -> str | Unset:
    return clean_name(layer, "layer", at_most=WORD_LENGTH) if layer else UNSET


def _clean_list(clean: Callable[[Iterable[str], str], list[str]], name: str) -> Callable[[Any, Caller], Any]:
    def cleaner(values: Sequence[str], caller: Caller) -> list[str]:
        cleaned = clean(values, name)
        refuse_secret("\n".join(cleaned), name, caller)
        return cleaned

    return cleaner


def _clean_paths(values: Sequence[str], caller: Caller) -> list[str]:
    cleaned = reader_of(caller).bearing(values)
    refuse_secret("\n".join(cleaned), "paths", caller)
    return cleaned


_CLEANERS: dict[str, Callable[[Any, Caller], Any]] = {
    "priority": lambda value, caller: clean_choice(value, Priority, "priority"),
    "layer": _clean_layer,
    "tags": _clean_list(clean_words, "tags"),
    "scopes": _clean_list(clean_words, "scopes"),
    "paths": _clean_paths,
    "reason": lambda value, caller: clean_text(value, "reason", caller),
}
