"""New databases are made at once, older ones step by step, or by migrations that squashed ones replace."""

import re

import pytest
from django.apps import apps
from django.core.management import call_command
from django.core.management.sql import emit_post_migrate_signal
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from ctxhub.management.refusals import refuse_unmigrated
from tests.databases import new_database

FIRST = [
    ("core", "0001_initial"),
    ("memory", "0001_initial"),
    ("tracking", "0001_files_and_leases"),
    ("agent_sessions", "0001_sessions"),
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
    new = contents()
    with new_database():
        migrate_as_before(FIRST)
        call_command("migrate", verbosity=0)
        assert contents() == new
        refuse_unmigrated()


def migrate_as_before(targets: list[tuple[str, str]]) -> None:
    """Migrate as a version did that had no squashed migrations."""
    executor = MigrationExecutor(connection)
    executor.loader.replace_migrations = False  # type: ignore[attr-defined]
    executor.loader.build_graph()
    executor.migrate(targets)


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
