"""`manage.py drill`: what is restored is compared with what was backed up, and nothing is left of it."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from tests import preloaded
from tests.backups import installed, query, run_killed, token_of
from tests.core.command_line import MANAGE, Installation
from tests.timing import PATIENCE_SECONDS, wait_until

ROOT = Path(MANAGE).parent
FILL = """
import django; django.setup()
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from tests.transfer.world import fill
project = Project.objects.get()
fill(*(Caller(project=project, agent=name, keeps_secrets=True) for name in ("ada", "ben")))
"""
SUMS = """
import django; django.setup()
from ctxhub.management.drills.sums import sums_of_tables
print({name: each for name, each in sums_of_tables().items() if name != "core_hubrecord"})
"""
# `manage.py drill`, for which statements change the restored database before it is compared.
BROKEN = """
import sys
import django; django.setup()
from django.db import connection
from ctxhub.management.backups.other_database import connected_to
from ctxhub.management.drills import drill
restore_into = drill.restore_into
def broken(archive, database):
    restore_into(archive, database)
    with connected_to(database), connection.cursor() as cursor:
        for statement in sys.argv[1:]:
            cursor.execute(statement)
drill.restore_into = broken
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", "drill"])
"""
# `manage.py drill`, while others write between the backup and its questions.
INTERRUPTED = """
import subprocess, sys
import django; django.setup()
from ctxhub.management.drills import drill
choose_questions = drill.choose_questions
def choose():
    subprocess.run([sys.executable, "-c", sys.argv[1]], check=True)
    return choose_questions()
drill.choose_questions = choose
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", "drill"])
"""
WRITE = """
import django; django.setup()
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from ctxhub.toolbox.dispatch import call
from memory.models import Decision
ada = Caller(project=Project.objects.get(), agent="ada")
call(ada, "decision", {"action": "set", "key": "db/engine", "value": "another one"})
call(ada, "decision", {"action": "set", "key": "new", "value": "meanwhile"})
"""
# The copy of a project, whose import is killed at a step; and later, when the next cleanup takes it up.
BEGUN = """
import django; django.setup()
import sys
from ctxhub.core.accounts.projects import create_project
for slug in sys.argv[1:]:
    create_project(slug=slug)
