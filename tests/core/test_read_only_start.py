"""A hub that starts while nothing can be written serves reads, and writes as soon as it can again."""

import os
import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import close_old_connections, connection

from ctxhub import env
from ctxhub.core.kit import write_queue
from ctxhub.core.kit.failures import UNWRITABLE, is_unwritable
from ctxhub.core.kit.hub_connection import HubConnection
from ctxhub.core.kit.hub_files import APPLICATION_ID
from ctxhub.core.kit.write_queue import NoLockFile, WriteQueue
from ctxhub.mcp.wakeups import _Sqlite
from tests.core.command_line import Installation, migrated_installation
from tests.hub import LiveHub

ON_SQLITE = "sqlite" in connection.vendor
on_sqlite = pytest.mark.skipif(not ON_SQLITE, reason="SQLite's files")
TABLE = "CREATE TABLE t (x); INSERT INTO t VALUES (1)"
NO_LIMIT = resource.RLIM_INFINITY


@contextmanager
def no_file_grows() -> Iterator[None]:
    """As on a full disk, and for root too."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


# -- The file ---------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A database in WAL mode that nobody has open."""
    file = tmp_path / "hub.sqlite3"
    with closing(sqlite3.connect(file, isolation_level=None)) as made:
        made.executescript(f"PRAGMA application_id={APPLICATION_ID}; PRAGMA journal_mode=WAL; {TABLE}")
    assert os.listdir(tmp_path) == [file.name]
    return file


def opened(file: Path) -> HubConnection:
    return sqlite3.connect(str(file), factory=HubConnection, uri=True, isolation_level=None)


def test_a_file_is_read_where_none_can_be_made_beside_it(file: Path) -> None:
    with no_file_grows(), closing(opened(file)) as reading:
        assert reading.execute("SELECT x FROM t").fetchall() == [(1,)]
        assert reading.is_read_only
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reading.execute("INSERT INTO t VALUES (2)")
    with closing(opened(file)) as writing:
        writing.execute("INSERT INTO t VALUES (2)")
        assert not writing.is_read_only


def test_writes_that_only_the_wal_file_holds_are_never_left_out(file: Path, tmp_path: Path) -> None:
    with closing(opened(file)) as writing:
        writing.execute("INSERT INTO t VALUES (2)")
        left = tmp_path / "left.sqlite3"
        shutil.copy(file, left)
        shutil.copy(f"{file}-wal", f"{left}-wal")
    with no_file_grows(), pytest.raises(sqlite3.OperationalError):
        opened(left)
    with closing(opened(left)) as reading:
        assert reading.execute("SELECT x FROM t").fetchall() == [(1,), (2,)]


def test_a_lock_file_that_cannot_be_written_still_locks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(path: Path, flags: int) -> int:
        raise PermissionError(13, "Permission denied", str(path))

    lock = tmp_path / "hub.sqlite3.lock"
    monkeypatch.setattr(write_queue, "open_private", refuse)
    monkeypatch.setattr(write_queue, "_lock_file", lambda: lock)
    with pytest.raises(NoLockFile) as caught:
        WriteQueue().take(0)
    assert is_unwritable(caught.value)
    lock.touch()
    queue = WriteQueue()
    assert queue.take(0)
    queue.leave()


def test_a_hub_that_exists_needs_no_folder_to_write_in(
    file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{file}")
    assert env.database("DATABASE_URL", file, "CTXHUB_VAR_DIR")["NAME"] == str(file)
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{file}2")
    with pytest.raises(env.BadVariable):
        env.database("DATABASE_URL", file, "CTXHUB_VAR_DIR")


# -- Connections ------------------------------------------------------------------------------------


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """New connections of this test may not write, until it calls this."""
    if ON_SQLITE:
        monkeypatch.setattr(os, "access", lambda *_: False)
    else:
        options = {**connection.settings_dict["OPTIONS"], "options": "-c default_transaction_read_only=on"}
        monkeypatch.setitem(connection.settings_dict, "OPTIONS", options)
    connection.close()
    yield monkeypatch.undo
    connection.close()


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_may_not_write_ends_with_its_request(read_only: Callable[[], None]) -> None:
    connection.ensure_connection()
    close_old_connections()
    assert connection.connection is None
    read_only()
    connection.ensure_connection()
    close_old_connections()
    assert connection.connection is not None


@on_sqlite
@pytest.mark.django_db(transaction=True)
def test_who_waits_for_events_gets_a_new_connection_too(read_only: Callable[[], None]) -> None:
    source = _Sqlite()
    read_only()
    source.has_changed()
    assert connection.connection is not None
    assert not connection.connection.is_read_only


# -- A whole hub ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ready(django_db_setup: None) -> Iterator[Installation]:
    with migrated_installation() as at:
        assert at.run("setup", "--no-input").returncode == 0
        yield at


@contextmanager
def nothing_can_be_written(ready: Installation) -> Iterator[Callable[[int], object]]:
    """Gives what makes the hub of a process writable again. Its disk is full, or its server reads alone."""
    if ON_SQLITE:
        with closing(sqlite3.connect(ready.folder / "hub.sqlite3")) as last:
            last.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with no_file_grows():
            yield lambda process: resource.prlimit(process, resource.RLIMIT_FSIZE, (NO_LIMIT, NO_LIMIT))
    else:
        _let_write(ready, False)
        try:
            yield lambda process: _let_write(ready, True)
        finally:
            _let_write(ready, True)


def _let_write(ready: Installation, may_write: bool) -> None:
    url = ready.environment["DATABASE_URL"].replace("postgres:", "postgresql:")
    with psycopg.connect(url, autocommit=True) as server:
        server.execute("SET default_transaction_read_only = off")
        name = server.info.dbname
        server.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = {not may_write}')


def set_key(hub: LiveHub, token: str, key: str) -> tuple[Any, Any]:
    """The outcome over MCP and over REST."""
    call = {"name": "decision", "arguments": {"action": "set", "key": key, "value": "x"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    over_mcp = hub.mcp(token).send("POST", "/mcp", message)
    over_rest = hub.rest(token, project="demo").post("decisions/", {"key": f"{key}/rest", "value": "x"})
    if over_mcp.status == 503:
        assert UNWRITABLE in over_mcp.body["error"]["message"]
    return over_mcp.status, over_rest.status


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="changes the limits of a process")
@pytest.mark.parametrize("options", [[], ["--setup"]], ids=["serve", "serve --setup"])
def test_a_hub_that_started_read_only_reads_and_then_writes(ready: Installation, options: list[str]) -> None:
    token = (ready.folder / "setup_token").read_text()
    key = "-".join(["k", *options])
    with (
        nothing_can_be_written(ready) as make_writable,
        ready.serving("--port", "0", *options, has_limits=True) as server,
    ):
        assert server.hub.rest(token, project="demo").get("decisions/").status == 200
        assert "error" not in server.hub.mcp(token).call("decision", "list")
        assert set_key(server.hub, token, key) == (503, 503)
        assert server.hub.http().send("GET", "/readyz").status == 503
        make_writable(server.process.pid)
        assert set_key(server.hub, token, key) == (200, 201)
        assert set_key(server.hub, token, f"{key}/again") == (200, 201)
