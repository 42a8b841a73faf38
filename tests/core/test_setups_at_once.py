"""Several setups of a new hub at once end in one hub; so do setups after one was killed."""

import re
import sqlite3
import subprocess
import sys
from collections import Counter

import pytest
from django.db import OperationalError, connection

from ctxhub.core.models import AccessToken, Project
from ctxhub.management.refusals import unusable_database
from tests.core.command_line import MANAGE, Installation, installation

AT_ONCE = 3


@pytest.mark.every_engine
def test_setups_at_once_end_in_one_hub(django_db_setup: None) -> None:
    with installation() as at:
        runs = [start_setup(at) for _ in range(AT_ONCE)]
        outputs = [run.communicate(timeout=240) for run in runs]
        assert [run.returncode for run in runs] == [0] * AT_ONCE, outputs
        shown = Counter("password" in said for said, _ in outputs)
        tokens = {token for said, _ in outputs for token in re.findall(r"ctx_[\w-]{20,}", said)}
        assert (shown[True], len(tokens)) == (1, 1)
        assert (at.count(Project), at.count(AccessToken)) == (1, 1)
        expected = {"secret_key", "setup_token", "static"}
        names = {each.name for each in at.folder.iterdir()}
        assert names - {"hub.sqlite3", "hub.sqlite3.lock"} == expected, "no draft is left"


def start_setup(at: Installation) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, MANAGE, "setup", "--project", "demo", "--no-input"],
        env=at.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_tables_of_another_kind_do_not_put_the_address_in_doubt() -> None:
    """The database was reached."""
    for said in ('table "core_agent" already exists', "no such table: core_project"):
        error = OperationalError(said)
        error.__cause__ = refused_by_sqlite(said)
        told = unusable_database(error)
        assert "DATABASE_URL" not in told
        assert said in told
        assert "manage.py setup" in told


def refused_by_sqlite(said: str) -> sqlite3.Error:
    error = sqlite3.OperationalError(said)
    error.sqlite_errorcode = sqlite3.SQLITE_ERROR
    return error


def test_a_migrate_that_was_interrupted_can_be_run_again(django_db_setup: None) -> None:
    """Nothing tells yet by its tables that the database is a hub's."""
    with installation() as at:
        assert at.run("migrate", "auth", "--verbosity=0").returncode == 0
        again = at.run("setup", "--no-input")
        assert (again.returncode, again.stderr) == (0, "")


@pytest.mark.skipif("postgresql" not in connection.vendor, reason="On SQLite: test_foreign_files.py")
def test_a_database_of_another_django_project_is_refused(django_db_setup: None) -> None:
    import psycopg

    with installation() as at:
        with psycopg.connect(at.environment["DATABASE_URL"]) as server:
            server.execute("CREATE TABLE django_migrations (id serial, app text, name text)")
            server.execute("INSERT INTO django_migrations (app, name) VALUES ('auth', '1'), ('core', '1')")
        refused = at.run("setup", "--no-input")
        assert refused.returncode == 1
        assert "is no hub's: it holds the tables of another program" in refused.stderr
        assert list(at.folder.iterdir()) == []
        with psycopg.connect(at.environment["DATABASE_URL"]) as server:
            tables = server.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
            assert tables == [("django_migrations",)]
