"""Projects that are there get the categories that new ones begin with."""

from typing import Any

from django.db import migrations

CATEGORIES = ("performance", "architecture", "security")


def seed(apps: Any, schema_editor: Any) -> None:
    Category = apps.get_model("core", "Category")
    projects = apps.get_model("core", "Project").objects.values_list("pk", flat=True)
    Category._default_manager.bulk_create(
        (Category(project_id=project, name=name, folded=name) for project in projects for name in CATEGORIES),
        ignore_conflicts=True,
    )


class Migration(migrations.Migration):
    dependencies = [("core", "0002_category_tally_config")]

    operations = [
        # Backwards the table goes, and with it all that was sown.
        migrations.RunPython(seed, migrations.RunPython.noop),
    ]
