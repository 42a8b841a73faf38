"""Finds which projects exist."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TypeVar

from ctxhub.core.models import Project

EntryT = TypeVar("EntryT")


def by_existing_project(
    entries: Iterable[EntryT], project_of: Callable[[EntryT], int]
) -> list[tuple[int, list[EntryT]]]:
    """The entries of each project; without those of projects that are deleted meanwhile."""
    by_project: dict[int, list[EntryT]] = defaultdict(list)
    for entry in entries:
        by_project[project_of(entry)].append(entry)
    known = Project.objects.filter(pk__in=by_project).values_list("pk", flat=True)
    return [(project_id, by_project[project_id]) for project_id in known]
