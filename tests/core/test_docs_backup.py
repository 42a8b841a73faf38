"""The commands of a backup, run as the documents print them."""

import os
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest
from django.db import connection

from ctxhub import env
from tests.backups import installed
from tests.core.command_line import MANAGE
from tests.postgres import bundled_programs, debian_programs

FOLDER = "/var/backups/ctxhub"
STAND_IN = f"""#!{sys.executable}
import sqlite3, sys
sqlite3.connect(sys.argv[1]).execute(sys.argv[2])
"""


@pytest.fixture
def backups(tmp_path: Path) -> Path:
    folder = tmp_path / "backups"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    var = tmp_path / "checkout" / "var"
    var.mkdir(parents=True)
    (var / "secret_key").write_text("key")
    return var.parent


@pytest.fixture
def database(checkout: Path) -> Iterator[sqlite3.Connection]:
    """An open database, whose rows are in `-wal` alone."""
    with closing(sqlite3.connect(checkout / "var/ctxhub.sqlite3", isolation_level=None)) as opened:
        opened.execute("PRAGMA journal_mode = wal")
        opened.execute("CREATE TABLE kept AS SELECT 'stored' AS text")
        yield opened


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with a program `sqlite3`, where the machine has none."""
    folder = tmp_path / "programs"
    folder.mkdir()
    if not shutil.which("sqlite3"):
        (folder / "sqlite3").write_text(STAND_IN)
        (folder / "sqlite3").chmod(0o755)
    return folder


def commands(name: str) -> str:
    """The block of the section about backups that has this text."""
    blocks: list[str] = re.findall(r"^```sh\n(.*?)^```", section(), re.MULTILINE | re.DOTALL)
    [found] = [block for block in blocks if name in block]
    return found


def run(script: str, checkout: Path, backups: Path, programs: Path, **variables: str) -> None:
    """In the checkout, in a shell that lets everybody read what it makes."""
    path = f"{programs}:{os.environ['PATH']}"
    subprocess.run(
        ["/bin/sh", "-ec", f"umask 022\n{script.replace(FOLDER, str(backups))}"],
        cwd=checkout,
        env={**os.environ, "PATH": path, **variables},
        check=True,
        timeout=120,
    )


def section() -> str:
    text = (env.ROOT / "docs/team-server.md").read_text()
    return text.split("\n## Back up and restore\n")[1].split("\n## ")[0]


def test_the_commands_back_up_and_restore(django_db_setup: None, backups: Path) -> None:
    """As printed, on the engine of the run."""
    with installed("demo") as at:
        for name in ("backup", "restore"):
            [command] = [line for line in commands(f"manage.py {name}").splitlines() if name in line]
            [file] = backups.iterdir() if name == "restore" else [Path()]
            script = command.replace(".venv/bin/python manage.py", f"{sys.executable} {MANAGE}")
            run(script, at.folder, backups, backups, **at.environment, BACKUP=str(file))
            assert modes(backups) == {each.name: 0o600 for each in backups.iterdir()} != {}


def test_timer_and_cron_run_the_same_command() -> None:
    command = commands("manage.py backup").strip()
    assert f"ExecStart=/srv/ctxhub/{command}\n" in section()
    assert f"* * * cd /srv/ctxhub && {command}\n" in section()


def modes(folder: Path) -> dict[str, int]:
    return {each.name: stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()}


def test_a_backup_of_sqlite_is_its_users_alone_and_restores_what_was_stored(
    checkout: Path, backups: Path, programs: Path, database: sqlite3.Connection
) -> None:
    before = set(checkout.rglob("*"))
    run(commands("umask") + commands("VACUUM INTO"), checkout, backups, programs)
    assert set(checkout.rglob("*")) == before
    [folder] = backups.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert modes(folder) == {"secret_key": 0o600, "ctxhub.sqlite3": 0o600}

    database.execute("DELETE FROM kept")
    restore = commands('install -m 600 "$BACKUP/ctxhub.sqlite3"').replace(".venv/bin/python", "echo")
    run(restore, checkout, backups, programs, BACKUP=str(folder))
    assert modes(checkout / "var")["ctxhub.sqlite3"] == 0o600
    assert database.execute("SELECT text FROM kept").fetchall() == [], "it still has the replaced file open"
    names = {each.name for each in (checkout / "var").iterdir()}
    assert names == {
        "secret_key",
        "ctxhub.sqlite3",
        *(f"replaced.sqlite3{end}" for end in ("", "-wal", "-shm")),
    }
    with closing(sqlite3.connect(checkout / "var/ctxhub.sqlite3")) as restored:
        assert restored.execute("SELECT text FROM kept").fetchall() == [("stored",)]


@pytest.mark.django_db
@pytest.mark.every_engine
def test_a_backup_of_postgresql_is_its_users_alone(checkout: Path, backups: Path) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("The test database is SQLite.")
    programs = debian_programs() or bundled_programs()
    if not programs or not (programs / "pg_dump").exists():
        pytest.skip("There is no pg_dump here.")
    where = connection.settings_dict
    user, host = (quote(str(where[name]), safe="") for name in ("USER", "HOST"))
    url = f"postgres://{user}@{host}:{where['PORT'] or 5432}/{where['NAME']}"
    secret = {"PGPASSWORD": str(where["PASSWORD"])}
    run(commands("umask") + commands("pg_dump"), checkout, backups, programs, DATABASE_URL=url, **secret)
    [folder] = backups.iterdir()
    assert modes(folder) == {"secret_key": 0o600, "ctxhub.dump": 0o600}
    listed = subprocess.run(
        [programs / "pg_restore", "--list", folder / "ctxhub.dump"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "TABLE DATA public memory_decision " in listed.stdout
