"""What a caller may say about a context, made clean before any lock is taken."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import clean_name, clean_object, clean_text, clean_words, refuse_secret
from ctxhub.core.kit.unset import UNSET, Unset
from ctxhub.core.registry import name_of_ref
from memory.memories.models.context import STACK_LENGTH


class ContextArguments(TypedDict, total=False):
    """What a context has beside its name. UNSET, or left out: unchanged; None clears."""

    description: str | None | Unset
    tags: Sequence[str] | None | Unset
    stack: str | None | Unset
    metadata: Mapping[str, Any] | None | Unset


@dataclass(frozen=True, slots=True)
class ContextFields:
    """Clean fields; UNSET where the caller said nothing."""

    name: str | Unset = UNSET
    description: str | Unset = UNSET
    tags: Sequence[str] | Unset = UNSET
    stack: str | Unset = UNSET
    metadata: Mapping[str, Any] | None | Unset = UNSET


def clean_context(caller: Caller, *, name: str | Unset, **rest: Unpack[ContextArguments]) -> ContextFields:
    """Check everything that needs no database; raises InvalidInput."""
    given = {key: said for key, said in rest.items() if said is not UNSET}
    return ContextFields(
        name=UNSET if isinstance(name, Unset) else clean_context_name(name, caller),
        **{key: _CLEANERS[key](said, caller) for key, said in given.items()},
    )


def clean_context_name(name: str | None, caller: Caller, place: str = "name") -> str:
    """The name of a new context; what is all digits would be taken for an id."""
    cleaned = clean_name(name_of_ref(name or "", "context"), place)
    refuse_secret(cleaned, place, caller)
    if is_number(cleaned):
        raise InvalidInput(
            f"{place} must not be all digits.", hint="Digits mean a context's id; add a word: sprint 12."
        )
    return cleaned


def is_number(name: str) -> bool:
    """Whether it can only be an id, as answers or refs write it."""
    return number_of(name).isdecimal()


def number_of(name: str) -> str:
    return name.removeprefix("context:").strip()


def clean_stack(said: str | None, caller: Caller) -> str:
    """What something is about: free text; None or blank clears."""
    if said is None or not said.strip():
        return ""
    cleaned = clean_name(said, "stack", at_most=STACK_LENGTH)
    refuse_secret(cleaned, "stack", caller)
    return cleaned


def clean_tags(said: Sequence[str] | None, caller: Caller) -> list[str]:
    cleaned = clean_words(said, "tags")
    refuse_secret("\n".join(cleaned), "tags", caller)
    return cleaned


def clean_metadata(said: Mapping[str, Any] | None, caller: Caller) -> Mapping[str, Any] | None:
    return None if said is None else clean_object(said, "metadata", caller)


_CLEANERS: dict[str, Callable[[Any, Caller], Any]] = {
    "description": lambda said, caller: clean_text(said, "description", caller),
    "tags": clean_tags,
    "stack": clean_stack,
    "metadata": clean_metadata,
}
