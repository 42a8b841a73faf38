"""New databases are made at once, older ones step by step, but for those of which the steps are gone."""

import re
from collections.abc import Iterator

import pytest
from django.apps import apps
from django.core.management import call_command
from django.core.management.base import CommandError
from django.core.management.sql import emit_post_migrate_signal
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from ctxhub.core.kit.newer_schema import RETIRED
from ctxhub.management.refusals import refuse_other_version, refuse_unmigrated
from tests.core.command_line import migrated_installation
from tests.databases import new_database

FIRST = [
    ("core", "0001_squashed_0010_sign_in_failures"),
    ("memory", "0001_squashed_0010_path_patterns"),
    ("tracking", "0001_squashed_0003_resource_types"),
    ("agent_sessions", "0001_squashed_0003_briefings"),
]
SCHEMA = {
    "sqlite": ["SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"],
    "postgresql": [
        # Their order alone: a column that went leaves its number unused.
        "SELECT table_name, column_name,"
        " row_number() OVER (PARTITION BY table_name ORDER BY ordinal_position),"
        " data_type, character_maximum_length, collation_name, is_nullable, column_default, is_identity"
        " FROM information_schema.columns WHERE table_schema = 'public'",
        "SELECT indexname, tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'",
        "SELECT conname, conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE connamespace = 'public'::regnamespace",
        "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
        "SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
        "SELECT sequencename, data_type::text FROM pg_sequences WHERE schemaname = 'public'",
    ],
}
ROWS = [
    "SELECT app, name FROM django_migrations",
    "SELECT app_label, model FROM django_content_type",
    "SELECT app_label, model, codename, name FROM auth_permission"
    " JOIN django_content_type ON django_content_type.id = content_type_id",
]
# PostgreSQL names what is made with its column, Django what is added later.
ADDED_UNIQUE = re.compile(r"_[0-9a-f]{8}_uniq\b")


@pytest.mark.django_db(transaction=True)
def test_a_new_database_is_what_all_steps_make() -> None:
    new = contents()
    with new_database():
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())
        emit_post_migrate_signal(verbosity=0, interactive=False, db="default")
        assert contents() == new


@pytest.mark.django_db(transaction=True)
def test_an_older_database_becomes_what_a_new_one_is() -> None:
    """It was made when the first migration of an app replaced others, and has those recorded, too."""
    new = contents()
    with new_database():
        MigrationExecutor(connection).migrate(FIRST)
        recorder = MigrationRecorder(connection)
        for migration in RETIRED:
            recorder.record_applied(*migration)
        refuse_other_version()
        call_command("migrate", verbosity=0)
        for migration in RETIRED:
            recorder.record_unapplied(*migration)
        assert contents() == new
        refuse_unmigrated()


# -- Too old ---------------------------------------------------------------------------------------


@pytest.fixture
def too_old(transactional_db: None) -> Iterator[None]:
    """What made its tables is not known by the name of today."""
    recorder = MigrationRecorder(connection)
    recorder.record_applied(*OF_BEFORE)
    recorder.record_unapplied(*FIRST[0])
    yield
    recorder.record_unapplied(*OF_BEFORE)
    recorder.record_applied(*FIRST[0])


OF_BEFORE = ("core", "0003_seed_categories")


@pytest.mark.usefixtures("too_old")
def test_a_database_of_before_the_first_migrations_is_told_how_to_upgrade() -> None:
    for refuse in (refuse_other_version, refuse_unmigrated, lambda: call_command("migrate", verbosity=0)):
        with pytest.raises(CommandError, match=r"cannot upgrade\. Upgrade in two steps: .*manage\.py setup"):
            refuse()


def test_each_command_says_so(django_db_setup: None) -> None:
    with migrated_installation() as at:
        assert at.run("setup", "--no-input").returncode == 0
        at.run(
            "shell",
            "-c",
            f"""if True:
            from django.db import connection
            from django.db.migrations.recorder import MigrationRecorder
            MigrationRecorder(connection).record_applied(*{OF_BEFORE!r})
            MigrationRecorder(connection).record_unapplied(*{FIRST[0]!r})""",
        )
        commands = (
            ["setup", "--no-input"],
            ["migrate"],
            ["serve", "--port", "0"],
            ["runmcp"],
            ["token", "list"],
        )
        for command in commands:
            refused = at.run(*command)
            assert (refused.returncode, refused.stdout) == (1, "")
            assert "git rev-list -1 HEAD -- ctxhub/core/migrations/0001_initial.py" in refused.stderr
            assert len(refused.stderr.splitlines()) == 1


def contents() -> list[tuple[object, ...]]:
    """All tables, columns, indexes, constraints, triggers, functions and sequences; which rows there are."""
    rows: list[tuple[object, ...]] = []
    with connection.cursor() as cursor:
        for statement in (*SCHEMA[connection.vendor], *ROWS):
            cursor.execute(statement)
            rows += cursor.fetchall()
    rows += [(model._meta.label, model._base_manager.exists()) for model in apps.get_models()]
    return sorted((tuple(_in_any_order(each) for each in row) for row in rows), key=repr)


def _in_any_order(value: object) -> object:
    """The columns of a table of SQLite, which stand last once they were changed."""
    if isinstance(value, str) and value.startswith("CREATE TABLE"):
        return sorted(value.partition(" (")[2].removesuffix(")").split(", "))
    return ADDED_UNIQUE.sub("_key", value) if isinstance(value, str) else value
