"""How a person connects a program of theirs, and whether one of them has called yet."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from ctxhub.console.access import access_of, shown_project_ids
from ctxhub.core.kit.base_url import base_url, connect_line
from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.models import AccessToken

FOLDER = "/admin/connected/"
SHOWN = 3


def connect_context(request: HttpRequest) -> dict[str, Any]:
    """The line to paste, and the tokens with which something has called."""
    hub = base_url(request.build_absolute_uri("/"))
    return {
        "connect_lines": (
            connect_line(hub),
            f"curl.exe -fsSO {hub}/connect/ctxhub.pyz; python ctxhub.pyz connect {hub}",
        ),
        "connected": connected_tokens(request),
    }


def connected_tokens(request: HttpRequest) -> Sequence[AccessToken]:
    """The last that were used, of the person's own and, for administrators, of the project, newest first."""
    access, user = access_of(request), request.user
    administrated = [pk for pk in shown_project_ids(request) if access.may(ADMIN, pk)]
    theirs = Q(owner=user.pk) | Q(owner=None, project__in=administrated)
    used: QuerySet[AccessToken] = AccessToken.unscoped.filter(
        theirs, project__in=shown_project_ids(request), last_used_at__isnull=False, revoked_at=None
    )
    return list(used.select_related("agent").order_by("-last_used_at")[:SHOWN])


def show(request: HttpRequest) -> HttpResponse:
    """Whether something has called, as a part of a page that asks again until it has."""
    response = render(request, "ctxhub/connected.html", {"connected": connected_tokens(request)})
    response.headers["Cache-Control"] = "no-store"
    return response
