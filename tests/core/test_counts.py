"""Tables of counts: what is added, kept and replaced, and what is deleted as old."""

from datetime import UTC, datetime, timedelta

import pytest

from ctxhub.core.kit.counts import Counts, How
from ctxhub.core.models import EmptySearch, Project

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)
COUNTS = Counts(
    "core_emptysearch",
    ("folded",),
    {"query": How.LATEST, "name": How.KEPT, "count": How.ADDED, "first_at": How.KEPT, "last_at": How.MOST},
)


def add(project: Project, *records: tuple[str, str, str, int, int]) -> None:
    """Records of folded, query, name, count, and an hour before noon."""
    COUNTS.add(
        project.pk,
        [
            (folded, query, name, count, NOON - timedelta(hours=ago), NOON - timedelta(hours=ago))
            for folded, query, name, count, ago in records
        ],
    )


def test_columns_are_added_kept_replaced_or_the_greater(apollo: Project) -> None:
    add(apollo, ("a", "A", "ada", 2, 1))
    add(apollo, ("b", "b", "ben", 1, 0), ("a", "a", "ben", 3, 5))
    row = EmptySearch.objects.in_project(apollo).get(folded="a")
    assert (row.query, row.name, row.count) == ("a", "ada", 5)
    assert (row.first_at, row.last_at) == (NOON - timedelta(hours=1), NOON - timedelta(hours=1))
    assert EmptySearch.objects.in_project(apollo).count() == 2


def test_the_oldest_are_deleted_in_this_project_alone(apollo: Project, hermes: Project) -> None:
    for project in (apollo, hermes):
        add(project, *((name, name, "ada", 1, ago) for name, ago in (("a", 4), ("b", 3), ("c", 2), ("d", 1))))
    assert COUNTS.delete_oldest(apollo.pk, "last_at", NOON - timedelta(hours=1), 2) == 2
    left = EmptySearch.objects.in_project(apollo).order_by("folded").values_list("folded", flat=True)
    assert list(left) == ["c", "d"]
    assert EmptySearch.objects.in_project(hermes).count() == 4
