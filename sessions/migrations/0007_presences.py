"""A row a session of an agent, with when it was heard of; filled from the last day."""

import datetime
from typing import Any

import django.db.models.deletion
import django.db.models.manager
from django.db import migrations, models
from django.db.models import Max, Min
from django.utils import timezone

DAY = datetime.timedelta(days=1)
SEEN = ("project_id", "agent_id", "session_id", "session_name")


def fill(apps: Any, schema_editor: Any) -> None:
    """From what agents were given and wrote in the last day, which is all that is asked for."""
    presences = apps.get_model("agent_sessions", "Presence").unscoped
    since = timezone.now() - DAY
    seen: dict[tuple[int, int, int, str], tuple[datetime.datetime, datetime.datetime]] = {}
    for name, first in (("Briefing", "at"), ("Writing", "began_at")):
        rows = apps.get_model("agent_sessions", name).unscoped.filter(at__gt=since)
        for row in rows.values_list(*SEEN).annotate(first=Min(first), last=Max("at")).order_by():
            project_id, agent_id, session_id, session_name, began_at, at = row
            key = (project_id, agent_id, session_id or 0, session_name)
            known = seen.get(key, (began_at, at))
            seen[key] = (min(known[0], began_at), max(known[1], at))
    presences.bulk_create(
        (
            presences.model(**dict(zip(SEEN, key, strict=True)), began_at=began_at, at=at)
            for key, (began_at, at) in seen.items()
        ),
        batch_size=1000,
    )


class Migration(migrations.Migration):

    dependencies = [
        ('agent_sessions', '0006_equal_files_by_access'),
        ('core', '0029_preferences'),
    ]

    operations = [
        migrations.CreateModel(
            name='Presence',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('session_id', models.BigIntegerField(default=0)),
                ('session_name', models.CharField(blank=True, max_length=100)),
                ('began_at', models.DateTimeField()),
                ('at', models.DateTimeField()),
                ('agent', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='presences', to='core.agent')),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.project')),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
                'indexes': [models.Index(fields=['project', 'at'], name='sessions_presence_oldest')],
                'constraints': [models.UniqueConstraint(fields=('agent', 'session_id', 'session_name'), name='sessions_one_presence_per_session')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
