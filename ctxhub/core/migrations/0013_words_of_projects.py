"""SQLite looks words up by project: its full text index is made again, of the passages that are there."""

from importlib import import_module
from typing import Any

from django.db import migrations

from ctxhub.core.kit.migrations import MakeObjects
from ctxhub.core.search import schema

search = import_module("ctxhub.core.migrations.0001_squashed_0010_sign_in_failures")


def build(apps: Any, schema_editor: Any) -> None:
    _replace_index(schema_editor, schema.SQLITE)


def build_as_before(apps: Any, schema_editor: Any) -> None:
    _replace_index(schema_editor, search.SQLITE)


def _replace_index(schema_editor: Any, statements: Any) -> None:
    if schema_editor.connection.vendor != "sqlite":
        return
    with schema_editor.connection.cursor() as cursor:
        for statement in (*schema.SQLITE_UNDO, *statements, schema.SQLITE_REBUILD):
            cursor.execute(statement)


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0012_visits'),
    ]

    operations = [
        MakeObjects(build, build_as_before),
    ]
