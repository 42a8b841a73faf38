"""`manage.py backup`: one whole private file, while others write."""

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection

from ctxhub.core.models import HubRecord
from ctxhub.management.backups import backing_up
from ctxhub.management.backups.work_folder import work_folder
from tests.backups import (
    back_up,
    installed,
    is_root,
    keys_of,
    limited,
    manifest_in,
    query,
    restored,
    run_killed,
    secret_key_of,
    token_of,
)
from tests.core.command_line import Installation, installation
from tests.timing import wait_until

ENGINE_MEMBER = {"sqlite": "database.sqlite3.gz", "postgresql": "database.dump"}


@pytest.fixture(scope="module")
def made(django_db_setup: None) -> Iterator[Installation]:
    with installed("demo") as at:
        yield at


@pytest.fixture
def at(made: Installation) -> Iterator[Installation]:
    with made.copied() as copy:
        yield copy


def test_a_backup_is_its_owners_alone_and_tells_what_is_in_it(made: Installation, tmp_path: Path) -> None:
    path = tmp_path / "one.tar"
    done = made.run("backup", str(path), umask=0o000)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{path}: ")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [*tmp_path.iterdir()] == [path]
    manifest = manifest_in(path)
    assert [*manifest["members"]] == ["secret_key", ENGINE_MEMBER[connection.vendor]]
    assert manifest["tables"]["core_project"] == 1
    assert "core.0024_hub_records" in manifest["migrations"]
    [(noted,)] = query(made, "SELECT count(*) FROM core_hubrecord WHERE kind = 'backup'")
    assert noted == 1


def test_a_second_one_is_of_the_same_hub(made: Installation, tmp_path: Path) -> None:
    for name in ("one.tar", "two.tar"):
        assert made.run("backup", str(tmp_path / name)).returncode == 0
    assert manifest_in(tmp_path / "one.tar")["hub"] == manifest_in(tmp_path / "two.tar")["hub"] != ""


def test_under_a_load_of_writes_it_is_of_one_moment(at: Installation) -> None:
    """What was answered as written before it began is in it, and every table fits the others."""
    ended = threading.Event()
    written: list[list[str]] = [[] for _ in range(4)]
    token = token_of(at)

    def keep_writing(mine: list[str], name: str) -> None:
        rest = server.hub.rest(token, "demo")
        while not ended.is_set():
            key = f"{name}/{len(mine)}"
            if rest.put(f"decisions/{key}/", {"value": "x", "tags": [name], "paths": ["src/"]}).status == 201:
                mine.append(key)

    with at.serving("--port", "0") as server:
        threads = [
            threading.Thread(target=keep_writing, args=[mine, f"of{number}"])
            for number, mine in enumerate(written)
        ]
        for thread in threads:
            thread.start()
        wait_until(lambda: all(len(mine) > 10 for mine in written))
        before = {key for mine in written for key in mine}
        path = back_up(at)
        counts = [len(mine) for mine in written]
        wait_until(lambda: all(len(mine) > n for mine, n in zip(written, counts, strict=True)))
        ended.set()
        for thread in threads:
            thread.join()
    with installation() as other:
        restored(other, path)
        found = keys_of(other)
        assert before <= found < {key for mine in written for key in mine}
        [(events,)] = query(other, "SELECT count(DISTINCT ref) FROM core_event WHERE noun = 'decision'")
        assert events == len(found)
        checked = other.run("reindex", "--check", "--all")
        assert checked.returncode == 0, checked.stdout + checked.stderr
        assert secret_key_of(other) == secret_key_of(at)


# -- In a folder -----------------------------------------------------------------------------------


def test_in_a_folder_it_has_a_dated_name_and_older_ones_go(made: Installation, tmp_path: Path) -> None:
    assert made.run("backup", str(tmp_path), "--keep", "1d").returncode == 0
    [first] = tmp_path.iterdir()
    (tmp_path / "mine.tar").write_text("mine")
    wait_until(lambda: made.run("backup", str(tmp_path), "--keep", "1d").returncode == 0)
    assert not first.exists()
    assert len([*tmp_path.iterdir()]) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{folder}/none/one.tar"], "There is no folder {folder}/none. Make it first: mkdir -m 700"),
        (["{folder}/none/"], "There is no folder {folder}/none/"),
        (["{folder}/there"], "{folder}/there is there already: a backup never replaces a file"),
        (["{folder}/link"], "{folder}/link is there already"),
        (["{folder}", "--keep", "7x"], "--keep '7x' cannot be read"),
        (["{folder}/one.tar", "--keep", "7d"], "--keep is for a folder of backups, and {folder}/one.tar"),
    ],
)
def test_what_cannot_be_made_is_refused_and_nothing_is_left(
    made: Installation, tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "there").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    before = {*tmp_path.iterdir()}
    refused = made.run("backup", *(each.format(folder=tmp_path) for each in arguments))
    assert refused.returncode == 1
    assert said.format(folder=tmp_path) in refused.stderr
    assert {*tmp_path.iterdir()} == before
    assert (tmp_path / "there").read_text() == "mine"


