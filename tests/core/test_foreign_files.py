"""Setup, and every command that opens the database, changes nothing of others' files, nor beside them."""

import fcntl
import os
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from django.core.management.base import CommandError
from django.db import OperationalError, connection

from ctxhub import env
from ctxhub.core.kit import hub_files, sqlite_file
from ctxhub.core.kit.hub_files import Empty, NotAHub, open_hub
from ctxhub.core.kit.sqlite_file import ConnectionToExisting, close_to_others, make_file, try_lock
from ctxhub.core.kit.write_queue import open_lock_file, refuse_foreign_lock_file
from ctxhub.management.database import check_database, make_database
from tests.core.test_bad_variables import run

pytestmark = pytest.mark.one_engine

OTHERS_DJANGO = """
    CREATE TABLE django_migrations (id INTEGER PRIMARY KEY, app TEXT, name TEXT, applied TEXT);
    INSERT INTO django_migrations (app, name) VALUES ('auth', '0001_initial'), ('core', '0001_initial');
"""
OLD_HUB = f"""
    {OTHERS_DJANGO}
    INSERT INTO django_migrations (app, name) VALUES ('memory', '0001_initial');
    CREATE TABLE core_accesstoken (id INTEGER PRIMARY KEY);
"""


def text(path: Path) -> None:
    path.write_text("root:x:0:0:root:/root:/bin/bash\n")


def bookmarks(path: Path) -> None:
    write_tables(path, "PRAGMA journal_mode = WAL; CREATE TABLE moz_places (id INTEGER PRIMARY KEY);")


def others_django(path: Path) -> None:
    write_tables(path, OTHERS_DJANGO)


def others_with_a_log(path: Path) -> None:
    """A database that another process has open: its log holds what the file does not."""
    write_tables(path, "PRAGMA journal_mode = WAL; CREATE TABLE moz_places (id INTEGER PRIMARY KEY);")
    path.with_name(f"{path.name}-wal").write_bytes(b"frames")


def write_tables(path: Path, statements: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.executescript(statements)


FOREIGN: list[Callable[[Path], None]] = [text, bookmarks, others_django, others_with_a_log, Path.touch]
foreign = pytest.mark.parametrize("make", FOREIGN, ids=lambda make: make.__name__)


def state(folder: Path) -> dict[str, tuple[int, float, bytes]]:
    """Mode, time of change and content of all that is in the folder."""
    return {
        file.name: (file.lstat().st_mode, file.lstat().st_mtime_ns, file.read_bytes())
        for file in folder.iterdir()
    }


@foreign
def test_setup_leaves_a_file_that_is_no_hub_as_it_is(tmp_path: Path, make: Callable[[Path], None]) -> None:
    at = tmp_path / "of others"
    at.mkdir()
    make(at / "file")
    (at / "file").chmod(0o644)
    before = state(at)
    refused = run(["setup", "--no-input"], tmp_path, DATABASE_URL=f"sqlite:///{at}/file")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert f"{at}/file is" in refused.stderr
    assert "DATABASE_URL" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert state(at) == before
    assert [each.name for each in tmp_path.iterdir()] == ["of others"], "not even the secret key is made"


@foreign
def test_a_connection_leaves_it_as_it_is(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """Every command opens the database by this class: SQLite would have switched another's to a log."""
    make(tmp_path / "file")
    before = state(tmp_path)
    with pytest.raises(sqlite3.OperationalError, match="file is "):
        sqlite3.connect(tmp_path / "file", factory=ConnectionToExisting)
    for change in (make_file, close_to_others):
        with pytest.raises(NotAHub):
            change(tmp_path / "file")
    assert state(tmp_path) == before


# -- What is no file -------------------------------------------------------------------------------


def test_what_is_no_file_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    reasons = {
        "pipe": "no file, but a device",
        "folder": "a folder",
        "link": "a link to .*, which is not there",
    }
    for name, reason in reasons.items():
        with pytest.raises(NotAHub, match=f"{name} is {reason}"):
            open_hub(tmp_path / name)
    with pytest.raises(NotAHub, match="/dev/null is no file"):
        open_hub(Path("/dev/null"))


@pytest.mark.parametrize("name", ["pipe", "link"])
def test_the_variable_that_names_it_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path}/{name}")
    with pytest.raises(env.BadVariable, match=f"DATABASE_URL cannot be used: {tmp_path}/{name} is "):
        env.database("DATABASE_URL", tmp_path, "CTXHUB_VAR_DIR")


def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path) -> None:
    text(tmp_path / "file")
    (tmp_path / "file").chmod(0o000)
    refused = run(["setup", "--no-input"], tmp_path, DATABASE_URL=f"sqlite:///{tmp_path}/file")
    assert "file cannot be opened: Permission denied" in refused.stderr
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0


