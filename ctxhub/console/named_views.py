"""Admin pages of a project's named views, one tab per view."""

import re
from datetime import datetime
from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from ctxhub.console.access import chosen_project, shown_project
from ctxhub.console.project_pages import Tab, project_tabs
from ctxhub.console.urls import in_project
from ctxhub.core.hub.named_views import NamedView, all_views
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Project

FOLDER = "/admin/views/"
ROWS_ON_PAGE = 50

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)


@frozen
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
    views, project = all_views(), shown_project(request)
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
            "tabs": [
                Tab(_title(each), _url(each.name, project), each.name == name) for each in views.values()
            ],
            "project": project,
            "projects": project_tabs(request, project, partial(_url, name)),
            **page,
        },
    )


def _page(view: NamedView, project: Project, cursor: str | None) -> dict[str, Any]:
    listing = view.select(project.pk, limit=ROWS_ON_PAGE, cursor=cursor or None)
    answer = listing.answer()
    next_cursor = listing.next
    return {
        "columns": answer["columns"],
        "rows": [[Cell(value) for value in row] for row in answer["rows"]],
        "next": _url(view.name, project, cursor=next_cursor) if next_cursor else "",
        "is_first": not cursor,
        "first": _url(view.name, project),
    }


def _title(view: NamedView) -> str:
    return view.name.replace("_", " ").capitalize()


def _url(name: str, project: Project | None, **query: str) -> str:
    return in_project(reverse("admin_view", args=[name]), project, **query)
