"""The admin pages of all snapshots of a project: the list, the overview, and pruning."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from ctxhub.core.admin.access import access_of, chosen_project
from ctxhub.core.models import Project

PAGES = {"changelist": "List", "overview": "Overview", "prune": "Prune"}
PROJECTS_OFFERED = 12


@dataclass(frozen=True, slots=True)
class Tab:
    title: str
    url: str
    is_current: bool


def shown_project(request: HttpRequest) -> Project | None:
    """The project in the URL, or the only one that the person can see."""
    projects = list(access_of(request).projects.values())
    return chosen_project(request) or (projects[0] if len(projects) == 1 else None)


def tabs_context(request: HttpRequest, page: str) -> dict[str, Any]:
    """Tabs of the pages and, unless it is the list, of the projects of the person."""
    chosen = chosen_project(request)
    tabs = [Tab(title, url_of(name, chosen), name == page) for name, title in PAGES.items()]
    projects = list(access_of(request).projects.values())[:PROJECTS_OFFERED]
    others = [Tab(str(each), url_of(page, each), each == chosen) for each in projects]
    return {"page_tabs": tabs, "project_tabs": others if len(others) > 1 and page != "changelist" else []}


def url_of(page: str, project: Project | None, **filters: Any) -> str:
    query = urlencode({**({"project": project.slug} if project else {}), **filters})
    return f"{reverse(f'admin:memory_snapshot_{page}')}{'?' if query else ''}{query}"
