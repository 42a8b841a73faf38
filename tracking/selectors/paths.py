"""Normalises paths and globs in input, so that each file has one spelling."""

from collections.abc import Sequence

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import LIST_LENGTH, clean_asked_globs, clean_glob_list, clean_path

# Limit of one value in a PostgreSQL index.
PATH_BYTES = 2_500


def clean_file(path: str, name: str = "path") -> str:
    """The path of one file, taken literally: `./src//app.py` becomes src/app.py."""
    return _normalised(clean_path(path, name), name)


def clean_filter(path: str, name: str = "path") -> list[str]:
    """What a path or glob that is asked for stands for. A trailing slash means everything below."""
    return _distinct([_with_slash(glob, name) for glob in clean_asked_globs(path, name)], name)


def clean_filters(paths: Sequence[str], name: str = "paths") -> list[str]:
    """What 1 to 50 paths or globs that are asked for stand for. Raises InvalidInput."""
    if len(paths) > LIST_LENGTH:
        raise InvalidInput(f"{name} has {len(paths)} entries; the limit is {LIST_LENGTH}.")
    found = [each for n, path in enumerate(paths) for each in clean_filter(path, f"{name}[{n}]")]
    return _distinct(found, name)


def clean_patterns(paths: Sequence[str], name: str = "paths") -> list[str]:
    """One to 50 distinct paths or globs, with braces expanded. Raises InvalidInput."""
    return _distinct([_with_slash(glob, name) for glob in clean_glob_list(paths, name)], name)


def _distinct(patterns: Sequence[str], name: str) -> list[str]:
    if not patterns:
        raise InvalidInput(f"{name} must name at least one path.", missing=[name])
    return list(dict.fromkeys(patterns))


def _with_slash(path: str, name: str) -> str:
    return _normalised(path, name) + ("/" if path.endswith("/") else "")


def _normalised(path: str, name: str) -> str:
    normalised = "/".join(part for part in path.split("/") if part not in ("", "."))
    if not normalised:
        raise InvalidInput(f"{name} must name a file or a directory.")
    if (size := len(normalised.encode())) > PATH_BYTES:
        raise InvalidInput(f"{name} has {size:,} bytes; the limit is {PATH_BYTES:,}.")
    return normalised
