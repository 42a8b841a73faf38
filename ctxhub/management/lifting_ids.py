"""Lifts the ids that a restored database gives next above all that the replaced one has given.

Agents still hold ids of the replaced one: fences of leases, cursors of events, refs. No new one may be among
them.
"""

import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from django.db import connection

from ctxhub.core.kit import sql
from ctxhub.core.kit.transactions import touch_transaction

MARGIN = 1_000_000

Ids = Mapping[str, int]
"""The last id that each sequence has given; the name of a sequence is that of its table on SQLite."""


class Unreadable(Exception):
    """The replaced database does not tell its ids; the message says why."""


@dataclass(frozen=True, slots=True)
class Lifted:
    """How many of all sequences were lifted, and why not above the ids of a replaced database, if so."""

    lifted: int
    of: int
    guessed_since: str = ""


def lift_ids(replaced: Path | None = None) -> Lifted:
    """Lift them above the highest ids of the `replaced` SQLite file, without it by 1,000,000.

    Safe to repeat: what has given no id since then stays.
    """
    given, since = None, "no replaced database was named"
    if replaced is not None:
        try:
            given = read_ids(replaced)
        except Unreadable as error:
            since = str(error)
    with touch_transaction():
        now = given_ids()
        higher = higher_ids(now, given)
        _set(higher)
    return Lifted(len(higher), len(now), "" if given else since)


def higher_ids(now: Ids, given: Ids | None, *, are_all: bool = True) -> Ids:
    """What to lift the sequences to that have to be lifted: above those `given`, without them by 1,000,000.

    Both, unless the ones given `are_all` that agents can have seen.
    """
    wanted = {
        name: max(last if given and are_all else _beyond(last), (given or {}).get(name, 0))
        for name, last in now.items()
    }
    return {name: last for name, last in wanted.items() if last > now[name]}


def _beyond(last: int) -> int:
    """A whole million, at least one million further. One that has given no id since then stays."""
    is_lifted = last and last % MARGIN == 0
    return last if is_lifted else -(-(last + MARGIN) // MARGIN) * MARGIN


def _set(ids: Ids) -> None:
    for name, last in ids.items():
        if not sql.is_sqlite():
            sql.execute(SET_ON_POSTGRESQL, [name, last])
        else:
            sql.execute("DELETE FROM sqlite_sequence WHERE name = %s", [name])
            sql.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [name, last])


SET_ON_POSTGRESQL = "SELECT setval(%s::regclass, %s)"


# -- The ids that were given -----------------------------------------------------------------------


def given_ids() -> Ids:
    """The ids that this database has given."""
    return dict(sql.rows(_GIVEN_ON_SQLITE.replace("%", "%%") if sql.is_sqlite() else GIVEN_ON_POSTGRESQL))


def lift_file(path: Path, given: Ids | None, *, are_all: bool) -> Lifted:
    """Lift the ids of another SQLite file, which nobody has open. Raises sqlite3.Error."""
    with closing(sqlite3.connect(path)) as file, file:
        now = dict(file.execute(_GIVEN_ON_SQLITE))
        higher = higher_ids(now, given, are_all=are_all)
        file.executemany("DELETE FROM sqlite_sequence WHERE name = ?", [(name,) for name in higher])
        file.executemany("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", higher.items())
    return Lifted(len(higher), len(now))


# SQLite notes a table there with its first row.
_GIVEN_ON_SQLITE = """SELECT t.name, coalesce(s.seq, 0) FROM sqlite_master t
    LEFT JOIN sqlite_sequence s ON s.name = t.name
    WHERE t.type = 'table' AND t.sql LIKE '%AUTOINCREMENT%'"""
GIVEN_ON_POSTGRESQL = """SELECT format('%%I.%%I', schemaname, sequencename), coalesce(last_value, 0)
    FROM pg_sequences WHERE schemaname = ANY(current_schemas(false))"""


def read_ids(path: Path) -> Ids:
    """The ids that another SQLite file of a hub has given, with those in its log. Raises Unreadable."""
    if not path.exists():
        raise Unreadable(f"there is no {path}")
    if path.samefile(connection.settings_dict["NAME"]):
        raise Unreadable(f"{path} is the database itself")
    ids = _read(path)
    if "core_project" not in ids:
        raise Unreadable(f"{path} is no hub's")
    return ids


def _read(path: Path) -> Ids:
    """As one that nobody changes, where nothing can be written beside it: true without a log."""
    uri = f"file:{quote(os.path.realpath(path))}?mode=ro"
    try:
        return _query(uri)
    except sqlite3.Error as error:
        log = Path(f"{os.path.realpath(path)}-wal")
        if log.exists() and log.stat().st_size:
            raise Unreadable(f"{path} cannot be read with its log: {error}") from error
    try:
        return _query(f"{uri}&immutable=1")
    except sqlite3.Error as error:
        raise Unreadable(f"{path} cannot be read: {error}") from error


def _query(uri: str) -> Ids:
    with closing(sqlite3.connect(uri, uri=True)) as database:
        return dict(database.execute("SELECT name, seq FROM sqlite_sequence"))
