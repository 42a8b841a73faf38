"""Sets the types of the files that are already known, by their extensions."""

from typing import Any

from django.db import migrations

from tracking.files.models import ResourceType, type_of_path

AT_ONCE = 2_000


def set_types(apps: Any, schema_editor: Any) -> None:
    resources = apps.get_model("tracking", "Resource")._base_manager
    last = 0
    while found := list(resources.filter(pk__gt=last).order_by("pk").values_list("pk", "path")[:AT_ONCE]):
        by_type: dict[ResourceType, list[int]] = {}
        for row_id, path in found:
            by_type.setdefault(type_of_path(path), []).append(row_id)
        by_type.pop(ResourceType.DOCUMENTATION, None)
        for kind, ids in by_type.items():
            resources.filter(pk__in=ids).update(type=kind.value)
        last = found[-1][0]


class Migration(migrations.Migration):
    dependencies = [("tracking", "0002_resource_content")]

    # Backwards the column goes.
    operations = [migrations.RunPython(set_types, migrations.RunPython.noop)]
