"""What decisions, constraints and memories bear on stands in the table of path patterns, too."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db import migrations
from django.db.models import Exists, OuterRef, Q

from ctxhub.core.kit import sql
from ctxhub.core.paths.bearing import head_of

ROWS_AT_ONCE = 1_000
VALUES_AT_ONCE = 4_000
COLUMNS = ("project_id", "kind", "object_id", "position", "pattern", "head", "stale")
ACTIVE, DEPRECATED = 1, 2
EVERYWHERE = ""


def fill(apps: Any, schema_editor: Any) -> None:
    decision, constraint, memory = (apps.get_model("memory", name) for name in ("Decision", "Constraint", "Memory"))
    has_paths = ~Q(paths=[])
    _write("decision", decision, has_paths & ~Q(status=DEPRECATED))
    _write("constraint", constraint, has_paths & Q(status=ACTIVE))
    scopes = constraint.scopes.through.unscoped.filter(constraint=OuterRef("pk"))
    without_place = Q(~Exists(scopes), paths=[], layer=None, status=ACTIVE)
    _write("constraint", constraint, without_place, otherwise=[EVERYWHERE])
    _write("memory", memory, has_paths)


def _write(kind: str, model: Any, where: Q, otherwise: Sequence[str] = ()) -> None:
    for rows in _chunks(model.unscoped.filter(where).order_by("pk")):
        records = [
            (project_id, kind, row_id, position, pattern, head_of(pattern), 0)
            for row_id, project_id, paths in rows
            for position, pattern in enumerate(paths or otherwise)
        ]
        for some in sql.chunks(records, VALUES_AT_ONCE):
            sql.insert("core_pathpattern", COLUMNS, some, "ON CONFLICT DO NOTHING")


def _chunks(rows: Any) -> Iterator[list[tuple[int, int, list[str]]]]:
    last = 0
    while found := list(rows.filter(pk__gt=last).values_list("pk", "project_id", "paths")[:ROWS_AT_ONCE]):
        yield found
        last = found[-1][0]


def empty(apps: Any, schema_editor: Any) -> None:
    apps.get_model("core", "PathPattern").unscoped.all().delete()


class Migration(migrations.Migration):
    dependencies = [("core", "0008_path_patterns"), ("memory", "0009_memory_revisions")]

    operations = [migrations.RunPython(fill, empty)]
