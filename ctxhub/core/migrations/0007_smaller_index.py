"""Entries of before are made again behind the migrations: what searches narrow by is written shorter.

SQLite finds passages by their ids without another index, too.
"""

from importlib import import_module
from typing import Any

from django.db import migrations

from ctxhub.core.models.search_index import RowIdField

search = import_module("ctxhub.core.migrations.0004_search")


def empty_index(apps: Any, schema_editor: Any) -> None:
    """`core_searchtext` has triggers, so the rows go before they do."""
    with schema_editor.connection.cursor() as cursor:
        for table in ("core_searchtext", "core_searchword", "core_searchentry"):
            cursor.execute(f"DELETE FROM {table}")  # noqa: S608


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0006_index_again'),
    ]

    operations = [
        migrations.RunPython(empty_index, migrations.RunPython.noop),
        migrations.RunPython(search.undo, search.build),
        migrations.AlterField(
            model_name='searchtext',
            name='id',
            field=RowIdField(primary_key=True, serialize=False),
        ),
        migrations.RunPython(search.build, search.undo),
        migrations.RunPython(migrations.RunPython.noop, empty_index),
    ]
