"""Temporary databases: seeded once per size, copied for each server, which then do not share writes."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg.sql import SQL, Identifier

from tests import postgres

ROOT = Path(__file__).resolve().parent.parent
SECRET_KEY = "for-benchmarks-only-0123456789-abcdefghijklmnopqrstuvwxyz"
PROJECT = "bench"


class Engine(StrEnum):
    SQLITE = "sqlite"
    POSTGRES = "postgres"


@dataclass(frozen=True, slots=True)
class Hub:
    """A database with `size` decisions in the project `bench`, and a token that opens it."""

    engine: Engine
    size: int
    url: str
    home: Path
    token: str = ""
    project: str = PROJECT

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a server of this hub."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("CTXHUB_")}
        # Users have compiled modules; without them a start would measure the compiler.
        inherited.pop("PYTHONDONTWRITEBYTECODE", None)
        return {
            **inherited,
            "DATABASE_URL": self.url,
            "CTXHUB_SECRET_KEY": SECRET_KEY,
            "CTXHUB_VAR_DIR": str(self.home),
        }

    @property
    def file(self) -> Path:
        """The SQLite file."""
        return self.home / "hub.sqlite3"


class Databases(Protocol):
    def empty(self) -> Hub: ...
    def seeded(self, size: int) -> Hub: ...
    def copy(self, hub: Hub) -> Hub: ...


class SqliteDatabases:
    def __init__(self, home: Path) -> None:
        self._homes = _folders(home)

    def empty(self) -> Hub:
        return self._hub(0)

    def seeded(self, size: int) -> Hub:
        return _seed(self._hub(size))

    def copy(self, hub: Hub) -> Hub:
        copied = self._hub(hub.size, hub.token)
        with sqlite3.connect(hub.file) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        shutil.copyfile(hub.file, copied.file)
        return copied

    def _hub(self, size: int, token: str = "") -> Hub:
        home = next(self._homes)
        return Hub(Engine.SQLITE, size, f"sqlite:///{home / 'hub.sqlite3'}", home, token)


class PostgresDatabases:
    """Databases of one server, dropped at the end."""

    def __init__(self, server_url: str, home: Path) -> None:
        self._server_url = server_url
        self._homes = _folders(home)
        self._numbers = count(1)
        self._made: list[str] = []

    def empty(self) -> Hub:
        return self._create(0)

    def seeded(self, size: int) -> Hub:
        return _seed(self._create(size))

    def copy(self, hub: Hub) -> Hub:
        return self._create(hub.size, template=urlsplit(hub.url).path[1:], token=hub.token)

    def _create(self, size: int, *, template: str = "template0", token: str = "") -> Hub:
        name = f"ctxhub_bench_{os.getpid()}_{next(self._numbers)}"
        self._run(SQL("CREATE DATABASE {} TEMPLATE {}").format(Identifier(name), Identifier(template)))
        self._made.append(name)
        url = urlunsplit(urlsplit(self._server_url)._replace(path=f"/{name}"))
        return Hub(Engine.POSTGRES, size, url, next(self._homes), token)

    def drop_all(self) -> None:
        for name in self._made:
            self._run(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))

    def _run(self, statement: psycopg.sql.Composed) -> None:
        with psycopg.connect(self._server_url, autocommit=True) as connection:
            connection.execute(statement)


@contextmanager
def databases(engine: Engine) -> Iterator[Databases]:
    """The databases of `engine`; for PostgreSQL on the server of DATABASE_URL, else on a temporary one."""
    with ExitStack() as stack:
        if engine is Engine.SQLITE:
            yield SqliteDatabases(stack.enter_context(_home()))
            return
        url = os.environ.get("DATABASE_URL", "")
        if not postgres.names_a_server(url):
            url = stack.enter_context(temporary_server()).url
        yield stack.enter_context(databases_of(url))


@contextmanager
def databases_of(server_url: str) -> Iterator[Databases]:
    """Databases of this PostgreSQL server."""
    with _home() as home:
        factory = PostgresDatabases(server_url, home)
        try:
            yield factory
        finally:
            factory.drop_all()


@contextmanager
def _home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="ctxhub-bench-") as folder:
        yield Path(folder)


@contextmanager
def temporary_server(settings: Mapping[str, str] = postgres.NO_CHANGES) -> Iterator[postgres.Server]:
    """A PostgreSQL server of its own. `settings`: what differs from those of the tests."""
    programs = postgres.debian_programs() or postgres.bundled_programs()
    if programs is None:
        raise SystemExit(postgres.NO_SERVER)
    with postgres.temporary_server(programs, settings) as server:
        yield server


def _folders(home: Path) -> Iterator[Path]:
    for number in count(1):
        folder = home / str(number)
        folder.mkdir()
        yield folder


def _seed(hub: Hub) -> Hub:
    """Seed in a separate process: Django cannot change its database."""
    command = [sys.executable, "-m", "benchmarks.seeding", str(hub.size)]
    done = subprocess.run(
        command, cwd=ROOT, env=hub.environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return Hub(hub.engine, hub.size, hub.url, hub.home, done.stdout.split()[-1])
