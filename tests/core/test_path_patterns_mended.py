"""`manage.py reindex`: the stored patterns are those of the objects."""

from collections.abc import Callable
from typing import Any

import pytest

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
