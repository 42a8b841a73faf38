"""Finds pg_dump and pg_restore, and runs them without a password on their command line."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import connection

# Where Debian and its descendants put each major version.
INSTALLED = Path("/usr/lib/postgresql")
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")


def find_program(name: str, server: int) -> str:
    """The path of a program for a server of this major version: the same, or a newer one.

    Raises CommandError that says what to install.
    """
    found = {path: _major(path) for path in _candidates(name, server)}
    fitting = [path for path, major in found.items() if major >= server]
    if fitting:
        return min(fitting, key=lambda path: found[path])
    there = f"only that of {max(found.values())}" if found else "none"
    raise CommandError(
        f"This needs {name} of PostgreSQL {server} or newer, and there is {there}. Install it (Debian: "
        f"apt-get install postgresql-client-{server}), or let PATH begin with its folder."
    )


def _candidates(name: str, server: int) -> Iterator[str]:
    on_path = shutil.which(name)
    if on_path:
        yield on_path
    installed = sorted(INSTALLED.glob(f"*/bin/{name}")) if INSTALLED.is_dir() else []
    yield from (str(path) for path in installed)


@cache
def _major(program: str) -> int:
    """0 if it does not say."""
    try:
        said = subprocess.run(  # noqa: S603
            [program, "--version"], capture_output=True, text=True, timeout=30, check=False
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return 0
    found = _VERSION.search(said)
    return int(found[1]) if found else 0


def server_version() -> int:
    """The major version of the server."""
    with connection.cursor():
        return int(connection.connection.info.server_version) // 10_000


def login(parameters: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """Parameters of a connection as a conninfo without secrets, and the environment with the password."""
    import psycopg
    from psycopg.conninfo import make_conninfo

    known = {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()}
    open_ones = {
        name: value
        for name, value in parameters.items()
        if name in known and name not in ("password", "sslpassword")
    }
    environment = dict(os.environ)
    if parameters.get("password"):
        environment["PGPASSWORD"] = str(parameters["password"])
    return make_conninfo(**open_ones), environment
