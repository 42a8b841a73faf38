"""Validates how agents name accesses to files, orders of their list, and dependencies."""

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import (
    WORD_LENGTH,
    clean_choice,
    clean_from_to,
    clean_name,
    clean_one_of,
    refuse_secret,
)
from ctxhub.core.paths.reading import PathReader, reader_of
from tracking.files.paths import clean_file
from tracking.models import AccessKind

ACCESS_FORMS = {
    "view": AccessKind.VIEWED,
    "edit": AccessKind.EDITED,
    "execute": AccessKind.EXECUTED,
    "reference": AccessKind.REFERENCED,
}
SORTS = ("relevance", "accessed", "recent")
DIRECTIONS = ("both", "incoming", "outgoing")
MOST_STRENGTH = 1_000
MOST_DEPTH = 100


@frozen
class NewDependency:
    source: str
    target: str
    type: str
    strength: int


def clean_access(value: str | int) -> AccessKind:
    """An access by its word (viewed or view), in any case, or by its number."""
    form = ACCESS_FORMS.get(str(value).strip().lower())
    return form or clean_choice(value, AccessKind, "access")


def clean_tracked_path(path: str, name: str, caller: Caller, reader: PathReader | None = None) -> str:
    file = clean_file(path, name, reader=reader or reader_of(caller))
    refuse_secret(file, name, caller)
    return file


def clean_sort(value: str) -> str:
    return clean_one_of(value, SORTS, "sort")


def clean_direction(value: str) -> str:
    return clean_one_of(value, DIRECTIONS, "direction")


def clean_depth(value: int) -> int:
    return clean_from_to(value, "depth", 1, MOST_DEPTH)


def clean_dependency(
    *, caller: Caller, source: str, target: str, type: str, strength: int = 1
) -> NewDependency:
    """A dependency between two different files."""
    reader = reader_of(caller)
    reader.learn([source, target])
    first = clean_tracked_path(source, "source", caller, reader)
    second = clean_tracked_path(target, "target", caller, reader)
    if first == second:
        raise InvalidInput(f"source and target are both {shown(first)}: a file does not depend on itself.")
    kind = clean_name(type, "type", at_most=WORD_LENGTH)
    refuse_secret(kind, "type", caller)
    return NewDependency(first, second, kind, clean_from_to(strength, "strength", 1, MOST_STRENGTH))
