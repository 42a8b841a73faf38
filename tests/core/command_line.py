"""An installed hub with its own folder and database. Its commands run in separate processes."""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from django.db import connection, models

from ctxhub import env
from tests import migrated, preloaded
from tests.hub import LiveHub
from tests.migrated import Template
from tests.timing import PATIENCE_SECONDS, SOON_SECONDS, wait_until

MANAGE = str(env.ROOT / "manage.py")
# `manage.py serve`, which has longer to finish its calls: a busy machine may need more than its five seconds.
PATIENT_SERVE = f"""
import runpy, sys
import uvicorn
run = uvicorn.run
patience = {{"timeout_graceful_shutdown": {SOON_SECONDS:.0f}}}
uvicorn.run = lambda *given, **options: run(*given, **options | patience)
sys.path.insert(0, {str(env.ROOT)!r})
sys.argv = ["manage.py", "serve", *sys.argv[1:]]
runpy.run_path({MANAGE!r}, run_name="__main__")
"""


@dataclass(frozen=True)
class Installation:
    folder: Path
    environment: dict[str, str]

    def run(self, *arguments: str, umask: int = -1, **variables: str) -> subprocess.CompletedProcess[str]:
        """`manage.py` with these arguments, in a fork of a process that has loaded the code."""
        environment = {**self.environment, **variables}
        return preloaded.run(arguments, environment, umask=umask, timeout=5 * PATIENCE_SECONDS)

    @contextmanager
    def copied(self) -> Iterator["Installation"]:
        """A copy of this hub. No process of this hub may be running."""
        with installation() as copy:
            for file in self.folder.iterdir():
                (shutil.copytree if file.is_dir() else shutil.copy)(file, copy.folder / file.name)
            if connection.vendor == "postgresql":
                _copy_database(self.database, copy.database)
            yield copy

    def count(self, model: type[models.Model]) -> int:
        """How many rows of a model its database has."""
        statement = f'SELECT count(*) FROM "{model._meta.db_table}"'
        if connection.vendor == "sqlite":
            with closing(sqlite3.connect(self.folder / "hub.sqlite3")) as file:
                [number] = file.execute(statement).fetchone()
        else:
            with psycopg.connect(self.environment["DATABASE_URL"]) as server:
                [[number]] = server.execute(statement.encode()).fetchall()
        return int(number)

    @property
    def database(self) -> str:
        """The name of its database on the PostgreSQL server, if the tests run on one."""
        return _database_name(self.folder)

    @contextmanager
    def serving(self, *arguments: str, has_limits: bool = False) -> Iterator["Server"]:
        """A `serve` process with these arguments that already answers requests.

        With `has_limits` it inherits those of this process, which a fork of another one does not, and logs
        nothing.
        """
        start: Callable[..., subprocess.Popen[str]] = partial(
            preloaded.Forked, ["-c", *arguments], script=PATIENT_SERVE
        )
        if has_limits:
            start = partial(subprocess.Popen, [sys.executable, "-c", PATIENT_SERVE, *arguments])
        with (self.folder / "stderr").open("w+") as errors:
            process = start(
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL if has_limits else errors,
                text=True,
            )
        try:
            port, output = _wait_for_port(process)
            yield Server(LiveHub(port), process, self.folder / "stderr", output)
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE_SECONDS)


@dataclass(frozen=True)
class Server:
    """A running `serve`: its client, process and stderr file; `said` is its stdout so far."""

    hub: LiveHub
    process: subprocess.Popen[str]
    log: Path
    said: str


@contextmanager
def installation() -> Iterator[Installation]:
    """A new installation: no database yet, and of ctxhub's variables only the two set here."""
    with tempfile.TemporaryDirectory(prefix="ctxhub-installed-") as folder, _database(folder) as url:
        inherited = preloaded.without_own_variables(os.environ)
        yield Installation(Path(folder), {**inherited, "CTXHUB_VAR_DIR": folder, "DATABASE_URL": url})


@contextmanager
def migrated_installation() -> Iterator[Installation]:
    """A new installation whose database has its tables already, if the processes of this run share them."""
    template = migrated.shared
    with installation() as at:
        with template.locked() if template else nullcontext():
            if template and template.exists():
                _copy(template, at)
        yield at


def _copy(template: Template, at: Installation) -> None:
    if connection.vendor == "postgresql":
        _copy_database(template.name, at.database)
    else:  # As a file, for this process keeps those of hubs open, and would count as one that has it open.
        os.chmod(shutil.copyfile(template.file, at.folder / "hub.sqlite3"), 0o600)


@contextmanager
def _database(folder: str) -> Iterator[str]:
    """An empty database on the engine that the tests run on."""
    if connection.vendor == "sqlite":
        yield f"sqlite:///{folder}/hub.sqlite3"
        return
    name = _database_name(Path(folder))
    with _server() as postgres:
        postgres.execute(f'CREATE DATABASE "{name}"'.encode())
        yield re.sub(r"/[^/?]*(\?|$)", rf"/{name}\1", os.environ["DATABASE_URL"], count=1)
        postgres.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())


def _copy_database(source: str, target: str) -> None:
    """Replace a database by a copy of another one that nothing is connected to."""
    with _server() as postgres:
        postgres.execute(f'DROP DATABASE "{target}"'.encode())
        postgres.execute(f'CREATE DATABASE "{target}" TEMPLATE "{source}"'.encode())


def _server() -> psycopg.Connection[Any]:
    return psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)


def _database_name(folder: Path) -> str:
    return folder.name.replace("-", "_").lower()


def _wait_for_port(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Waits until `serve` answers. Returns the port that it printed, and its output up to there."""
    assert process.stdout
    output = ""
    for line in process.stdout:
        output += line
        if found := re.match(r"  (?:REST|MCP) +http://\S+?:(\d+)/(?:mcp|api)", line):
            port = int(found[1])
            break
    else:
        raise AssertionError(f"serve named no address: {output}")
    wait_until(lambda: process.poll() is not None or _answers(port))
    assert process.poll() is None, "serve has ended"
    return port, output


def _answers(port: int) -> bool:
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=PATIENCE_SECONDS).close()
    except OSError:
        return False
    return True