"""
FORGOTTEN = """
import django; django.setup()
from ctxhub.core.kit import clock
from ctxhub.core.models import Import
Import.objects.update(alive_until=clock.now())
"""


@pytest.fixture(scope="module")
def made(django_db_setup: None) -> Iterator[Installation]:
    with installed("demo") as at:
        python(at, FILL)
        yield at


@pytest.fixture
def at(made: Installation) -> Iterator[Installation]:
    with made.copied() as copy:
        yield copy


def python(at: Installation, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**at.environment, "DJANGO_SETTINGS_MODULE": "ctxhub.settings"}
    done = preloaded.run_script(code, arguments, environment, timeout=5 * PATIENCE_SECONDS)
    assert done.returncode in (0, 1), done.stderr
    return done


def left_behind(at: Installation) -> list[str]:
    """Folders and databases of drills."""
    folders = [path.name for path in at.folder.glob(".ctxhub-at-work-*")]
    if connection.vendor == "sqlite":
        return folders
    with psycopg.connect(at.environment["DATABASE_URL"]) as server:
        [(own,)] = server.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchall()
        names = server.execute(
            "SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [f"ctxhub_drill_{own}_"]
        )
        return [*folders, *(name for (name,) in names)]


def record_of(at: Installation) -> dict[str, Any]:
    [(details,)] = query(at, "SELECT details FROM core_hubrecord WHERE kind = 'drill'")
    found: dict[str, Any] = json.loads(details) if isinstance(details, str) else details
    return found


def test_it_says_what_was_the_same_and_leaves_the_hub_as_it_was(at: Installation) -> None:
    before, files = python(at, SUMS).stdout, {*at.folder.iterdir()}
    done = at.run("drill")
    assert done.returncode == 0, done.stderr
    assert "The same before and after: all rows, and the answers to 20 questions." in done.stdout
    assert "The index is right: 27 things" in done.stdout
    assert python(at, SUMS).stdout == before
    assert {file.name for file in {*at.folder.iterdir()} - files} <= {"hub.sqlite3-wal", "hub.sqlite3-shm"}
    assert left_behind(at) == []
    record = record_of(at)
    assert (record["is_right"], record["result"], record["questions"]) == (True, "", 20)
    assert query(at, "SELECT count(*) FROM core_hubrecord WHERE kind = 'backup'") == [(0,)]


def test_a_hub_without_objects_is_asked_for_its_briefs(django_db_setup: None) -> None:
    with installed("one", "two") as at:
        done = at.run("drill")
        assert done.returncode == 0, done.stderr
        assert "the answers to 2 questions." in done.stdout


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            "DELETE FROM core_event WHERE id = (SELECT max(id) FROM core_event)",
            ["core_event has 35 rows after the restore, and 36 were backed up."],
        ),
        (
            "UPDATE memory_decision SET rationale = 'another' WHERE key = 'db/engine'",
            [
                "Rows of memory_decision are not what was backed up: their checksums differ.",
                "The answer to get 'decision:db/engine' in demo is not the one before the backup.",
            ],
        ),
        (
            "DELETE FROM core_searchtext WHERE id = (SELECT max(id) FROM core_searchtext)",
            ["The search index is wrong after the restore: 1 x in the index as it is no more:"],
        ),
        ("DROP TABLE core_refusal", ["The table core_refusal is missing after the restore."]),
    ],
    ids=["row", "text", "index", "table"],
)
def test_what_differs_is_named(at: Installation, statement: str, said: list[str]) -> None:
    done = python(at, BROKEN, statement)
    assert done.returncode == 1
    record = record_of(at)
    assert record["is_right"] is False
    for sentence in said:
        assert sentence in done.stderr
        assert sentence in record["result"]
    assert left_behind(at) == []


def test_a_wrong_answer_alone_is_named(at: Installation) -> None:
    """The words that are searched lie outside of the compared tables."""
    if connection.vendor == "sqlite":
        done = python(at, BROKEN, "DELETE FROM core_searchfts")
    else:
        done = python(
            at,
            BROKEN,
            "CREATE OR REPLACE FUNCTION core_search_vector(words text, scope text) RETURNS tsvector"
            " LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ''::tsvector $$",
            "REINDEX TABLE core_searchtext",
        )
    assert done.returncode == 1
    assert "The answer to search " in done.stderr
    assert "checksums differ" not in done.stderr


def test_writes_between_the_backup_and_its_questions_are_no_difference(at: Installation) -> None:
    done = python(at, INTERRUPTED, WRITE)
    assert done.returncode == 0, done.stderr
    assert query(at, "SELECT count(*) FROM memory_decision WHERE key = 'new'") == [(1,)]


def test_it_finds_no_difference_under_a_load_of_writes(at: Installation) -> None:
    token, ended = token_of(at), threading.Event()
    written: list[str] = []

    def keep_writing() -> None:
        rest = server.hub.rest(token, "demo")
        while not ended.is_set():
            key = f"of/{len(written)}"
            if rest.put(f"decisions/{key}/", {"value": "x", "tags": ["t"], "paths": ["src/"]}).status == 201:
                written.append(key)

    with at.serving("--port", "0") as server:
        thread = threading.Thread(target=keep_writing)
        thread.start()
        try:
            for _ in range(3):
                count = len(written)
                wait_until(lambda count=count: len(written) > count)  # type: ignore[misc]
                done = at.run("drill")
                assert done.returncode == 0, done.stderr
                assert len(written) > count
        finally:
            ended.set()
            thread.join()


def test_imports_that_are_being_added_are_the_same_in_the_backup(at: Installation) -> None:
    """Their rows are compared; the index, in which some are missing, is checked after the cleanup."""
    steps = ["moving", "moved", "shown"]
    python(at, BEGUN, *steps)
    file = at.folder / "demo.jsonl"
    assert at.run("export", str(file), "--project", "demo").returncode == 0
    for step in steps:
        killed = subprocess.run(
            [sys.executable, "-m", "tests.transfer.killed", str(file), step, step],
            env=at.environment,
            cwd=ROOT,
            check=False,
        )
        assert killed.returncode == -9
    done = at.run("drill")
    assert done.returncode == 0, done.stderr
    assert "The same before and after: all rows" in done.stdout
    assert "The index was not checked: an import was just being added to it." in done.stdout
    python(at, FORGOTTEN)
    assert at.run("cleanup").stdout.count("Finished an import") == len(steps)
    assert "The index is right: 108 things" in at.run("drill").stdout


def test_what_a_killed_one_left_is_removed_by_the_next(at: Installation) -> None:
    killed = run_killed(at, "ctxhub.management.drills.drill:restore_into", "after", "drill")
    assert killed.returncode < 0
    assert left_behind(at) != []
    done = at.run("drill")
    assert done.returncode == 0, done.stderr
    assert left_behind(at) == []


def test_another_ones_database_stays_while_it_runs(at: Installation) -> None:
    """Two at once: neither removes what the other restores into."""
    running = [
        subprocess.Popen([sys.executable, MANAGE, "drill"], env=at.environment, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    for process in running:
        _, errors = process.communicate(timeout=5 * PATIENCE_SECONDS)
        assert process.returncode == 0, errors
    assert left_behind(at) == []


def test_without_the_right_to_create_databases_it_says_so(at: Installation) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no users.")
    url = at.environment["DATABASE_URL"]
    role = f"limited_{at.database}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"CREATE ROLE {role} LOGIN".encode())
        server.execute(f"GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO {role}".encode())
        server.execute(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {role}".encode())
        try:
            limited = url.replace("//postgres@", f"//{role}@")
            assert limited != url
            done = at.run("drill", DATABASE_URL=limited)
        finally:
            server.execute(f"DROP OWNED BY {role}".encode())
            server.execute(f"DROP ROLE {role}".encode())
    assert done.returncode == 1
    assert (
        f'the user {role} may create none. Nothing was done. Allow it by: ALTER ROLE "{role}"' in done.stderr
    )
    assert record_of(at)["is_right"] is False


def test_another_secret_key_in_the_backup_is_named(at: Installation) -> None:
    code = BROKEN.replace("def broken", "drill.holds_key = lambda *_: False\ndef broken")
    done = python(at, code)
    assert done.returncode == 1
    assert "The secret key in the backup is not the hub's." in done.stderr
