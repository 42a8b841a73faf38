"""The ready-made views of a project as pages, one beside the other."""

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
    """`is_list`: several names, each a chip of its own. `at`: a moment, told as everywhere in the admin."""

    value: Any

    @property
    def is_list(self) -> bool:
        return isinstance(self.value, list)

    @property
    def at(self) -> datetime | None:
        is_moment = isinstance(self.value, str) and _MOMENT.fullmatch(self.value)
        return datetime.fromisoformat(self.value) if is_moment else None


def place_of_views(request: HttpRequest) -> str:
    """The first view, of the project that is looked at."""
    project = chosen_project(request)
    return _url(next(iter(all_views())), project)


def show(request: HttpRequest, name: str) -> HttpResponse:
    views, project = all_views(), _project(request)
    if name not in views:
        raise Http404
    try:
        page = _page(views[name], project, request.GET.get("cursor")) if project else {}
    except InvalidInput as refusal:
        messages.warning(request, refusal.message)
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
    """The project that the address names, or the only one that the person sees."""
    projects = list(access_of(request).projects.values())
    return chosen_project(request) or (projects[0] if len(projects) == 1 else None)


def _page(view: NamedView, project: Project, cursor: str | None) -> dict[str, Any]:
    listing = view.select(project.pk, limit=ROWS_ON_PAGE, cursor=cursor or None)
    answer = listing.answer()
    following = listing.next
    return {
        "columns": answer["columns"],
        "rows": [[Cell(value) for value in row] for row in answer["rows"]],
        "next": f"{_url(view.name, project)}&{urlencode({'cursor': following})}" if following else "",
        "is_first": not cursor,
        "first": _url(view.name, project),
    }


def _title(view: NamedView) -> str:
    return view.name.replace("_", " ").capitalize()


def _url(name: str, project: Project | None) -> str:
    address = reverse("admin_view", args=[name])
    return f"{address}?{urlencode({'project': project.slug})}" if project else address
