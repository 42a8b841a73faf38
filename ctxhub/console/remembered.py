"""Remembers the project that a person chose, until they choose another one or all.

The address says which project is shown; a page without it is redirected to the remembered one. The choice
narrows what is shown, and a project that the person cannot see is forgotten.
"""

from collections.abc import Callable

from django.contrib import admin
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect

from ctxhub.console.access import access_of
from ctxhub.console.filters import ProjectFilter

SESSION_KEY = "project"
OWN_PAGES = frozenset({"index", "admin_search", "admin_view"})


class RememberedProject:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: object) -> HttpResponseRedirect | None:
        if request.method != "GET" or not request.path.startswith("/admin/") or not _is_choosing(request):
            return None
        if SESSION_KEY in request.GET:
            _remember(request, request.GET[SESSION_KEY])
            return None
        if SESSION_KEY not in request.session or not _takes_project(request):
            return None
        query = request.GET.copy()
        query[SESSION_KEY] = request.session[SESSION_KEY]
        return HttpResponseRedirect(f"{request.path}?{query.urlencode()}")


def _is_choosing(request: HttpRequest) -> bool:
    """Whether the person has several projects. Forgets one that they cannot see any more."""
    if not request.user.is_authenticated:
        return False
    access = access_of(request)
    if SESSION_KEY in request.session and access.named(request.session[SESSION_KEY]) is None:
        del request.session[SESSION_KEY]
    return len(access.projects) > 1


def _remember(request: HttpRequest, slug: str) -> None:
    """Store the choice, if it has changed; "" stands for all projects."""
    if not slug:
        request.session.pop(SESSION_KEY, None)
    elif slug != request.session.get(SESSION_KEY) and access_of(request).named(slug):
        request.session[SESSION_KEY] = slug


def _takes_project(request: HttpRequest) -> bool:
    """Whether it is a page about a project: a list of its rows, or one beside such a list."""
    match = request.resolver_match
    return match is not None and match.url_name in OWN_PAGES | _pages_of_lists()


def _pages_of_lists() -> set[str]:
    return {
        f"{model._meta.app_label}_{model._meta.model_name}_{page}"
        for model, model_admin in admin.site._registry.items()
        if ProjectFilter in model_admin.list_filter
        for page in ("changelist", *getattr(model_admin, "project_pages", ()))
    }
