"""Entries of before are made again behind the migrations: what searches narrow by is written shorter.

SQLite finds passages by their ids without another index, too.
"""

from importlib import import_module

from django.db import migrations

from ctxhub.core.search.models import RowIdField

search = import_module("ctxhub.core.migrations.0004_search")
# The rows go before the triggers do.
empty_index = import_module("ctxhub.core.migrations.0006_index_again").empty_index


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
