"""Keeps with each decision a hash of the words of its key, by which keys with the same words are found."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from memory.suggestions.keys import whole_signature

ROWS_AT_ONCE = 1_000


def sign(apps: Any, schema_editor: Any) -> None:
    decisions = apps.get_model("memory", "Decision").unscoped
    last = 0
    while some := list(decisions.filter(pk__gt=last).order_by("pk").only("key")[:ROWS_AT_ONCE]):
        last = some[-1].pk
        for row in some:
            row.signature = whole_signature(row.key)
        decisions.bulk_update(some, ["signature"])


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0013_memory_authors'),
    ]

    operations = [
        migrations.AlterField(
            model_name='decision',
            name='superseded_by',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='supersedes', to='memory.decision'),
        ),
        migrations.AddField(
            model_name='decision',
            name='signature',
            field=models.BigIntegerField(editable=False, help_text='A hash of the words of the key.', null=True),
        ),
        migrations.RunPython(sign, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name='decision',
            index=models.Index(fields=['project', 'signature', 'id'], name='memory_decision_by_words'),
        ),
        migrations.AddIndex(
            model_name='decision',
            index=models.Index(condition=models.Q(superseded_by__isnull=False), fields=['superseded_by'], name='memory_decision_superseded'),
        ),
    ]
