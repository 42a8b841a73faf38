"""Paths and globs as callers say them: each file has one spelling."""

from collections.abc import Sequence

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import clean_path, clean_paths

# What an index of PostgreSQL can hold of one value.
PATH_BYTES = 2_500


def clean_file(path: str, name: str = "path") -> str:
    """The path of one file, to the letter: `./src//app.py` is src/app.py."""
    return _tidy(clean_path(path, name), name)


def clean_pattern(path: str, name: str = "path") -> str:
    """A path or glob. A slash at its end stays: it means everything below."""
    cleaned = clean_path(path, name)
    return _tidy(cleaned, name) + ("/" if cleaned.endswith("/") else "")


def clean_patterns(paths: Sequence[str], name: str = "paths") -> list[str]:
    """One to 50 paths or globs, each once."""
    cleaned = [clean_pattern(path, f"{name}[{n}]") for n, path in enumerate(clean_paths(paths, name))]
    if not cleaned:
        raise InvalidInput(f"{name} must name at least one path.", missing=[name])
    return list(dict.fromkeys(cleaned))


def _tidy(path: str, name: str) -> str:
    tidy = "/".join(part for part in path.split("/") if part not in ("", "."))
    if not tidy:
        raise InvalidInput(f"{name} must name a file or a directory.")
    if (size := len(tidy.encode())) > PATH_BYTES:
        raise InvalidInput(f"{name} has {size:,} bytes; the limit is {PATH_BYTES:,}.")
    return tidy
