"""What was changed before this migration marks nothing: the cursors stand at the newest events."""

from typing import Any

import django.db.models.deletion
import django.db.models.manager
from django.db import migrations, models
from django.db.models import Max


def begin_now(apps: Any, schema_editor: Any) -> None:
    event, cursor = apps.get_model("core", "Event"), apps.get_model("core", "StaleCursor")
    newest = event.unscoped.order_by().values_list("project_id").annotate(newest=Max("pk"))
    cursor.unscoped.bulk_create(cursor(project_id=project_id, event_id=event_id) for project_id, event_id in newest)


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0008_path_patterns'),
    ]

    operations = [
        migrations.CreateModel(
            name='StaleCursor',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('event_id', models.BigIntegerField()),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
                'constraints': [models.UniqueConstraint(fields=('project',), name='core_one_stale_cursor')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.RunPython(begin_now, migrations.RunPython.noop),
    ]
