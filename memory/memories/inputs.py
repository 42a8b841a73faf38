"""Validates the input of memory operations and counts its tokens. Runs before the write lock."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypedDict, Unpack

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import (
    CONTENT_BYTES,
    clean_choice,
    clean_name,
    clean_text,
    clean_title,
    refuse_secret,
)
from ctxhub.core.kit.unset import UNSET, Unset, if_set
from ctxhub.core.paths.reading import reader_of
from ctxhub.core.registry import name_of_ref
from ctxhub.core.text.token_count import count_tokens
from ctxhub.toolbox.argument_types import About, Object, Paths, Says, Word, Words
from memory.contexts.inputs import (
    Stack,
    clean_context_name,
    clean_metadata,
    clean_stack,
    clean_tags,
    is_number,
)
from memory.memories.models import TITLE_LENGTH, Difficulty, MemoryType

TypeWord = Annotated[Word, Says("note|conversation|snippet|reference|task|idea", in_description=False)]
DifficultyWord = Annotated[Word, Says("easy|normal|hard", in_description=False)]
AnyDifficulty = Annotated[DifficultyWord, About(schema={"enum": [*Difficulty.labels, ""]})]


class MemoryDetails(TypedDict, total=False):
    """The arguments of a memory that it may lack. UNSET or absent: unchanged; None clears."""

    stack: Stack | None | Unset
    difficulty: AnyDifficulty | None | Unset
    tags: Words | None | Unset
    paths: Paths | None | Unset
    metadata: Object | None | Unset


class MemoryArguments(MemoryDetails, total=False):
    """The arguments of a memory except title and content."""

    context: str | int | Unset
    type: str | int | Unset


# What a replaced memory has of what is left out.
DEFAULTS: MemoryDetails = {"stack": None, "difficulty": None, "tags": None, "paths": None, "metadata": None}


@frozen
class MemoryFields:
    """Validated fields; UNSET for an argument that was not given. `content_tokens`: the content's tokens."""

    title: str | Unset = UNSET
    content: str | Unset = UNSET
    content_tokens: int = 0
    context: str | Unset = UNSET
    type: MemoryType | Unset = UNSET
    stack: str | Unset = UNSET
    difficulty: Difficulty | None | Unset = UNSET
    tags: Sequence[str] | Unset = UNSET
    paths: Sequence[str] | Unset = UNSET
    metadata: Mapping[str, Any] | None | Unset = UNSET


def clean_memory(
    caller: Caller, *, title: str | Unset, content: str | Unset, **rest: Unpack[MemoryArguments]
) -> MemoryFields:
    """Validate everything that needs no database. Raises InvalidInput."""
    given = {key: value for key, value in rest.items() if value is not UNSET}
    text = UNSET if isinstance(content, Unset) else _clean_content(content, caller)
    return MemoryFields(
        title=UNSET if isinstance(title, Unset) else _clean_title(title, caller),
        content=text,
        content_tokens=count_tokens(if_set(text, "")),
        **{key: _CLEANERS[key](value, caller) for key, value in given.items()},
    )


def clean_context_reference(value: str | int | None, caller: Caller) -> str:
    """An id, or a valid name for a context."""
    name = clean_name(name_of_ref(str(value or ""), "context"), "context")
    return name if is_number(name) else clean_context_name(name, caller, "context")


def _clean_title(title: str | None, caller: Caller) -> str:
    cleaned = clean_title(title or "", "title", at_most=TITLE_LENGTH)
    refuse_secret(cleaned, "title", caller)
    return cleaned


def _clean_content(content: str | None, caller: Caller) -> str:
    cleaned = clean_text(content, "content", caller, at_most=CONTENT_BYTES)
    if not cleaned:
        raise InvalidInput("content must not be empty.")
    return cleaned


def _clean_paths(values: Sequence[str] | None, caller: Caller) -> list[str]:
    cleaned = reader_of(caller).bearing(values)
    refuse_secret("\n".join(cleaned), "paths", caller)
    return cleaned


def _clean_difficulty(value: str | int | None, caller: Caller) -> Difficulty | None:
    return None if value in (None, "") else clean_choice(value, Difficulty, "difficulty")


_CLEANERS: dict[str, Callable[[Any, Caller], Any]] = {
    "context": clean_context_reference,
    "type": lambda value, caller: clean_choice(value, MemoryType, "type"),
    "stack": clean_stack,
    "difficulty": _clean_difficulty,
    "tags": clean_tags,
    "paths": _clean_paths,
    "metadata": clean_metadata,
}