def test_a_link_leads_to_the_hub_and_its_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    make_file(tmp_path / "hub")
    (tmp_path / "link").symlink_to(tmp_path / "hub")
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path}/link")
    assert env.database("DATABASE_URL", tmp_path, "CTXHUB_VAR_DIR")["NAME"] == str(tmp_path / "hub")


# -- Hubs ------------------------------------------------------------------------------------------


def test_a_hub_of_an_older_version_goes_on(tmp_path: Path) -> None:
    write_tables(tmp_path / "hub", OLD_HUB)
    (tmp_path / "hub").chmod(0o644)
    close_to_others(tmp_path / "hub")
    assert stat.S_IMODE((tmp_path / "hub").stat().st_mode) == 0o600


def test_a_hub_of_an_older_version_that_was_killed_goes_on(tmp_path: Path) -> None:
    """All its tables are in the log, and the file has none."""
    with closing(sqlite3.connect(tmp_path / "hub")) as database:
        database.executescript(f"PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; {OLD_HUB}")
        for name in ("hub", "hub-wal"):
            (tmp_path / f"killed {name}").write_bytes((tmp_path / name).read_bytes())
    open_hub(tmp_path / "killed hub")
    (tmp_path / "killed hub-wal").unlink()
    hub_files._opened.clear()
    with pytest.raises(NotAHub):
        open_hub(tmp_path / "killed hub")


def test_a_new_hub_is_known_before_it_has_tables(tmp_path: Path) -> None:
    make_file(tmp_path / "hub")
    assert [each.name for each in tmp_path.iterdir()] == ["hub"]
    with closing(sqlite3.connect(tmp_path / "hub", factory=ConnectionToExisting)) as database:
        assert database.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)


def test_looking_at_a_file_again_drops_no_lock_of_sqlite(tmp_path: Path) -> None:
    """A process that closes any descriptor of a file loses the locks that SQLite has on it."""
    hub = tmp_path / "hub"
    make_file(hub)
    with closing(sqlite3.connect(hub, factory=ConnectionToExisting, isolation_level=None)) as own:
        own.execute("BEGIN EXCLUSIVE")
        for look in (open_hub, make_file, close_to_others):
            look(hub)
        with try_lock(hub) as is_mine:
            assert is_mine
        write = f"sqlite3.connect({str(hub)!r}, timeout=0).execute('CREATE TABLE t (a)')"
        assert "locked" in in_a_process(f"import sqlite3; {write}")


def in_a_process(code: str) -> str:
    """What the process writes to stderr."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return done.stderr


# -- An empty file ---------------------------------------------------------------------------------


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty file as the hub's database, which nobody fills."""
    monkeypatch.setattr(sqlite_file, "SECONDS_TO_FILL", 0.1)
    monkeypatch.setitem(connection.settings_dict, "NAME", str(tmp_path / "empty"))
    (tmp_path / "empty").touch()
    return tmp_path / "empty"


def test_an_empty_file_becomes_a_hub_if_a_person_says_so(empty: Path) -> None:
    asked: list[str] = []

    def say_no(question: str) -> bool:
        asked.append(question)
        return False

    with pytest.raises(CommandError, match="is there, and empty"):
        check_database(ask=say_no)
    assert asked == [f"{empty} is there, and empty. Make a hub of it?"]
    assert (empty.stat().st_size, list(empty.parent.iterdir())) == (0, [empty])
    make_database(fills_empty=check_database(ask=lambda question: True))
    assert open_hub(empty)
    assert stat.S_IMODE(empty.stat().st_mode) == 0o600


