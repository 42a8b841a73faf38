"""The search page of the admin: searches all kinds, with filters, facets and explained scores."""

from collections import Counter
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse

from ctxhub.console.access import chosen_project, shown_project
from ctxhub.console.project_pages import project_tabs
from ctxhub.console.search_hits import cards, display_of
from ctxhub.console.service_form import sentence
from ctxhub.core import registry
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import MAX_LIMIT
from ctxhub.core.models import Layer, Project
from ctxhub.core.search.matches import count_by_kind
from ctxhub.core.search.questions import SearchFilters, narrow
from ctxhub.core.search.search import SearchResult, search

FOLDER = "/admin/search/"
HITS_ON_PAGE = 20

MATCHES = {"": "Any word", "all": "All words", "fuzzy": "Also similar words", "similar": "Similar texts"}
TIMES = {"": "Any time", "24h": "The last day", "7d": "The last week", "30d": "The last month"}
# The filters of a search in the URL, each with its label.
FILTER_LABELS = {
    "kind": "kind",
    "layer": "layer",
    "tag": "tag",
    "by": "agent",
    "since": "since",
    "match": "match",
}


@frozen
class SearchRequest:
    """The search in the URL: project, query, filters and number of pages. Makes URLs of changed searches."""

    project: Project | None
    query: str
    params: Mapping[str, str]
    pages: int

    @classmethod
    def of(cls, request: HttpRequest, project: Project | None) -> "SearchRequest":
        params = {name: value for name in FILTER_LABELS if (value := request.GET.get(name, "").strip())}
        page = request.GET.get("page", "")
        most = MAX_LIMIT // HITS_ON_PAGE
        pages = min(int(page), most) if page.isascii() and page.isdecimal() and len(page) < 9 else 1
        return cls(project, request.GET.get("q", "").strip(), params, max(pages, 1))

    @property
    def filters(self) -> SearchFilters:
        params = self.params
        return {
            "kinds": [params["kind"]] if "kind" in params else None,
            "tags": [params["tag"]] if "tag" in params else None,
            "layer": params.get("layer"),
            "by": params.get("by"),
            "since": params.get("since"),
        }

    @property
    def match(self) -> str:
        return self.params.get("match", "auto")

    def url(self, **changes: str) -> str:
        """The URL of the first page with changed parameters. An empty value removes the parameter."""
        project = self.project.slug if self.project else ""
        params = {"project": project, "q": self.query, **self.params, **changes}
        query_string = urlencode({name: value for name, value in params.items() if value})
        return f"{reverse('admin_search')}{'?' if query_string else ''}{query_string}"


@frozen
class Choice:
    title: str
    url: str
    is_chosen: bool
    count: int | None = None
    icon: str = ""


def search_url(request: HttpRequest) -> str:
    """The URL of the empty search page, in the chosen project."""
    return SearchRequest(chosen_project(request), "", {}, 1).url()


def show(request: HttpRequest) -> HttpResponse:
    project = shown_project(request)
    search_request = SearchRequest.of(request, project)
    request.current_app = admin.site.name
    results = _results(search_request, project) if project and search_request.query else {}
    return TemplateResponse(
        request,
        "ctxhub/search.html",
        {
            **admin.site.each_context(request),
            "title": "Search",
            "search_request": search_request,
            "project": project,
            "projects": project_tabs(request, project, lambda each: search_request.url(project=each.slug)),
            "has_large_search": True,
            # With hits on the page, the keys must scroll it instead of going to the search box.
            "takes_focus": not results.get("cards"),
            **results,
        },
    )


def _results(search_request: SearchRequest, project: Project) -> dict[str, Any]:
    """The context of a search's results; of an invalid search, its `problem`."""
    limit = search_request.pages * HITS_ON_PAGE
    try:
        found = search(
            project.pk,
            search_request.query,
            match=search_request.match,
            detail="detailed",
            limit=limit,
            **search_request.filters,
        )
        kinds = _kinds(search_request, project, found)
    except CtxhubError as error:
        return {"problem": sentence(error), "active_filters": _active_filters(search_request)}
    suggestion = found.search.did_you_mean if found.search else None
    has_more = found.total["total"] > limit == len(found.hits) and limit < MAX_LIMIT
    return {
        "found": found,
        # Exact, where a search stops counting at a thousand.
        "total": next((kind.count for kind in kinds if kind.is_chosen), 0),
        "most": MAX_LIMIT if limit == MAX_LIMIT == len(found.hits) else 0,
        "is_corrected": found.search is not None and found.search.method == "corrected",
        "cards": cards(project.pk, search_request.query, found.hits, found.search) if found.search else [],
        "facets": [
            ("Kind", kinds),
            ("Layer", _layers(search_request, project)),
            ("Changed", _choices(search_request, "since", TIMES)),
            ("Match", _choices(search_request, "match", MATCHES)),
        ],
        "active_filters": _active_filters(search_request),
        "suggestion": suggestion,
        "suggestion_url": search_request.url(q=suggestion) if suggestion else "",
        "exact_url": search_request.url(match="any"),
        "tag_url": f"{search_request.url(tag='')}&tag=",
        "by_url": f"{search_request.url(by='')}&by=",
        "more_url": search_request.url(page=str(search_request.pages + 1)) if has_more else "",
        "more_from": limit + 1,
        "fuzzy_url": "" if search_request.match == "fuzzy" else search_request.url(match="fuzzy"),
    }


def _kinds(search_request: SearchRequest, project: Project, found: SearchResult) -> list[Choice]:
    """The kind facet: the number of hits of each kind, whichever kind is chosen."""
    if found.search is None or not found.search.weights:
        return []
    narrowing = narrow(project.pk, {**search_request.filters, "kinds": None})
    counts = Counter(found.beside)
    counts.update(count_by_kind(narrowing, found.search.query) if narrowing else {})
    kinds = [noun.kind for noun in registry.searched_nouns()]
    chosen = search_request.params.get("kind", "")
    shown = [kind for kind in kinds if counts.get(kind) or kind == chosen]
    return [
        Choice("Everything", search_request.url(kind=""), not chosen, sum(counts.values()), "apps"),
        *(_kind(search_request, kind, counts.get(kind, 0)) for kind in shown),
    ]


def _kind(search_request: SearchRequest, kind: str, count: int) -> Choice:
    display = display_of(kind)
    is_chosen = kind == search_request.params.get("kind")
    url = search_request.url(kind=kind)
    return Choice(display.plural.capitalize(), url, is_chosen, count, display.icon)


def _layers(search_request: SearchRequest, project: Project) -> list[Choice]:
    names = Layer.objects.in_project(project).order_by("position", "pk").values_list("name", flat=True)
    return _choices(search_request, "layer", {"": "Any layer", **{name: name for name in names}})


def _choices(search_request: SearchRequest, name: str, values: Mapping[str, str]) -> list[Choice]:
    chosen = search_request.params.get(name, next(iter(values)))
    return [
        Choice(title, search_request.url(**{name: value}), value.casefold() == chosen.casefold())
        for value, title in values.items()
    ]


def _active_filters(search_request: SearchRequest) -> list[Choice]:
    """The active filters, each with the URL of the search without it."""
    return [
        Choice(
            f"{FILTER_LABELS[name]}: {_label(name, value)}", search_request.url(**{name: ""}), is_chosen=True
        )
        for name, value in search_request.params.items()
    ]


def _label(name: str, value: str) -> str:
    labels = {"match": {**MATCHES, "any": "Only as typed"}, "since": TIMES}.get(name, {})
    return labels[value].lower() if value in labels else value
