"""Stores the heads of path patterns without case. Going back needs `manage.py reindex`, which mends them."""

from typing import Any

from django.db import migrations

from ctxhub.core.paths.bearing import head_of

ROWS_AT_ONCE = 1_000


def fold_heads(apps: Any, schema_editor: Any) -> None:
    rows = apps.get_model("core", "PathPattern").unscoped
    last = 0
    while some := list(rows.filter(pk__gt=last).order_by("pk")[:ROWS_AT_ONCE]):
        last = some[-1].pk
        changed = [row for row in some if row.head != head_of(row.pattern)]
        for row in changed:
            row.head = head_of(row.pattern)
        rows.bulk_update(changed, ["head"])


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0017_tokens_of_members'),
    ]

    operations = [
        migrations.RunPython(fold_heads, migrations.RunPython.noop),
    ]
