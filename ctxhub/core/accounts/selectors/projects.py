"""Finds which projects exist."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from ctxhub.core.kit.caller import Caller, Window
from ctxhub.core.kit.errors import NotFound
from ctxhub.core.models import Project

EntryT = TypeVar("EntryT")


def find_again(caller: Caller) -> Caller:
    """The caller in the project of the same name, once the database is another one.

    Its window is in no session there. Raises NotFound if there is none.
    """
    slug = caller.project.slug
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise NotFound(
            f"The database was replaced, and the one there now has no project {slug!r}.",
            hint="Ask the administrator; a server for another project is started with --project.",
        )
    return replace(caller, project=project, window=Window())


def by_existing_project(
    entries: Iterable[EntryT], project_of: Callable[[EntryT], int]
) -> list[tuple[int, list[EntryT]]]:
    """The entries of each project; without those of projects that are deleted meanwhile."""
    by_project: dict[int, list[EntryT]] = defaultdict(list)
    for entry in entries:
        by_project[project_of(entry)].append(entry)
    known = Project.objects.filter(pk__in=by_project).values_list("pk", flat=True)
    return [(project_id, by_project[project_id]) for project_id in known]
