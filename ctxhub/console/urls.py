"""URLs of admin pages: with a query string, and of the rows of one project."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from ctxhub.core.models import Project


def list_url(model: str, project: Project | None = None, /, **filters: Any) -> str:
    """The URL of a model's list (`tracking_filechange`), filtered by the project if there is one."""
    return in_project(reverse(f"admin:{model}_changelist"), project, **filters)


def row_urls(view: str) -> Callable[[int], str]:
    """Makes the URLs of a view of one row by the row's id, for many rows: it resolves the view once."""
    before, _, after = reverse(view, args=[0]).rpartition("0")
    return lambda row_id: f"{before}{row_id}{after}"


def in_project(url: str, project: Project | None, /, **query: Any) -> str:
    """The URL of a page that takes the project, if there is one, and more from its query string."""
    query_string = urlencode({**({"project": project.slug} if project else {}), **query})
    return f"{url}?{query_string}" if query_string else url


def next_url(request: HttpRequest, default: str = "") -> str:
    """The page of the hub that the form or the URL names (`next`), to return to after a write.

    Without one, or for a page elsewhere, `default` or else the first page.
    """
    url = request.POST.get("next") or request.GET.get("next", "")
    is_own = url_has_allowed_host_and_scheme(url, {request.get_host()}, require_https=request.is_secure())
    return url if url and is_own else default or reverse("admin:index")
