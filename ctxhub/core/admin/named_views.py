"""Admin pages of a project's named views, one tab per view."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from ctxhub.core.admin.access import access_of, chosen_project
from ctxhub.core.hub.named_views import NamedView, all_views
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.models import Project

FOLDER = "/admin/views/"
ROWS_ON_PAGE = 50

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of a view. `is_list`: shown as one chip per name. `at`: the datetime of an ISO 8601 string."""

    value: Any

    @property
    def is_list(self) -> bool:
        return isinstance(self.value, list)

    @property
    def at(self) -> datetime | None:
        is_moment = isinstance(self.value, str) and _MOMENT.fullmatch(self.value)
        return datetime.fromisoformat(self.value) if is_moment else None


def views_url(request: HttpRequest) -> str:
    """The URL of the first view, in the chosen project."""
    project = chosen_project(request)
    return _url(next(iter(all_views())), project)


def show(request: HttpRequest, name: str) -> HttpResponse:
    views, project = all_views(), _project(request)
    if name not in views:
        raise Http404
    try:
        page = _page(views[name], project, request.GET.get("cursor")) if project else {}
    except InvalidInput as error:
        messages.warning(request, error.message)
        return HttpResponseRedirect(_url(name, project))
    request.current_app = admin.site.name
    return TemplateResponse(
        request,
        "ctxhub/named_view.html",
        {
            **admin.site.each_context(request),
            "title": "Views",
            "view": views[name],
            "tabs": [(view, _title(view), _url(view.name, project)) for view in views.values()],
            "project": project,
            "projects": [(each, _url(name, each)) for each in access_of(request).projects.values()],
            **page,
        },
    )


def _project(request: HttpRequest) -> Project | None:
    """The project in the URL, or the only project the person can see."""
    projects = list(access_of(request).projects.values())
    return chosen_project(request) or (projects[0] if len(projects) == 1 else None)


def _page(view: NamedView, project: Project, cursor: str | None) -> dict[str, Any]:
    listing = view.select(project.pk, limit=ROWS_ON_PAGE, cursor=cursor or None)
    answer = listing.answer()
    next_cursor = listing.next
    return {
        "columns": answer["columns"],
        "rows": [[Cell(value) for value in row] for row in answer["rows"]],
        "next": f"{_url(view.name, project)}&{urlencode({'cursor': next_cursor})}" if next_cursor else "",
        "is_first": not cursor,
        "first": _url(view.name, project),
    }


def _title(view: NamedView) -> str:
    return view.name.replace("_", " ").capitalize()


def _url(name: str, project: Project | None) -> str:
    url = reverse("admin_view", args=[name])
    return f"{url}?{urlencode({'project': project.slug})}" if project else url