@pytest.mark.skipif(is_root(), reason="Root may write everywhere.")
def test_a_folder_that_cannot_be_written_is_named(made: Installation, tmp_path: Path) -> None:
    os.chmod(tmp_path, 0o500)
    refused = made.run("backup", str(tmp_path / "one.tar"))
    os.chmod(tmp_path, 0o700)
    assert f"Nothing can be written in {tmp_path}" in refused.stderr


@pytest.mark.parametrize("blocks", [4, 20, 40])
def test_on_a_full_disk_nothing_is_left(made: Installation, tmp_path: Path, blocks: int) -> None:
    refused = limited(made, blocks, "backup", str(tmp_path / "one.tar"))
    assert refused.returncode == 1, refused.stdout
    assert f"No backup was made: the disk of {tmp_path} is full" in refused.stderr
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    "where",
    [
        "ctxhub.management.backups.backing_up:_copy_database",
        "ctxhub.management.backups.backing_up:write_archive",
        "ctxhub.management.backups.backing_up:put_new",
    ],
)
def test_killed_it_leaves_no_file_of_the_name(made: Installation, tmp_path: Path, where: str) -> None:
    path = tmp_path / "one.tar"
    done = run_killed(made, where, "before", "backup", str(path))
    assert done.returncode == -9, done.stderr
    assert not path.exists()
    assert [each.name.startswith(".ctxhub-at-work-") for each in tmp_path.iterdir()] == [True]
    assert made.run("backup", str(path)).returncode == 0
    assert [*tmp_path.iterdir()] == [path], "the next one removes what was left"


def test_one_at_work_is_not_disturbed_by_another(made: Installation, tmp_path: Path) -> None:
    """The folder of a process that lives is locked."""
    with work_folder(tmp_path) as work:
        assert made.run("backup", str(tmp_path / "one.tar")).returncode == 0
        assert work.is_dir()


# -- PostgreSQL ------------------------------------------------------------------------------------

ON_SERVER = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite needs no program.")


@ON_SERVER
def test_without_pg_dump_it_says_what_to_install(made: Installation, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "pg_dump").write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 9.6.1'\n")
    (programs / "pg_dump").chmod(0o755)
    code = (
        "from pathlib import Path; from ctxhub.management.backups import postgresql_programs as p;"
        "p.INSTALLED = Path('/nowhere'); from django.core.management import execute_from_command_line as run;"
        f"run(['manage.py', 'backup', {str(tmp_path / 'one.tar')!r}])"
    )
    refused = subprocess.run(
        [sys.executable, "-c", code],
        env={**made.environment, "PATH": str(programs), "DJANGO_SETTINGS_MODULE": "ctxhub.settings"},
        cwd=Path(backing_up.__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 1
    assert "This needs pg_dump of PostgreSQL" in refused.stderr
    assert "there is only that of 9" in refused.stderr
    assert "apt-get install postgresql-client-" in refused.stderr
    assert not (tmp_path / "one.tar").exists()


@ON_SERVER
def test_the_password_is_on_no_command_line() -> None:
    from ctxhub.management.backups.postgresql_programs import login

    parameters = {"host": "h", "user": "u", "password": "hidden word", "dbname": "d", "prepare_threshold": 2}
    where, environment = login(parameters)
    assert "hidden" not in where
    assert environment["PGPASSWORD"] == "hidden word"


@pytest.mark.django_db
def test_it_is_noted_for_the_page(tmp_path: Path) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("VACUUM cannot run in the transaction of a test.")
    done = backing_up.back_up(tmp_path / "one.tar")
    noted = HubRecord.objects.get(kind="backup")
    assert (noted.details["file"], noted.details["bytes"]) == (str(done.path), done.bytes)
    assert noted.at == done.manifest.created_at
