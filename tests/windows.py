"""Windows on an installed hub: `manage.py runmcp` of an agent, on a database file that tests replace."""

import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.core.command_line import Installation
from tests.preloaded import MANAGE, Forked
from tests.stdio import StdioClient

BESIDE = ("", "-wal", "-shm")


@contextmanager
def window(at: Installation, agent: str, *arguments: str) -> Iterator[StdioClient]:
    """The agent's stdio server of an installed hub."""
    with Forked(
        [MANAGE, "runmcp", "--project", "demo", "--agent", agent, *arguments],
        cwd="/",
        env=at.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            client = StdioClient(process)
            client.start()
            yield client
        finally:
            process.kill()


def database_of(at: Installation) -> Path:
    return at.folder / "hub.sqlite3"


def back_up(at: Installation, name: str = "backup") -> Path:
    """A copy of the database as it is now."""
    copy = at.folder / name
    with closing(sqlite3.connect(database_of(at))) as database:
        database.execute("VACUUM INTO ?", [str(copy)])
    return copy


def move_away(at: Installation, name: str = "replaced") -> Path:
    """Move the database with its log to another name."""
    for end in BESIDE:
        if Path(f"{database_of(at)}{end}").exists():
            Path(f"{database_of(at)}{end}").rename(at.folder / f"{name}{end}")
    return at.folder / name


def move_back(at: Installation, name: str = "replaced") -> None:
    for end in BESIDE:
        if (at.folder / f"{name}{end}").exists():
            (at.folder / f"{name}{end}").rename(f"{database_of(at)}{end}")


def put_in_place(at: Installation, copy: Path) -> None:
    """As `install` does: a new file gets the name."""
    shutil.copy(copy, at.folder / "placed")
    (at.folder / "placed").rename(database_of(at))


def keys(file: Path) -> set[str]:
    """The keys of the decisions in a database."""
    with closing(sqlite3.connect(file)) as database:
        return {key for (key,) in database.execute("SELECT key FROM memory_decision")}
