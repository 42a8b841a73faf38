"""Normalises paths and globs in input, so that each file has one spelling."""

from collections.abc import Sequence

from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import clean_path
from ctxhub.core.paths.known import Source
from ctxhub.core.paths.reading import PathReader
from tracking.leases.rows import LIVE

# Limit of one value in a PostgreSQL index.
PATH_BYTES = 2_500


def clean_file(path: str, name: str = "path", *, reader: PathReader | None = None) -> str:
    """The path of one file, taken literally: `./src//app.py` becomes src/app.py.

    `reader`: of the call that names it; without one the path is taken as it is written.
    """
    return _normalised(reader.path(path, name) if reader else clean_path(path, name), name)


def clean_filter(path: str, name: str = "path", *, reader: PathReader) -> list[str]:
    """What a path or glob that is asked for stands for. A trailing slash means everything below."""
    return _distinct([_with_slash(glob, name) for glob in reader.asked(path, name)], name)


def clean_filters(paths: Sequence[str], name: str = "paths", *, reader: PathReader) -> list[str]:
    """What 1 to 50 paths or globs that are asked for stand for. Raises InvalidInput."""
    return _distinct([_with_slash(glob, name) for glob in reader.all_asked(paths, name)], name)


def clean_patterns(paths: Sequence[str], name: str = "paths", *, reader: PathReader) -> list[str]:
    """One to 50 distinct paths or globs, with braces expanded. Raises InvalidInput."""
    return _distinct([_with_slash(glob, name) for glob in reader.expanded(paths, name)], name)


def _distinct(patterns: Sequence[str], name: str) -> list[str]:
    if not patterns:
        raise InvalidInput(f"{name} must name at least one path.", missing=[name])
    return list(dict.fromkeys(patterns))


def _with_slash(path: str, name: str) -> str:
    return _normalised(path, name) + ("/" if path.endswith("/") else "")


def naming_files(project_id: int) -> Source:
    """The names of files that agents have touched, for what is looked up as a known name."""
    return Source("r.path", "FROM tracking_resource r WHERE r.project_id = %s", [project_id])


def naming_leased(project_id: int) -> Source:
    """Those that are leased now."""
    rows = "FROM tracking_lease d CROSS JOIN tracking_leasepath p WHERE p.lease_id = d.id AND"
    return Source("p.pattern", f"{rows} {LIVE}", [project_id, sql.stored_time(clock.now())])


def _normalised(path: str, name: str) -> str:
    normalised = "/".join(part for part in path.split("/") if part not in ("", "."))
    if not normalised:
        raise InvalidInput(f"{name} must name a file or a directory.")
    if (size := len(normalised.encode())) > PATH_BYTES:
        raise InvalidInput(f"{name} has {size:,} bytes; the limit is {PATH_BYTES:,}.")
    return normalised
