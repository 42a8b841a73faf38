"""Connections to a SQLite file that is replaced: what they notice, and what they leave alone."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxhub.core.kit.hub_connection import HubConnection, LeftLog
from ctxhub.core.kit.replaced_file import switches, when_replaced
from ctxhub.core.kit.sqlite_file import make_file

pytestmark = pytest.mark.one_engine


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return hub_at(tmp_path / "hub.sqlite3")


@pytest.fixture
def forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What happened instead of forgetting, which is the whole process's."""
    happened: list[str] = []
    before = [*when_replaced]
    when_replaced[:] = [lambda: happened.append("all")]
    yield happened
    when_replaced[:] = before


def hub_at(path: Path) -> Path:
    make_file(path)
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode = wal")
    database.close()
    return path


def opened(file: Path) -> HubConnection:
    return sqlite3.connect(str(file), factory=HubConnection, uri=True, isolation_level=None)


def written(file: Path) -> HubConnection:
    connection = opened(file)
    connection.execute(f"CREATE TABLE of_{file.stat().st_ino} (id INTEGER)")
    return connection


def replace(file: Path, *, ends: tuple[str, ...] = ("", "-wal", "-shm")) -> None:
    for end in ends:
        Path(f"{file}{end}").rename(f"{file}.old{end}")
    hub_at(file.with_name("new")).rename(file)


def test_another_file_at_the_path_makes_the_process_forget(file: Path, forgotten: list[str]) -> None:
    first = written(file)
    replace(file)
    assert not first.is_current()
    assert opened(file).is_current()
    opened(file)
    assert forgotten == ["all"]


def test_another_path_is_another_database(file: Path, forgotten: list[str], tmp_path: Path) -> None:
    before = switches()
    opened(file)
    opened(hub_at(tmp_path / "second.sqlite3"))
    opened(file)
    assert (forgotten, switches()) == ([], before)


def test_a_file_that_comes_back_is_the_same(file: Path, forgotten: list[str]) -> None:
    first = written(file)
    away = file.rename(f"{file}.away")
    with pytest.raises(sqlite3.OperationalError, match="there is no file"):
        opened(file)
    away.rename(file)
    assert first.is_current()
    assert opened(file).execute("SELECT count(*) FROM sqlite_master").fetchone() == (1,)
    assert forgotten == []


@pytest.mark.usefixtures("forgotten")
def test_closing_leaves_the_log_of_the_new_file(file: Path) -> None:
    first = written(file)
    replace(file)
    second = written(file)
    log = Path(f"{file}-wal").stat().st_ino
    first.close()
    assert Path(f"{file}-wal").stat().st_ino == log
    second.close()
    assert not Path(f"{file}-wal").exists(), "its own it removes"


@pytest.mark.usefixtures("forgotten")
def test_a_log_that_was_left_is_refused_until_it_is_moved(file: Path) -> None:
    first = written(file)
    replace(file, ends=("",))
    for _ in range(2):
        with pytest.raises(LeftLog, match="still are those of the old one"):
            opened(file)
    for end in ("-wal", "-shm"):
        Path(f"{file}{end}").rename(f"{file}.old{end}")
    assert opened(file).execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    assert first.execute("SELECT count(*) FROM sqlite_master").fetchone() == (1,)
