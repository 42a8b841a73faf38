"""Validates the input of context operations. Runs before the write lock."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypedDict, Unpack

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_name, clean_object, clean_text, clean_words, refuse_secret
from ctxhub.core.kit.limits import OPTIONAL_WORD
from ctxhub.core.kit.unset import UNSET, Unset
from ctxhub.core.registry import name_of_ref
from ctxhub.toolbox.argument_types import About, Object, Words
from memory.contexts.models import STACK_LENGTH

Stack = Annotated[str, About("What it is about: django, react19.", OPTIONAL_WORD)]


class ContextArguments(TypedDict, total=False):
    """The arguments of a context except its name. UNSET or absent: unchanged; None clears."""

    description: str | None | Unset
    tags: Words | None | Unset
    stack: Stack | None | Unset
    metadata: Object | None | Unset


# What a replaced context has of what is left out.
DEFAULTS: ContextArguments = {"description": None, "tags": None, "stack": None, "metadata": None}


@frozen
class ContextFields:
    """Validated fields; UNSET for an argument that was not given."""

    name: str | Unset = UNSET
    description: str | Unset = UNSET
    tags: Sequence[str] | Unset = UNSET
    stack: str | Unset = UNSET
    metadata: Mapping[str, Any] | None | Unset = UNSET


def clean_context(caller: Caller, *, name: str | Unset, **rest: Unpack[ContextArguments]) -> ContextFields:
    """Validate everything that needs no database. Raises InvalidInput."""
    given = {key: value for key, value in rest.items() if value is not UNSET}
    return ContextFields(
        name=UNSET if isinstance(name, Unset) else clean_context_name(name, caller),
        **{key: _CLEANERS[key](value, caller) for key, value in given.items()},
    )


def clean_context_name(name: str | None, caller: Caller, field: str = "name") -> str:
    """The name of a new context. Not all digits, which would be read as an id."""
    cleaned = clean_name(name_of_ref(name or "", "context"), field)
    refuse_secret(cleaned, field, caller)
    if is_number(cleaned):
        raise InvalidInput(
            f"{field} must not be all digits.", hint="Digits mean a context's id; add a word: sprint 12."
        )
    return cleaned


def is_number(name: str) -> bool:
    """Whether a name is an id: digits, or a ref with digits."""
    return number_of(name).isdecimal()


def number_of(name: str) -> str:
    return name.removeprefix("context:").strip()


def clean_stack(value: str | None, caller: Caller) -> str:
    """The technology that a row is about, as free text; None or blank clears."""
    if value is None or not value.strip():
        return ""
    cleaned = clean_name(value, "stack", at_most=STACK_LENGTH)
    refuse_secret(cleaned, "stack", caller)
    return cleaned


def clean_tags(values: Sequence[str] | None, caller: Caller) -> list[str]:
    cleaned = clean_words(values, "tags")
    refuse_secret("\n".join(cleaned), "tags", caller)
    return cleaned


def clean_metadata(value: Mapping[str, Any] | None, caller: Caller) -> Mapping[str, Any] | None:
    return None if value is None else clean_object(value, "metadata", caller)


_CLEANERS: dict[str, Callable[[Any, Caller], Any]] = {
    "description": lambda value, caller: clean_text(value, "description", caller),
    "tags": clean_tags,
    "stack": clean_stack,
    "metadata": clean_metadata,
}
