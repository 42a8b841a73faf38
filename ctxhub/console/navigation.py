"""The sidebar and the project switcher. The sidebar lists every registered model that has a `menu`.

Its links keep the chosen project.
"""

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse

from ctxhub.console import search_page
from ctxhub.console.access import access_of, chosen_project, shown_project
from ctxhub.console.filters import ProjectFilter
from ctxhub.console.named_views import FOLDER, views_url
from ctxhub.console.urls import in_project

# Places of the person, below the overview. Apps append functions that make an item.
own_places: list[Callable[[HttpRequest], dict[str, Any]]] = []

GROUPS = ("Knowledge", "Activity", "Access", "Vocabulary")
PROJECTS_OFFERED = 30


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    if not request.user.is_authenticated:
        return []
    groups: dict[str, list[dict[str, Any]]] = {group: [] for group in GROUPS}
    for model_admin in admin.site._registry.values():
        menu = getattr(model_admin, "menu", None)
        if menu and model_admin.has_module_permission(request):
            groups[menu.group].append(
                {
                    "title": menu.title_of(model_admin.opts),
                    "icon": menu.icon,
                    "link": _list_url(request, model_admin),
                }
            )
    overview = {
        "title": "Overview",
        "icon": "dashboard",
        "link": _within_project(request, reverse("admin:index")),
    }
    search = {
        "title": "Search",
        "icon": "search",
        "link": search_page.search_url(request),
        "active": request.path == search_page.FOLDER,
    }
    views = {
        "title": "Views",
        "icon": "table_chart",
        "link": views_url(request),
        "active": request.path.startswith(FOLDER),
    }
    shown = [{"title": group, "separator": True, "items": items} for group, items in groups.items() if items]
    programs = {"title": "REST API", "icon": "api", "link": reverse("api:docs")}
    return [
        {"items": [overview, *[make(request) for make in own_places], search, views]},
        *shown,
        {"separator": True, "items": [programs]},
    ]


def switcher(request: HttpRequest) -> list[dict[str, Any]]:
    """The projects to choose from; [] for a person with fewer than two."""
    projects = list(access_of(request).projects.values())
    if len(projects) < 2:
        return []
    index = reverse("admin:index")
    return [
        {"title": "All projects", "icon": "apps", "link": f"{index}?project="},
        *(
            {"title": str(project), "icon": "folder", "link": in_project(index, project)}
            for project in projects[:PROJECTS_OFFERED]
        ),
    ]


def account(request: HttpRequest) -> list[dict[str, Any]]:
    """The menu of the person's name."""
    links = [{"title": "My settings", "link": reverse("admin_settings")}]
    if request.user.is_authenticated and request.user.has_usable_password():
        links.append({"title": "Change password", "link": reverse("admin:password_change")})
    return links


def subtitle(request: HttpRequest) -> str:
    """The subtitle of the header: the chosen or only project, on other pages the remembered one."""
    remembered = access_of(request).named(request.session.get("project", ""))
    if project := shown_project(request) or (None if "project" in request.GET else remembered):
        return str(project)
    return "All projects" if access_of(request).projects else ""


def stylesheet(request: HttpRequest) -> str:
    return static("ctxhub/admin.css")


def search_script(request: HttpRequest) -> str:
    return static("ctxhub/search.js")


def palette_script(request: HttpRequest) -> str:
    return static("ctxhub/palette.js")


def favicon(request: HttpRequest) -> str:
    return static("ctxhub/icon.svg")


def _list_url(request: HttpRequest, model_admin: Any) -> str:
    page = model_admin.menu.page or "changelist"
    url = reverse(f"admin:{model_admin.opts.app_label}_{model_admin.opts.model_name}_{page}")
    return _within_project(request, url) if ProjectFilter in model_admin.list_filter else url


def _within_project(request: HttpRequest, url: str) -> str:
    return in_project(url, chosen_project(request))
