"""`manage.py reindex` and the migration: the stored patterns are those of the objects."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import PathPattern, Project
from ctxhub.toolbox.dispatch import call
from memory.models import Constraint, Decision
from tests.core.stale import change, counts, write_rows
from tests.core.test_reindex import faults, reindex
from tests.tables import dump_all

pytestmark = pytest.mark.django_db

Damage = Callable[[Project], Any]


@pytest.fixture
def stocked(ada: Caller) -> Project:
    """Rows of every kind with patterns, and of those without."""
    write_rows(ada, ["src/**", "lib/a.py"])
    call(ada, "decision", {"action": "set", "key": "old", "value": 1, "paths": ["old/**"]})
    call(ada, "decision", {"action": "deprecate", "key": "old"})
    call(ada, "decision", {"action": "set", "key": "none", "value": 1})
    call(ada, "constraint", {"action": "add", "category": "c", "text": "everywhere"})
    call(ada, "constraint", {"action": "add", "category": "c", "text": "scoped", "scopes": ["api"]})
    call(ada, "constraint", {"action": "add", "category": "c", "text": "layered", "layer": "data"})
    off = call(ada, "constraint", {"action": "add", "category": "c", "text": "off", "paths": ["src/**"]})
    call(ada, "constraint", {"action": "deactivate", "id": off["id"]})
    return ada.project


def patterns(project: Project) -> list[tuple[Any, ...]]:
    rows = PathPattern.objects.in_project(project)
    return sorted(rows.values_list("kind", "object_id", "position", "pattern", "head", "stale"))


def of(project: Project, kind: str) -> Any:
    return PathPattern.objects.in_project(project).filter(kind=kind)


DAMAGE: dict[str, tuple[Damage, str]] = {
    "none": (
        lambda p: of(p, "decision").delete(),
        "1 x without its path patterns:\n  apollo decision:api/auth",
    ),
    "the second": (
        lambda p: of(p, "memory").filter(position=1).delete(),
        "1 x with other path patterns than its own:\n  apollo memory:",
    ),
    "another": (lambda p: of(p, "decision").filter(position=0).update(pattern="x"), "than its own:"),
    "another head": (lambda p: of(p, "decision").update(head="x"), "than its own:"),
    "not everywhere": (lambda p: of(p, "constraint").filter(pattern="").delete(), "apollo constraint:"),
    "left over": (
        lambda p: of(p, "memory").update(object_id=10**9),
        "1 x gone, but with path patterns:\n  apollo memory:1000000000\n1 x without its path patterns:",
    ),
    "of no kind": (lambda p: of(p, "memory").update(kind="poem"), "apollo poem:"),
    "a row changed past us": (
        lambda p: Decision.objects.in_project(p).filter(key="none").update(paths=["new/**"]),
        "without its path patterns:\n  apollo decision:none",
    ),
    "a row out of force past us": (
        lambda p: Constraint.objects.in_project(p).filter(category__name="security").update(status=2),
        "than its own:\n  apollo constraint:",
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_wrong_patterns_are_reported_and_repaired(stocked: Project, name: str) -> None:
    damage, expected = DAMAGE[name]
    damage(stocked)
    assert expected in faults()
    reindex()
    assert "path patterns" not in faults()


def test_right_patterns_stay(stocked: Project, ben: Caller) -> None:
    change(ben, "src/a.py")
    before = dump_all()
    assert faults() == ""
    assert "apollo: 9 things that may have paths, 0 put right" in reindex()
    assert dump_all() == before
    assert counts(ben) == {"decision": 1, "constraint": 1, "memory": 1}


# -- The migration ---------------------------------------------------------------------------------

migration = import_module("memory.migrations.0010_path_patterns")


def test_the_migration_writes_what_writes_of_objects_write(stocked: Project, cy: Caller) -> None:
    write_rows(cy, ["docs/"])
    expected = patterns(stocked), patterns(cy.project)
    PathPattern.unscoped.all().delete()
    migration.fill(apps, connection.schema_editor())
    assert (patterns(stocked), patterns(cy.project)) == expected


def test_the_migration_leaves_what_is_there(stocked: Project, ben: Caller) -> None:
    change(ben, "src/a.py")
    expected = patterns(stocked)
    migration.fill(apps, connection.schema_editor())
    assert patterns(stocked) == expected


def test_the_migration_reads_many_rows(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    items = [{"key": f"k{n}", "value": n, "paths": [f"src/{n}/**", "a"]} for n in range(11)]
    call(ada, "decision", {"action": "set_batch", "items": items})
    expected = patterns(ada.project)
    PathPattern.unscoped.all().delete()
    monkeypatch.setattr(migration, "ROWS_AT_ONCE", 4)
    monkeypatch.setattr(migration, "VALUES_AT_ONCE", 3)
    migration.fill(apps, connection.schema_editor())
    assert patterns(ada.project) == expected
