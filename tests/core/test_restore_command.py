"""`manage.py restore`: all of a backup, or nothing, on the engine of the run."""

import os
import shutil
import sqlite3
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.core.management.base import CommandError
from django.db import connection

from ctxhub.core.models import Project
from ctxhub.management.backups.other_database import connected_to
from ctxhub.management.backups.restoring import open_backup, restore_into
from ctxhub.management.lifting_ids import MARGIN
from ctxhub.management.refusals import refuse_other_schema
from memory.models import Decision
from tests.backups import (
    back_up,
    installed,
    is_root,
    keys_of,
    limited,
    made_unasked,
    manifest_in,
    query,
    restored,
    rewritten,
    run_killed,
    secret_key_of,
    token_of,
    with_key,
)
from tests.core.command_line import Installation, installation
from tests.migrated import copy_on_server, drop_on_server
from tests.windows import window

SQLITE, POSTGRESQL = (f"ctxhub.management.backups.{engine}_restore" for engine in ("sqlite", "postgresql"))
IS_SQLITE = connection.vendor == "sqlite"
OTHER_KEY = "another-key-0123456789-abcdefghijklmnopqrstuvwxyz"


@pytest.fixture(scope="module")
def made(django_db_setup: None) -> Iterator[Installation]:
    """A hub with the decision `kept`, a backup of it, and then the decision `later`."""
    with installed("demo") as at:
        with window(at, "ada") as ada:
            assert ada.call("decision", "set", key="kept", value="x")["result"] == "created"
            back_up(at)
            assert ada.call("decision", "set", key="later", value="x")["result"] == "created"
        yield at


@pytest.fixture
def at(made: Installation) -> Iterator[Installation]:
    with made.copied() as copy:
        yield copy


@pytest.fixture
def backup(at: Installation) -> Path:
    return at.folder / "backups" / "one.tar"


