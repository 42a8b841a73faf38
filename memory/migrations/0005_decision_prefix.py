"""Keys by their beginning, whatever the database's collation: PostgreSQL needs an index of its own for it.

SQLite compares texts byte by byte, so that of the unique constraint does.
"""

from typing import Any

from django.db import migrations


def add_index(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(
            "CREATE INDEX memory_decision_by_prefix ON memory_decision (project_id, key varchar_pattern_ops)"
        )


def drop_index(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP INDEX memory_decision_by_prefix")


class Migration(migrations.Migration):
    dependencies = [("memory", "0004_templates")]

    operations = [migrations.RunPython(add_index, drop_index)]
