"""The one search over everything, as a page: what was found, where, and why."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse

from ctxhub.core import registry
from ctxhub.core.admin.access import access_of, chosen_project
from ctxhub.core.admin.search_hits import cards, look_of
from ctxhub.core.admin.service_form import sentence
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.inputs import MAX_LIMIT
from ctxhub.core.models import Layer, Project
from ctxhub.core.search.engines import count_by_kind
from ctxhub.core.search.selectors.questions import SearchFilters, narrow
from ctxhub.core.search.selectors.search import Found, search

FOLDER = "/admin/search/"
HITS_MORE = 20

MATCHES = {"": "Any word", "all": "All words", "fuzzy": "Near words, too", "similar": "Similar texts"}
TIMES = {"": "Any time", "24h": "The last day", "7d": "The last week", "30d": "The last month"}
# What narrows a search, and what a chip of it says.
NARROWING = {
    "kind": "kind",
    "layer": "layer",
    "tag": "tag",
    "by": "agent",
    "since": "since",
    "match": "match",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks for, and the addresses that ask for something else."""

    project: Project | None
    query: str
    said: Mapping[str, str]
    more: int

    @classmethod
    def of(cls, request: HttpRequest, project: Project | None) -> "Asked":
        said = {name: value for name in NARROWING if (value := request.GET.get(name, "").strip())}
        page = request.GET.get("page", "")
        most = MAX_LIMIT // HITS_MORE
        more = min(int(page), most) if page.isascii() and page.isdecimal() and len(page) < 9 else 1
        return cls(project, request.GET.get("q", "").strip(), said, max(more, 1))

    @property
    def filters(self) -> SearchFilters:
        said = self.said
        return {
            "kinds": [said["kind"]] if "kind" in said else None,
            "tags": [said["tag"]] if "tag" in said else None,
            "layer": said.get("layer"),
            "by": said.get("by"),
            "since": said.get("since"),
        }

    @property
    def match(self) -> str:
        return self.said.get("match", "auto")

    def url(self, **changes: str) -> str:
        """The address with these changed; what is empty is left out, and it is the first page again."""
        project = self.project.slug if self.project else ""
        asked = {"project": project, "q": self.query, **self.said, **changes}
        said = urlencode({name: value for name, value in asked.items() if value})
        return f"{reverse('admin_search')}{'?' if said else ''}{said}"


@dataclass(frozen=True, slots=True)
class Choice:
    title: str
    url: str
    is_chosen: bool
    count: int | None = None
    icon: str = ""


def place_of_search(request: HttpRequest) -> str:
    """The page with nothing looked for yet, of the project that is looked at."""
    return Asked(chosen_project(request), "", {}, 1).url()


def show(request: HttpRequest) -> HttpResponse:
    projects = list(access_of(request).projects.values())
    # The project that the address names, or the only one that the person sees.
    project = chosen_project(request) or (projects[0] if len(projects) == 1 else None)
    asked = Asked.of(request, project)
    request.current_app = admin.site.name
    answer = _answer(asked, project) if project and asked.query else {}
    return TemplateResponse(
        request,
        "ctxhub/search.html",
        {
            **admin.site.each_context(request),
            "title": "Search",
            "asked": asked,
            "project": project,
            "projects": [
                Choice(str(each), asked.url(project=each.slug), each == project) for each in projects
            ],
            "has_large_search": True,
            # What was found is read first: the keys that scroll are not the box's.
            "takes_focus": not answer.get("cards"),
            **answer,
        },
    )


def _answer(asked: Asked, project: Project) -> dict[str, Any]:
    """What was found, or, of what cannot be asked, what is wrong with it."""
    limit = asked.more * HITS_MORE
    try:
        found = search(
            project.pk, asked.query, match=asked.match, detail="detailed", limit=limit, **asked.filters
        )
        kinds = _kinds(asked, project, found)
    except CtxhubError as refusal:
        return {"problem": sentence(refusal), "ways_out": _ways_out(asked)}
    meant = found.search.did_you_mean if found.search else None
    has_more = found.total["total"] > limit == len(found.hits) and limit < MAX_LIMIT
    return {
        "found": found,
        "is_corrected": found.search is not None and found.search.method == "corrected",
        "cards": cards(project.pk, asked.query, found.hits, found.search) if found.search else [],
        "facets": [
            ("Kind", kinds),
            ("Layer", _layers(asked, project)),
            ("Changed", _choices(asked, "since", TIMES)),
            ("Match", _choices(asked, "match", MATCHES)),
        ],
        "ways_out": _ways_out(asked),
        "meant": meant,
        "meant_url": asked.url(q=meant) if meant else "",
        "exact_url": asked.url(match="any"),
        "tag_url": f"{asked.url(tag='')}&tag=",
        "by_url": f"{asked.url(by='')}&by=",
        "more_url": asked.url(page=str(asked.more + 1)) if has_more else "",
        "more_from": limit + 1,
        "unlike_url": "" if asked.match == "fuzzy" else asked.url(match="fuzzy"),
    }


def _kinds(asked: Asked, project: Project, found: Found) -> list[Choice]:
    """How much of each kind there is, whichever of them is looked at."""
    if found.search is None or not found.search.weights:
        return []
    narrowing = narrow(project.pk, {**asked.filters, "kinds": None})
    counts: Counter[str] = Counter()
    for kind, count in (count_by_kind(narrowing, found.search.query) if narrowing else {}).items():
        counts[registry.standing_kind(kind)] += count
    kinds = [noun.kind for noun in registry.searched_nouns()]
    chosen = asked.said.get("kind", "")
    shown = [kind for kind in kinds if counts.get(kind) or kind == chosen]
    return [
        Choice("Everything", asked.url(kind=""), not chosen, sum(counts.values()), "apps"),
        *(_kind(asked, kind, counts.get(kind, 0)) for kind in shown),
    ]


def _kind(asked: Asked, kind: str, count: int) -> Choice:
    look = look_of(kind)
    is_chosen = kind == asked.said.get("kind")
    return Choice(look.plural.capitalize(), asked.url(kind=kind), is_chosen, count, look.icon)


def _layers(asked: Asked, project: Project) -> list[Choice]:
    names = Layer.objects.in_project(project).order_by("position", "pk").values_list("name", flat=True)
    return _choices(asked, "layer", {"": "Any layer", **{name: name for name in names}})


def _choices(asked: Asked, name: str, values: Mapping[str, str]) -> list[Choice]:
    said = asked.said.get(name, next(iter(values)))
    return [
        Choice(title, asked.url(**{name: value}), value.casefold() == said.casefold())
        for value, title in values.items()
    ]


def _ways_out(asked: Asked) -> list[Choice]:
    """Each thing that narrows the search, with the address without it."""
    return [
        Choice(f"{NARROWING[name]}: {_shown(name, value)}", asked.url(**{name: ""}), is_chosen=True)
        for name, value in asked.said.items()
    ]


def _shown(name: str, value: str) -> str:
    words = {"match": {**MATCHES, "any": "Only as typed"}, "since": TIMES}.get(name, {})
    return words[value].lower() if value in words else value
