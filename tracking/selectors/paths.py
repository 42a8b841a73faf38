"""Normalises paths and globs in input, so that each file has one spelling."""

from collections.abc import Sequence

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import clean_path, clean_paths

# Limit of one value in a PostgreSQL index.
PATH_BYTES = 2_500


def clean_file(path: str, name: str = "path") -> str:
    """The path of one file, taken literally: `./src//app.py` becomes src/app.py."""
    return _normalised(clean_path(path, name), name)


def clean_pattern(path: str, name: str = "path") -> str:
    """A path or glob. A trailing slash is kept: it means everything below."""
    cleaned = clean_path(path, name)
    return _normalised(cleaned, name) + ("/" if cleaned.endswith("/") else "")


def clean_patterns(paths: Sequence[str], name: str = "paths") -> list[str]:
    """One to 50 distinct paths or globs. Raises InvalidInput."""
    cleaned = [clean_pattern(path, f"{name}[{n}]") for n, path in enumerate(clean_paths(paths, name))]
    if not cleaned:
        raise InvalidInput(f"{name} must name at least one path.", missing=[name])
    return list(dict.fromkeys(cleaned))


def _normalised(path: str, name: str) -> str:
    normalised = "/".join(part for part in path.split("/") if part not in ("", "."))
    if not normalised:
        raise InvalidInput(f"{name} must name a file or a directory.")
    if (size := len(normalised.encode())) > PATH_BYTES:
        raise InvalidInput(f"{name} has {size:,} bytes; the limit is {PATH_BYTES:,}.")
    return normalised
