"""The requests that were done before are found by their results, too."""

from typing import Any

from django.db import migrations

from messaging.messages.deliveries import insert_results


def fill(apps: Any, schema_editor: Any) -> None:
    message, result = apps.get_model("messaging", "Message"), apps.get_model("messaging", "Result")
    found = message.unscoped.exclude(result_refs=[]).exclude(pk__in=result.unscoped.values("message"))
    by_project: dict[int, dict[int, list[str]]] = {}
    for row_id, project_id, refs in found.order_by("pk").values_list("pk", "project_id", "result_refs"):
        by_project.setdefault(project_id, {})[row_id] = refs
    for project_id, refs in by_project.items():
        insert_results(project_id, refs)


class Migration(migrations.Migration):

    dependencies = [
        ('messaging', '0004_results'),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
