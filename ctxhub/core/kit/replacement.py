"""Puts another SQLite file in the place of the hub's, and a secret key with it: both, or nothing.

Three files have to change: the database, its log (`-wal`, which SQLite would apply to the new one), and the
key. A plan beside the database says what is to be done. Until the database is moved aside, nothing has
happened. From then on all of it has, though some is left to do: there is no database at the path, and
whoever looks for one does the rest first, as the plan says. So a process that is killed at any moment leaves
the old state or the new one.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from ctxhub.core.kit.private_files import put_new, sync_folder, write_private

try:
    import fcntl
except ImportError:  # Windows has no such locks.
    fcntl = None  # type: ignore[assignment]

LOGS = ("-wal", "-shm")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is put where. `key`: the secret key that goes to `key_file`, "" if the one there stays."""

    new: str
    """The whole database that takes the place; SQLite has left no log beside it."""
    aside: str
    """Where the replaced one goes, its log beside it. Nothing else has ever had the name."""
    key: str
    key_file: str
    key_aside: str


def replace(database: Path, plan: Plan) -> None:
    """Put the new file in place. Nobody may write to the old one meanwhile; whoever has it open keeps it."""
    write_private(_plan_of(database), json.dumps(asdict(plan)).encode())
    os.rename(database, plan.aside)  # It is done, with what follows from it.
    finish(database)


def finish(database: Path) -> bool:
    """Do the rest of a replacement that has begun; whether there was one. Any process may."""
    with _locked_plan(database) as plan:
        if plan is None or not os.path.lexists(plan.aside):
            return False
        sync_folder(database.parent)
        if not os.path.lexists(database):
            _move_logs(database, plan)
            _put_key(plan)
            put_new(Path(plan.new), database)
        os.unlink(_plan_of(database))
        sync_folder(database.parent)
    return True


def forget_plan(database: Path) -> None:
    """Remove the plan of a replacement that was given up before it began."""
    _plan_of(database).unlink(missing_ok=True)


def _move_logs(database: Path, plan: Plan) -> None:
    """They are the old one's: nobody makes others while there is no database."""
    for end in LOGS:
        with suppress(FileNotFoundError):
            os.rename(f"{database}{end}", f"{plan.aside}{end}")


def _put_key(plan: Plan) -> None:
    if plan.key:
        put_key(Path(plan.key_file), plan.key, aside=Path(plan.key_aside))


def put_key(file: Path, key: str, *, aside: Path) -> None:
    """Put a secret key in the place of another one, which is kept aside."""
    if not aside.exists():
        with suppress(FileNotFoundError):
            write_private(aside, file.read_bytes())
    write_private(file, key.encode())


def _plan_of(database: Path) -> Path:
    return Path(f"{database}.replacement")


@contextmanager
def _locked_plan(database: Path) -> Iterator[Plan | None]:
    """The plan, held against others who would do the same; None if there is none, or no more."""
    file = _plan_of(database)
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except OSError:
        yield None
        return
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield _read(file, descriptor)
    finally:
        os.close(descriptor)


def _read(file: Path, descriptor: int) -> Plan | None:
    with suppress(OSError, ValueError, TypeError):
        if os.path.samestat(os.stat(file), os.fstat(descriptor)):
            return Plan(**json.loads(os.read(descriptor, 1 << 20)))
    return None
