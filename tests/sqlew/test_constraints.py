"""Import of sqlew's constraints: category, text, priority, tags, reason and status."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.priority import Priority
from ctxhub.core.models import Category, Project
from memory.constraints.services import add_constraint
from memory.models import Constraint, ConstraintStatus
from tests.sqlew.importing import Import, imported
from tests.sqlew.old_file import OldFile

pytestmark = pytest.mark.usefixtures("index_is_kept")

Take = Callable[..., Import]
THEN = datetime(2025, 10, 11, 12, 0, 0, tzinfo=UTC)


def stored(project: Project) -> list[Constraint]:
    return list(Constraint.objects.in_project(project).select_related("category", "layer", "agent"))


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_constraint_keeps_its_fields_and_time(
    apollo: Project, old_version: Callable[[int], OldFile], version: int
) -> None:
    file = old_version(version)
    file.constraint(
        "No secrets", category="Own", agent="ada", layer="data", tags=["api"], priority=4, active=0, at=THEN
    )
    assert imported(file.close()).counts["constraints"] == (1, 0, 0)
    [constraint] = stored(apollo)
    assert (constraint.text, constraint.category.name) == ("No secrets", "Own")
    assert (constraint.priority, constraint.status) == (Priority.CRITICAL, ConstraintStatus.INACTIVE)
    assert constraint.layer
    assert constraint.agent
    assert (constraint.layer.name, constraint.agent.name) == ("data", "ada")
    assert list(constraint.tags.values_list("name", flat=True)) == ["api"]
    assert constraint.created_at == THEN


def test_reasons_are_imported_from_version_5(apollo: Project, old_version: Callable[[int], OldFile]) -> None:
    file = old_version(5)
    file.constraint("No secrets", reason="The log is public.")
    imported(file.close())
    [constraint] = stored(apollo)
    assert (constraint.reason, constraint.agent) == ("The log is public.", None)


def test_an_existing_constraint_is_not_overwritten(
    apollo: Project, ben: Caller, old: OldFile, take: Take
) -> None:
    add_constraint(caller=ben, category="security", text="No secrets", priority="low")
    old.constraint(" No secrets ", category="SECURITY", priority=4, active=0)
    assert take().counts["constraints"] == (0, 1, 0)
    [constraint] = stored(apollo)
    assert (constraint.priority, constraint.status) == (Priority.LOW, ConstraintStatus.ACTIVE)


def test_of_equal_constraints_an_active_one_is_imported(apollo: Project, old: OldFile, take: Take) -> None:
    old.constraint("No secrets", active=0, priority=1)
    old.constraint("No secrets", active=1, priority=3)
    old.constraint("No secrets", active=0, priority=4)
    report = take()
    assert report.counts["constraints"] == (1, 0, 2)
    [constraint] = stored(apollo)
    assert (constraint.priority, constraint.status) == (Priority.HIGH, ConstraintStatus.ACTIVE)


def test_the_same_text_is_allowed_in_two_categories(apollo: Project, old: OldFile, take: Take) -> None:
    old.constraint("Be fast", category="performance")
    old.constraint("Be fast", category="architecture")
    assert take().counts["constraints"] == (2, 0, 0)


def test_a_new_category_is_counted(apollo: Project, old: OldFile, take: Take) -> None:
    old.constraint("Use tabs", category="code-style")
    assert take().counts["categories"] == (1, 0, 0)
    assert Category.objects.in_project(apollo).filter(name="code-style").exists()


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"text": " "}, "text must not be blank"),
        ({"text": "x" * 70_000}, "text has 70,000 bytes"),
        ({"text": f"Use ghp_{'a1B2' * 9}"}, "seems to hold a credential"),
        ({"text": "t", "priority": 9}, "priority: 9 is not known"),
        ({"text": "t", "category": "c" * 101}, "category has 101 characters"),
    ],
)
def test_an_invalid_constraint_is_skipped_with_the_reason(
    old: OldFile, take: Take, row: dict[str, Any], reason: str
) -> None:
    old.constraint(**row)
    old.constraint("Good")
    report = take()
    assert report.counts["constraints"] == (1, 0, 1)
    assert any(reason in line for line in report.reasons), report.reasons


def test_a_constraint_without_its_category_is_skipped(old: OldFile, take: Take) -> None:
    old.insert("constraints", category_id=99, constraint_text="t")
    assert take().reasons == ["constraints (1): category is missing: 't'"]