def test_an_empty_file_that_a_setup_fills_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For as long as the other setup has it locked, which is here longer than one that nobody has locked."""
    monkeypatch.setattr(sqlite_file, "SECONDS_TO_FILL", 0.0)
    path = tmp_path / "hub"
    with path.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)

        def fill() -> None:
            time.sleep(0.3)
            file.write(sqlite_file._image())
            file.flush()

        filling = threading.Thread(target=fill)
        filling.start()
        make_file(path)
        filling.join()
    assert path.read_bytes() == sqlite_file._image()


def test_an_empty_file_that_nobody_fills_is_refused(empty: Path) -> None:
    with pytest.raises(Empty):
        make_file(empty)
    assert empty.stat().st_size == 0


def test_a_file_system_without_links_gets_a_whole_file_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    make_file(tmp_path / "hub")
    assert [each.name for each in tmp_path.iterdir()] == ["hub"]
    assert (tmp_path / "hub").read_bytes() == sqlite_file._image()


# -- Beside it, and in var/ ------------------------------------------------------------------------


def test_a_lock_file_of_another_program_is_refused(tmp_path: Path) -> None:
    """A hub called `poetry` would write to poetry.lock."""
    (tmp_path / "poetry.lock").write_text("# This file is generated by Poetry.\n")
    before = state(tmp_path)
    with pytest.raises(OperationalError, match=r"poetry\.lock is a file of another program"):
        open_lock_file(tmp_path / "poetry.lock")
    refused = run(["setup", "--no-input"], tmp_path, DATABASE_URL=f"sqlite:///{tmp_path}/poetry")
    assert "poetry.lock is a file of another program" in refused.stderr
    assert state(tmp_path) == before


def test_the_lock_file_of_a_hub_is_taken(tmp_path: Path) -> None:
    (tmp_path / "hub.lock").write_text(f"{4242:<20}{1_764_000_000:<30.3f}")
    refuse_foreign_lock_file(tmp_path / "hub")


def test_a_link_beside_the_hub_is_not_followed(tmp_path: Path) -> None:
    make_file(tmp_path / "hub")
    text(tmp_path / "users")
    (tmp_path / "users").chmod(0o644)
    for end in ("-wal", "-shm", ".lock"):
        (tmp_path / f"hub{end}").symlink_to(tmp_path / "users")
    close_to_others(tmp_path / "hub")
    assert stat.S_IMODE((tmp_path / "users").stat().st_mode) == 0o644


VAR = {
    "static/index.html": "<h1>A site of others</h1>",
    "setup_token": "notes about the setup",
    "secret_key": "a text\nof several lines\nthat is no key",
}


@pytest.mark.parametrize("name", VAR)
def test_setup_leaves_files_of_others_in_its_folder(tmp_path: Path, name: str) -> None:
    file = tmp_path / "var" / name
    file.parent.mkdir(parents=True)
    file.write_text(VAR[name])
    refused = run(["setup", "--no-input"], tmp_path)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "CTXHUB_VAR_DIR" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert [each for each in (tmp_path / "var").rglob("*") if each.is_file()] == [file]
    assert file.read_text() == VAR[name]


@pytest.mark.parametrize("name", ["secret_key", "setup_token"])
def test_a_pipe_in_its_folder_is_not_waited_for(tmp_path: Path, name: str) -> None:
    (tmp_path / "var").mkdir()
    os.mkfifo(tmp_path / "var" / name)
    refused = run(["setup", "--no-input"], tmp_path)
    assert refused.returncode == 1
    assert "CTXHUB_VAR_DIR" in refused.stderr


def test_a_link_to_a_key_is_followed_and_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As secrets are mounted into containers."""
    key = "k3y-0123456789-abcdefghijklmnopqrstuvwxyz-ABCDEF"
    monkeypatch.delenv("CTXHUB_SECRET_KEY")
    (tmp_path / "mounted").write_text(key)
    (tmp_path / "secret_key").symlink_to("mounted")
    assert env.secret_key("CTXHUB_SECRET_KEY", tmp_path / "secret_key", "CTXHUB_VAR_DIR") == key
    assert (tmp_path / "secret_key").is_symlink()
