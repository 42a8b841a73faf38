"""Checks of values in an export that several nouns need. They raise InvalidInput."""

from collections.abc import Sequence
from typing import Any

from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.inputs import clean_path
from ctxhub.core.text.glob_syntax import exempted, is_exempting

MOST_ENTRIES = 500


def texts(value: Any) -> Sequence[str]:
    """A list of texts."""
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise InvalidInput(f"{shown(value)} is no list of texts.")
    return value


def path(value: str) -> str:
    """A path of a file, as it is stored."""
    clean_path(value, "path")
    return value


def globs(value: Any) -> Sequence[str]:
    """A list of globs as they are stored."""
    for glob in texts(value):
        clean_path(exempted(glob) if is_exempting(glob) else glob, "paths")
    if len(value) > MOST_ENTRIES:
        raise InvalidInput(f"paths: {len(value):,} entries; the limit is {MOST_ENTRIES}.")
    return list(value)


def object_(value: Any) -> dict[str, Any]:
    """A JSON object."""
    if not isinstance(value, dict):
        raise InvalidInput(f"{shown(value)} is no object.")
    return value


def entries(value: Any) -> list[Any]:
    """A JSON list."""
    if not isinstance(value, list):
        raise InvalidInput(f"{shown(value)} is no list.")
    return value
