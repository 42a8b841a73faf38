"""`manage.py after_restore`: no id of the replaced database is given again."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import Caller
from ctxhub.management.lifting_ids import MARGIN, Unreadable, lift_ids, read_ids
from memory.decisions.services import set_decision
from tracking.leases.services import acquire_lease

ON_SQLITE = pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has no file.")
SEQUENCES = "SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = 'public'"
HIGHEST = {"core_event": 7_000_000, "tracking_lease": 8_000_000, "core_project": 900}

pytestmark = pytest.mark.django_db


@pytest.fixture
def ids_as_before(db: None) -> Iterator[None]:
    """PostgreSQL does not roll back what a sequence has given."""
    is_on_server = connection.vendor == "postgresql"
    before = sql.rows(SEQUENCES) if is_on_server else []
    yield
    for name, last in before:
        sql.execute("SELECT setval(%s::regclass, %s, %s)", [name, last or 1, last is not None])


@pytest.fixture
def replaced(tmp_path: Path) -> Path:
    """The database that was replaced; its highest ids are in its log alone."""
    return make_old(tmp_path / "old.sqlite3")


def make_old(path: Path) -> Path:
    # It stays open, as by a process that was killed: closing would move the log into the file.
    database = sqlite3.connect(path, isolation_level=None)
    _left_open.append(database)
    database.execute("PRAGMA journal_mode = wal")
    database.execute("CREATE TABLE ids (id INTEGER PRIMARY KEY AUTOINCREMENT)")
    database.executemany("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", HIGHEST.items())
    return path


_left_open: list[sqlite3.Connection] = []


def lease_of(caller: Caller, path: str) -> int:
    return acquire_lease(caller=caller, paths=[path])["fence"]


@ON_SQLITE
def test_fences_and_cursors_go_on_above_those_of_the_replaced_file(ada: Caller, replaced: Path) -> None:
    done = lift_ids(replaced)
    assert (done.lifted, done.guessed_since) == (len(HIGHEST), "")
    assert lease_of(ada, "a.py") == HIGHEST["tracking_lease"] + 1
    [(event,)] = sql.rows("SELECT max(id) FROM core_event")
    assert event > HIGHEST["core_event"]


@ON_SQLITE
def test_repeated_it_changes_nothing(ada: Caller, replaced: Path) -> None:
    lift_ids(replaced)
    fence = lease_of(ada, "a.py")
    assert lift_ids(replaced).lifted == 0
    assert lease_of(ada, "b.py") == fence + 1


@pytest.mark.usefixtures("ids_as_before")
def test_without_the_file_ids_go_on_a_million_later(ada: Caller) -> None:
    before = lease_of(ada, "a.py")
    done = lift_ids()
    assert done.lifted == done.of > 50
    assert before + MARGIN < lease_of(ada, "b.py") <= before + 2 * MARGIN


@pytest.mark.usefixtures("ids_as_before")
def test_without_the_file_it_is_safe_to_repeat(ada: Caller) -> None:
    lift_ids()
    assert lift_ids().lifted == 0
    set_decision(caller=ada, key="k", value="x")
    assert lift_ids().lifted > 0, "what has given ids since could have given those of the replaced one"


@ON_SQLITE
@pytest.mark.parametrize("content", [None, b"no database", b""], ids=["missing", "text", "empty"])
def test_a_file_that_tells_nothing_is_named_and_ids_go_on_a_million_later(
    apollo: object, tmp_path: Path, content: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    old = tmp_path / "old.sqlite3"
    if content is not None:
        old.write_bytes(content)
    call_command("after_restore", replaced=old)
    said = capsys.readouterr().out
    assert f"by {MARGIN:,} or more" in said
    assert str(old) in said
    call_command("after_restore", replaced=old)
    assert "nothing was changed" in capsys.readouterr().out


@ON_SQLITE
def test_the_database_itself_is_not_the_replaced_one(db: None) -> None:
    with pytest.raises(Unreadable, match="the database itself"):
        read_ids(Path(connection.settings_dict["NAME"]))


@ON_SQLITE
def test_a_file_in_a_folder_that_cannot_be_written_is_read(replaced: Path) -> None:
    """Such as that of a mounted backup."""
    with closing(sqlite3.connect(replaced)) as old:
        old.execute("VACUUM INTO ?", [f"{replaced}.copy"])
    os.chmod(replaced.parent, 0o500)
    try:
        assert read_ids(Path(f"{replaced}.copy"))["core_event"] == HIGHEST["core_event"]
    finally:
        os.chmod(replaced.parent, 0o700)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has a file.")
def test_on_postgresql_a_file_is_refused(db: None, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="this hub is on PostgreSQL"):
        call_command("after_restore", replaced=tmp_path / "old.sqlite3")
