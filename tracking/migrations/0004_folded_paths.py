"""Stores the paths of files without case, and the heads of leased paths."""

from typing import Any

from django.db import migrations, models

from ctxhub.core.kit.lengths import PATH_LENGTH
from ctxhub.core.kit.models import PathField
from ctxhub.core.text.globs import head
from ctxhub.core.text.path_case import fold_path

ROWS_AT_ONCE = 1_000


def fold_stored(apps: Any, schema_editor: Any) -> None:
    _update(apps.get_model("tracking", "Resource").unscoped, "folded", lambda row: fold_path(row.path))
    _update(apps.get_model("tracking", "LeasePath").unscoped, "head", lambda row: head(fold_path(row.pattern)))


def _update(rows: Any, field: str, value: Any) -> None:
    last = 0
    while some := list(rows.filter(pk__gt=last).order_by("pk")[:ROWS_AT_ONCE]):
        last = some[-1].pk
        changed = [row for row in some if getattr(row, field) != value(row)]
        for row in changed:
            setattr(row, field, value(row))
        rows.bulk_update(changed, [field])


class Migration(migrations.Migration):

    dependencies = [
        ('tracking', '0001_squashed_0003_resource_types'),
    ]

    operations = [
        migrations.AddField(
            model_name='resource',
            name='folded',
            field=PathField(default='', editable=False, max_length=PATH_LENGTH),
            preserve_default=False,
        ),
        migrations.RunPython(fold_stored, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name='resource',
            index=models.Index(fields=['project', 'folded'], name='tracking_resource_by_folded'),
        ),
    ]
