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
        now = _sqlite_ids() if sql.is_sqlite() else _postgresql_ids()
        wanted = {
            name: max(last, given.get(name, 0)) if given else _beyond(last) for name, last in now.items()
        }
        higher = {name: last for name, last in wanted.items() if last > now[name]}
        _set(higher)
    return Lifted(len(higher), len(now), "" if given else since)


def _beyond(last: int) -> int:
    """A whole million, at least one million further. One that has given no id since then stays."""
    is_lifted = last and last % MARGIN == 0
    return last if is_lifted else -(-(last + MARGIN) // MARGIN) * MARGIN


def _set(ids: Ids) -> None:
    for name, last in ids.items():
        if not sql.is_sqlite():
            sql.execute("SELECT setval(%s::regclass, %s)", [name, last])
        else:
            sql.execute("DELETE FROM sqlite_sequence WHERE name = %s", [name])
            sql.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [name, last])


# -- The ids that were given -----------------------------------------------------------------------


def _sqlite_ids() -> dict[str, int]:
    """SQLite notes a table there with its first row."""
    return dict(
        sql.rows(
            """SELECT t.name, coalesce(s.seq, 0) FROM sqlite_master t
            LEFT JOIN sqlite_sequence s ON s.name = t.name
            WHERE t.type = 'table' AND t.sql LIKE '%%AUTOINCREMENT%%'"""
        )
    )


def _postgresql_ids() -> dict[str, int]:
    return dict(
        sql.rows(
            """SELECT format('%%I.%%I', schemaname, sequencename), coalesce(last_value, 0) FROM pg_sequences
            WHERE schemaname = ANY(current_schemas(false))"""
        )
    )


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
