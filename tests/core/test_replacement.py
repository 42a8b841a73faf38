"""A file is put in the place of the database, with its key: the process is killed at every step."""

import json
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ctxhub.core.kit.hub_files import Missing, open_hub
from ctxhub.core.kit.replacement import Plan, finish, replace
from ctxhub.core.kit.sqlite_file import make_file

pytestmark = pytest.mark.one_engine
STEPS = ("os.rename", "os.link", "os.remove", "os.chmod", "tempfile.mkstemp")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """The old one, whose only row is in its log alone."""
    path = tmp_path / "hub.sqlite3"
    make_file(path)
    opened = sqlite3.connect(path, isolation_level=None)
    _left_open.append(opened)
    opened.execute("PRAGMA journal_mode = wal")
    opened.execute("CREATE TABLE text AS SELECT 'old' AS text")
    (tmp_path / "secret_key").write_text("old key")
    return path


_left_open: list[sqlite3.Connection] = []


@pytest.fixture
def plan(database: Path) -> Plan:
    folder = database.parent
    make_file(folder / "new")
    with closing(sqlite3.connect(folder / "new")) as new:
        new.execute("CREATE TABLE text AS SELECT 'new' AS text")
    return Plan(
        str(folder / "new"),
        str(folder / "aside"),
        "new key",
        str(folder / "secret_key"),
        str(folder / "key_aside"),
    )


def in_child(work: Callable[[], object], *, killed_at: int) -> bool:
    """Run it in a process that is killed before its nth step; whether it came to its end."""
    process = os.fork()
    if not process:
        left = [killed_at]

        def count(event: str, _: object) -> None:
            if event in STEPS:
                left[0] -= 1
                if left[0] < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(process, 0)
    assert os.WIFEXITED(status) or os.WTERMSIG(status) == signal.SIGKILL
    return os.WIFEXITED(status)


def state(database: Path) -> tuple[str, str]:
    """What a process that starts finds: the text in the database, and the key."""
    if not database.exists():
        finish(database)
    with closing(sqlite3.connect(database)) as opened:
        [(text,)] = opened.execute("SELECT text FROM text")
    return text, (database.parent / "secret_key").read_text()


@pytest.mark.parametrize("killed_again_at", [None, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
def test_killed_at_any_step_it_is_old_or_new(database: Path, plan: Plan, killed_again_at: int | None) -> None:
    """Whoever finishes it may be killed, too."""
    folder = database.parent
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    states: list[tuple[str, str]] = []
    for step in range(100):
        whole = in_child(lambda: replace(database, plan), killed_at=step)
        if killed_again_at is not None and not database.exists():
            in_child(lambda: finish(database), killed_at=killed_again_at)
        states.append(state(database))
        if whole:
            break
        for file in folder.iterdir():
            file.unlink()
        for name, content in files.items():
            (folder / name).write_bytes(content)
    assert states[0] == ("old", "old key")
    assert states[-1] == ("new", "new key")
    assert {*states} == {("old", "old key"), ("new", "new key")}
    assert len(states) > 8, "it has that many steps"


def test_the_replaced_one_is_whole_with_its_log_and_its_key(database: Path, plan: Plan) -> None:
    replace(database, plan)
    with closing(sqlite3.connect(plan.aside)) as opened:
        assert opened.execute("SELECT text FROM text").fetchall() == [("old",)]
    assert Path(plan.key_aside).read_text() == "old key"
    assert {file.stat().st_mode & 0o777 for file in (database, Path(plan.key_file))} == {0o600}
    assert not Path(f"{database}.replacement").exists()


def test_whoever_looks_for_the_database_finishes(database: Path, plan: Plan) -> None:
    """As after a kill: it is moved aside, and nothing else was done."""
    Path(f"{database}.replacement").write_text(as_json(plan))
    database.rename(plan.aside)
    open_hub(database)
    assert state(database) == ("new", "new key")


def test_a_plan_that_was_given_up_is_not_followed(database: Path, plan: Plan) -> None:
    """Somebody moves the database away later, for a reason of his own."""
    Path(f"{database}.replacement").write_text(as_json(plan))
    database.rename(database.parent / "moved")
    assert not finish(database)
    with pytest.raises(Missing):
        open_hub(database)
    assert (database.parent / "secret_key").read_text() == "old key"


def test_the_log_of_the_new_one_stays_where_it_is(database: Path, plan: Plan) -> None:
    """The plan alone is left to remove, and the new database is in use."""
    replace(database, plan)
    opened = sqlite3.connect(database, isolation_level=None)
    _left_open.append(opened)
    opened.execute("PRAGMA journal_mode = wal")
    opened.execute("INSERT INTO text VALUES ('later')")
    Path(f"{database}.replacement").write_text(as_json(plan))
    assert finish(database)
    assert Path(f"{database}-wal").stat().st_size
    assert not Path(f"{database}.replacement").exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"new": 1}'])
def test_a_plan_that_makes_no_sense_is_not_followed(database: Path, content: str) -> None:
    Path(f"{database}.replacement").write_text(content)
    database.rename(database.parent / "moved")
    assert not finish(database)


def as_json(plan: Plan) -> str:
    names = ("new", "aside", "key", "key_file", "key_aside")
    return json.dumps({name: getattr(plan, name) for name in names})