@pytest.fixture(scope="module")
def others_backup(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of another hub, with another key, whose first project is `first`."""
    with installed("first", "demo") as at:
        return Path(shutil.copy(back_up(at), tmp_path_factory.mktemp("others") / "others.tar"))


def names_in(at: Installation) -> set[str]:
    """What lies in its folder, but for what any process makes."""
    made = {"hub.sqlite3", "hub.sqlite3-wal", "hub.sqlite3-shm", "hub.sqlite3.lock", "setup_token", "static"}
    return {each.name for each in at.folder.iterdir()} - made - {"backups"}


# -- Into an empty database ------------------------------------------------------------------------


def test_a_new_machine_needs_the_file_alone(made: Installation) -> None:
    token = token_of(made)
    with installation() as at:
        said = restored(at, made.folder / "backups" / "one.tar")
        assert "Restored " in said
        assert "The index is right" in said
        assert keys_of(at) == {"kept"}
        assert secret_key_of(at) == secret_key_of(made)
        assert names_in(at) == {"secret_key"}
        assert (at.folder / "secret_key").stat().st_mode & 0o777 == 0o600
        back_up(made, "with-token.tar")
        restored(at, made.folder / "backups" / "with-token.tar", "--replace")
        with at.serving("--port", "0") as server:
            assert server.hub.rest(token, "demo").get("decisions/kept/").status == 200


def test_ids_go_on_a_million_later_where_those_given_since_are_not_known(made: Installation) -> None:
    with installation() as at:
        restored(at, made.folder / "backups" / "one.tar")
        with window(at, "ada") as ada:
            assert ada.call("file", "lease", path="a.py")["fence"] > MARGIN


def test_a_hub_without_projects_and_people_is_empty(made: Installation) -> None:
    with installation() as at:
        assert at.run("migrate", "--verbosity=0").returncode == 0
        restored(at, made.folder / "backups" / "one.tar")
        assert keys_of(at) == {"kept"}


# -- In the place of another -----------------------------------------------------------------------


def test_what_is_there_is_replaced_only_if_that_is_said(at: Installation, backup: Path) -> None:
    refused = at.run("restore", str(backup))
    assert refused.returncode == 1
    assert "holds a hub already: nothing was changed" in refused.stderr
    assert keys_of(at) == {"kept", "later"}
    restored(at, backup, "--replace")
    assert keys_of(at) == {"kept"}


def test_no_id_of_the_replaced_database_is_given_again(at: Installation, backup: Path) -> None:
    with window(at, "ada") as ada:
        fences = [ada.call("file", "lease", path=f"{n}.py")["fence"] for n in range(5)]
    [(event,)] = query(at, "SELECT max(id) FROM core_event")
    restored(at, backup, "--replace")
    with window(at, "ada") as ada:
        assert ada.call("file", "lease", path="a.py")["fence"] == fences[-1] + 1
    [(next_event,)] = query(at, "SELECT max(id) FROM core_event")
    assert event < next_event < event + 100


def test_of_another_hub_ids_and_key_are_taken_too(at: Installation, others_backup: Path) -> None:
    own_key = secret_key_of(at)
    said = restored(at, others_backup, "--replace")
    assert "Put its secret key in place: restart what runs" in said
    assert [slug for (slug,) in query(at, "SELECT slug FROM core_project ORDER BY id")] == ["first", "demo"]
    assert secret_key_of(at) != own_key
    [aside] = [name for name in names_in(at) if name.startswith("secret_key.replaced-")]
    assert (at.folder / aside).read_text() == own_key
    with window(at, "ada") as ada:
        assert ada.call("file", "lease", path="a.py")["fence"] > MARGIN


@pytest.mark.skipif(not IS_SQLITE, reason="PostgreSQL has no file.")
def test_the_replaced_file_is_kept_whole(at: Installation, backup: Path) -> None:
    said = restored(at, backup, "--replace")
    [aside] = [name for name in names_in(at) if ".replaced-" in name and not name.endswith(("-wal", "-shm"))]
    assert f"The replaced database is {at.folder / aside}" in said
    with closing(sqlite3.connect(at.folder / aside)) as file:
        assert len(file.execute("SELECT key FROM memory_decision").fetchall()) == 2


@pytest.mark.skipif(IS_SQLITE, reason="SQLite's file is another one.")
def test_what_is_not_a_hubs_stays(at: Installation, backup: Path) -> None:
    import psycopg

    with psycopg.connect(at.environment["DATABASE_URL"]) as server:
        server.execute("CREATE TABLE monitor AS SELECT 1 AS kept")
    restored(at, backup, "--replace")
    assert query(at, "SELECT kept FROM monitor") == [(1,)]


@pytest.mark.skipif(IS_SQLITE, reason="SQLite's file is another one.")
def test_what_refers_to_a_hubs_rows_is_not_dropped(at: Installation, backup: Path) -> None:
    import psycopg

    with psycopg.connect(at.environment["DATABASE_URL"]) as server:
        server.execute("CREATE TABLE monitor (project bigint REFERENCES core_project)")
    refused = at.run("restore", str(backup), "--replace")
    assert "cannot be loaded, and nothing was changed" in refused.stderr
    assert keys_of(at) == {"kept", "later"}


@pytest.mark.skipif(not IS_SQLITE, reason="PostgreSQL has no file.")
@pytest.mark.parametrize("begins", [100, 4096], ids=["list of tables", "tables"])
def test_a_damaged_database_is_replaced(at: Installation, backup: Path, begins: int) -> None:
    """It is what backups are for. Its ids are not known."""
    with (at.folder / "hub.sqlite3").open("r+b") as file:
        file.seek(begins)
        file.write(b"\xff" * 200_000)
    assert at.run("reindex", "--check").returncode == 1
    refused = at.run("restore", str(backup))
    assert "holds a hub already" in refused.stderr
    restored(at, backup, "--replace")
    assert keys_of(at) == {"kept"}
    with window(at, "ada") as ada:
        assert ada.call("file", "lease", path="a.py")["fence"] > MARGIN


@pytest.mark.skipif(not is_root(), reason="Others cannot write into files of others.")
def test_as_root_it_leaves_no_files_that_the_hub_cannot_read(at: Installation, backup: Path) -> None:
    os.chown(at.folder / "secret_key", 65_534, -1)
    refused = at.run("restore", str(backup), "--replace")
    assert "belongs to user 65534: run this as that user" in refused.stderr
    assert keys_of(at) == {"kept", "later"}


# -- Of another version ----------------------------------------------------------------------------


def test_a_backup_of_an_older_version_is_migrated(at: Installation) -> None:
    """Made by the code of that version: here by one that does not look."""
    assert at.run("migrate", "agent_sessions", "0005", "--verbosity=0").returncode == 0
    old = at.folder / "old.tar"
    assert made_unasked(at, old) == 0
    said = restored(at, old, "--replace")
    assert "migration(s) that it lacked" in said
    assert at.run("migrate", "--check").returncode == 0
    assert keys_of(at) == {"kept", "later"}


def test_a_backup_that_is_too_old_is_refused_with_what_to_do(at: Installation, backup: Path) -> None:
    migrations = [each for each in manifest_in(backup)["migrations"] if not each.startswith("core.0001")]
    old = rewritten(backup, at.folder / "too_old.tar", migrations=[*migrations, "core.0001_initial"])
    refused = at.run("restore", str(old), "--replace")
    assert refused.returncode == 1
    assert "this one cannot upgrade: restore it by an older one. Upgrade in two steps" in refused.stderr
    assert keys_of(at) == {"kept", "later"}


def test_a_backup_of_a_newer_version_is_refused_by_name(at: Installation, backup: Path) -> None:
    migrations = [*manifest_in(backup)["migrations"], "memory.0999_bin"]
    newer = rewritten(backup, at.folder / "newer.tar", migrations=migrations)
    refused = at.run("restore", str(newer), "--replace")
    assert refused.returncode == 1
    assert "is of a newer version of ctxhub" in refused.stderr
    assert "memory.0999_bin. Update the code" in refused.stderr
    assert keys_of(at) == {"kept", "later"}


# -- What is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", [{"migrations": []}, {"key": "0" * 64}, {"tables": {"core_project": 7}}])
def test_a_manifest_that_tells_otherwise_than_the_content_is_refused(
    at: Installation, backup: Path, changes: dict[str, Any]
) -> None:
    other = rewritten(backup, at.folder / "other.tar", **changes)
    before = names_in(at)
    refused = at.run("restore", str(other), "--replace")
    assert refused.returncode == 1
    assert "cannot be restored: its " in refused.stderr
    assert keys_of(at) == {"kept", "later"}
    assert names_in(at) == before


def test_a_missing_torn_or_foreign_file_is_refused(at: Installation, backup: Path, tmp_path: Path) -> None:
    (tmp_path / "torn").write_bytes(backup.read_bytes()[:-2000])
    damaged = bytearray(backup.read_bytes())
    damaged[-5000] ^= 1
    (tmp_path / "damaged").write_bytes(damaged)
    with tarfile.open(tmp_path / "foreign", "w") as archive:
        archive.add(backup, "backup")
    said = {
        "none": "cannot be read: No such file or directory",
        "torn": "the file is torn or was changed",
        "damaged": "is not what was backed up: the file is damaged",
        "foreign": "it is no backup of a hub",
    }
    for name, sentence in said.items():
        refused = at.run("restore", str(tmp_path / name), "--replace")
        assert (refused.returncode, sentence in refused.stderr) == (1, True), refused.stderr
    refused = at.run("restore", str(tmp_path), "--replace")
    assert f"{tmp_path} cannot be read: Is a directory" in refused.stderr
    assert keys_of(at) == {"kept", "later"}


def test_a_backup_of_the_other_engine_is_refused_by_name(at: Installation, backup: Path) -> None:
    values = manifest_in(backup)
    engine = "postgresql" if IS_SQLITE else "sqlite"
    member = {"sqlite": "database.sqlite3.gz", "postgresql": "database.dump"}
    [key, database] = values["members"].values()
    members = {"secret_key": key, member[engine]: database}
    names = {member[connection.vendor]: member[engine]}
    other = rewritten(backup, at.folder / "other.tar", names=names, engine=engine, members=members)
    refused = at.run("restore", str(other), "--replace")
    assert f"is a backup of {engine}, and this hub is on {connection.vendor}" in refused.stderr


def test_a_key_that_the_environment_has_is_not_changed(at: Installation, backup: Path) -> None:
    other = with_key(at, OTHER_KEY)
    refused = other.run("restore", str(backup), "--replace")
    assert "has another secret key than CTXHUB_SECRET_KEY" in refused.stderr
    assert keys_of(at) == {"kept", "later"}
    done = other.run("restore", str(backup), "--replace", CTXHUB_SECRET_KEY_FALLBACKS=secret_key_of(at))
    assert done.returncode == 0, done.stderr
    assert keys_of(at) == {"kept"}


def test_on_a_full_disk_nothing_is_changed(at: Installation, backup: Path) -> None:
    before = names_in(at)
    refused = limited(at, 200, "restore", str(backup), "--replace")
    assert refused.returncode == 1
    assert "The disk is full" in refused.stderr
    assert keys_of(at) == {"kept", "later"}
    assert names_in(at) == before


@pytest.mark.skipif(not IS_SQLITE, reason="PostgreSQL has no file.")
def test_a_log_without_its_database_is_not_applied(made: Installation) -> None:
    with installation() as at:
        (at.folder / "hub.sqlite3-wal").write_bytes(b"of another one")
        refused = at.run("restore", str(made.folder / "backups" / "one.tar"))
        assert "lie there without their database: move them away first" in refused.stderr
        assert not (at.folder / "hub.sqlite3").exists()


# -- Beside the hub, as a drill does ---------------------------------------------------------------


@pytest.fixture
def empty_database(transactional_db: None, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The settings of a database in which there is nothing."""
    if IS_SQLITE:
        yield {"NAME": str(tmp_path / "drill.sqlite3")}
        return
    name = f"{connection.settings_dict['NAME']}_drill"
    copy_on_server("template0", name)
    yield {"NAME": name}
    drop_on_server(name)


def test_it_is_restored_into_another_database(made: Installation, empty_database: dict[str, str]) -> None:
    archive = open_backup(made.folder / "backups" / "one.tar")
    restore_into(archive, empty_database)
    with connected_to(empty_database):
        assert [*Project.objects.values_list("slug", flat=True)] == ["demo"]
        assert Decision.unscoped.get().key == "kept"
        refuse_other_schema()
    assert not Project.objects.exists(), "the hub's own is as before"
    with pytest.raises((CommandError, FileExistsError)):
        restore_into(archive, empty_database)


# -- Killed ----------------------------------------------------------------------------------------


KILLS = {
    "sqlite": [
        (f"{SQLITE}:restore_copy", "after", "old"),
        (f"{SQLITE}:replace", "before", "old"),
        ("ctxhub.core.kit.replacement:write_private", "after", "old"),
        ("ctxhub.core.kit.replacement:finish", "before", "new"),
        ("ctxhub.core.kit.replacement:_put_key", "after", "new"),
        (f"{SQLITE}:_replace", "after", "new"),
    ],
    "postgresql": [
        (f"{POSTGRESQL}:_drop_all", "after", "old"),
        (f"{POSTGRESQL}:load", "after", "old"),
        (f"{POSTGRESQL}:_lift", "after", "old"),
        ("ctxhub.core.kit.restored_key:WaitingKey.__init__", "after", "old"),
        (f"{POSTGRESQL}:_end_others", "after", "old"),
        ("ctxhub.core.kit.restored_key:WaitingKey.settle", "before", "new"),
        ("ctxhub.core.kit.restored_key:put_key", "before", "new"),
        ("ctxhub.core.kit.restored_key:put_key", "after", "new"),
        (f"{POSTGRESQL}:expect_restore", "before", "new"),
    ],
}


@pytest.mark.parametrize(("where", "when", "expected"), KILLS[connection.vendor])
def test_killed_it_is_the_old_hub_or_the_new_one(
    at: Installation, others_backup: Path, where: str, when: str, expected: str
) -> None:
    """Database and key are of the same hub, once a process has read the key."""
    own_key = secret_key_of(at)
    done = run_killed(at, where, when, "restore", str(others_backup), "--replace")
    assert done.returncode == -9, done.stdout + done.stderr
    token_of(at)  # A process that starts, and reads the key.
    assert keys_of(at) == ({"kept", "later"} if expected == "old" else set())
    assert at.count(Project) == (1 if expected == "old" else 2)
    assert (secret_key_of(at) == own_key) == (expected == "old")
    restored(at, others_backup, "--replace")
    left = {name for name in names_in(at) if ".replaced-" not in name}
    assert left == {"secret_key"}, "the next one removes what was left"
