"""Helpers for tests of backups: the facts of an installed hub's database, and restores that are killed."""

import io
import json
import os
import shlex
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
from django.db import connection

from tests import preloaded
from tests.core.command_line import MANAGE, Installation, migrated_installation
from tests.timing import PATIENCE_SECONDS

# `manage.py`, killed before or after a function of a module is called for the nth time.
KILLED = f"""
import functools, importlib, os, runpy, signal, sys
where, when, number = sys.argv[1:4]
module, _, name = where.partition(":")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxhub.settings")
sys.path.insert(0, {str(Path(MANAGE).parent)!r})
import django
django.setup()
owner = importlib.import_module(module)
*path, name = name.split(".")
for each in path:
    owner = getattr(owner, each)
function, calls = getattr(owner, name), [0]
@functools.wraps(function)
def killing(*args, **options):
    calls[0] += 1
    if when == "before" and calls[0] == int(number):
        os.kill(os.getpid(), signal.SIGKILL)
    result = function(*args, **options)
    if when == "after" and calls[0] == int(number):
        os.kill(os.getpid(), signal.SIGKILL)
    return result
setattr(owner, name, killing)
sys.argv = ["manage.py", *sys.argv[4:]]
runpy.run_path({MANAGE!r}, run_name="__main__")
"""


def run_killed(
    at: Installation, where: str, when: str, *arguments: str, number: int = 1
) -> subprocess.CompletedProcess[str]:
    """Run a command that is killed there: `ctxhub.core.kit.replacement:finish`."""
    return preloaded.run_script(
        KILLED, [where, when, str(number), *arguments], at.environment, timeout=5 * PATIENCE_SECONDS
    )


def query(at: Installation, statement: str) -> list[tuple[Any, ...]]:
    """The rows of a statement in the database of an installed hub."""
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(at.folder / "hub.sqlite3")) as file:
            return file.execute(statement).fetchall()
    with psycopg.connect(at.environment["DATABASE_URL"]) as server:
        return server.execute(statement.encode()).fetchall()


def keys_of(at: Installation) -> set[str]:
    """The keys of its decisions."""
    return {key for (key,) in query(at, "SELECT key FROM memory_decision")}


def secret_key_of(at: Installation) -> str:
    return (at.folder / "secret_key").read_text()


def token_of(at: Installation, agent: str = "ada", project: str = "demo") -> str:
    made = at.run("token", "create", "--project", project, "--agent", agent, "--plain")
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


def back_up(at: Installation, name: str = "one.tar") -> Path:
    """A backup of it, outside of its folder."""
    path = at.folder / "backups" / name
    path.parent.mkdir(mode=0o700, exist_ok=True)
    done = at.run("backup", str(path))
    assert done.returncode == 0, done.stderr
    return path


def restored(at: Installation, path: Path, *arguments: str) -> str:
    done = at.run("restore", str(path), *arguments)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def manifest_in(path: Path) -> dict[str, Any]:
    with tarfile.open(path) as archive:
        file = archive.extractfile("manifest.json")
        assert file is not None
        manifest: dict[str, Any] = json.load(file)
        return manifest


@contextmanager
def installed(*projects: str) -> Iterator[Installation]:
    """A new hub with these projects, in their order."""
    with migrated_installation() as at:
        for project in projects:
            done = at.run("setup", "--project", project, "--no-input")
            assert done.returncode == 0, done.stderr
        yield at


def with_key(at: Installation, key: str) -> Installation:
    """The same hub, whose secret key is in the environment."""
    return replace(at, environment={**at.environment, "CTXHUB_SECRET_KEY": key})


def limited(at: Installation, blocks: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command that writes no file of more than so many blocks of 1,024 bytes, as on a full disk."""
    command = shlex.join([sys.executable, MANAGE, *arguments])
    return subprocess.run(
        ["/bin/bash", "-c", f"ulimit -f {blocks}; exec {command}"],
        env=at.environment,
        capture_output=True,
        text=True,
        timeout=5 * PATIENCE_SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def is_root() -> bool:
    return os.geteuid() == 0


def made_unasked(at: Installation, path: Path) -> int:
    """Back it up whatever its migrations, as the code of another version did; the exit code."""
    code = (
        "import django; django.setup(); from pathlib import Path;"
        "from ctxhub.management.backups.backing_up import back_up;"
        f"back_up(Path({str(path)!r}))"
    )
    environment = {**at.environment, "DJANGO_SETTINGS_MODULE": "ctxhub.settings"}
    return preloaded.run_script(code, [], environment, timeout=5 * PATIENCE_SECONDS).returncode


def rewritten(path: Path, target: Path, *, names: dict[str, str] | None = None, **manifest: Any) -> Path:
    """A copy of a backup with other values in its manifest, and other names of members."""
    with tarfile.open(path) as old, tarfile.open(target, "w", format=tarfile.GNU_FORMAT) as new:
        for member in old:
            file = old.extractfile(member)
            assert file is not None
            content = file.read()
            if member.name == "manifest.json":
                content = json.dumps({**json.loads(content), **manifest}).encode()
            member.size, member.name = len(content), (names or {}).get(member.name, member.name)
            new.addfile(member, io.BytesIO(content))
    _end_as_backups_do(target)
    return target


def _end_as_backups_do(path: Path) -> None:
    """With two empty blocks, where tarfile writes up to twenty."""
    with tarfile.open(path) as archive:
        last = archive.getmembers()[-1]
    end = last.offset_data + last.size + -last.size % tarfile.BLOCKSIZE
    os.truncate(path, end + 2 * tarfile.BLOCKSIZE)
