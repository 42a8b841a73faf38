"""What the palette finds: the best hits of the project, or of each of the person's projects."""

from dataclasses import field

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from ctxhub.console.access import access_of, shown_project
from ctxhub.console.search_hits import Card, cards
from ctxhub.console.search_page import SearchRequest
from ctxhub.console.service_form import sentence
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Project
from ctxhub.core.search.search import search

FOLDER = "/admin/palette/"
PROJECTS_SEARCHED = 6
HITS_OF_ONE, HITS_OF_EACH = 8, 3


@frozen
class Group:
    """The hits in one project, and the URL of all of them."""

    project: Project
    url: str
    cards: list[Card] = field(default_factory=list)
    problem: str = ""


def show(request: HttpRequest) -> HttpResponse:
    """A part of the page that the palette is opened on."""
    project, query = shown_project(request), request.GET.get("q", "").strip()
    projects = [project] if project else list(access_of(request).projects.values())[:PROJECTS_SEARCHED]
    limit = HITS_OF_ONE if project else HITS_OF_EACH
    groups = [_group(each, query, limit) for each in projects] if query else []
    context = {"groups": groups, "names_projects": not project}
    return TemplateResponse(request, "ctxhub/palette_hits.html", context)


def _group(project: Project, query: str, limit: int) -> Group:
    url = SearchRequest(project, query, {}, 1).url()
    try:
        found = search(project.pk, query, detail="compact", limit=limit)
    except CtxhubError as error:
        return Group(project, url, problem=sentence(error))
    return Group(project, url, cards(project.pk, query, found.hits, found.search) if found.search else [])
