"""Finds the project that a command is for."""

from django.core.management.base import CommandError

from ctxhub.core.models import Project


def find_project(slug: str | None) -> Project:
    """The project of this slug, or the only project. Raises CommandError, naming the projects."""
    found = list(Project.objects.filter(slug=slug) if slug else Project.objects.all()[:2])
    if len(found) == 1:
        return found[0]
    known = ", ".join(Project.objects.values_list("slug", flat=True)[:20])
    projects = f"Projects: {known or 'none yet, run `manage.py setup`'}."
    if slug:
        raise CommandError(f"There is no project {slug!r}. {projects}")
    raise CommandError(f"Which project? Name it with --project. {projects}")
