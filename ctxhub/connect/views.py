"""`/connect/`: the client for everybody who can reach the hub. It holds no secret and asks no database."""

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from ctxhub.connect.archive import NAME, Archive, NoClient, client_archive
from ctxhub.core.kit.base_url import base_url, connect_line

CLIENTS = (
    ("Claude Code", "claude-code", "the hooks. --approve also lets it use the hub's tools unasked"),
    ("Codex", "codex", "the hooks; then trust them with /hooks. --approve as above"),
    ("Cursor", "cursor", "a rule that always applies. It can also load the hooks of Claude Code"),
    ("VS Code and others", "agents-md", "a block in AGENTS.md"),
    ("git", "pre-commit", "no commit of files under another agent's exclusive lease"),
)


def serving(answer: Callable[[HttpRequest, Archive], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """A view of the archive; 503 with a sentence where the hub has no sources of it.

    Caches ask the hub each time, which may have been updated.
    """

    @csrf_exempt
    @require_safe
    @wraps(answer)
    def view(request: HttpRequest) -> HttpResponse:
        try:
            archive = client_archive()
        except NoClient as error:
            told = f"{error} This hub serves no client: get it from another hub of this release.\n"
            return HttpResponse(told, "text/plain; charset=utf-8", status=503)
        response = answer(request, archive)
        response.headers["Cache-Control"] = "no-cache"
        return response

    return view


@serving
def program(request: HttpRequest, archive: Archive) -> HttpResponse:
    headers = {
        "Content-Disposition": f'attachment; filename="{NAME}"',
        "Ctxhub-Client-Version": archive.version,
        "Ctxhub-Client-Sha256": archive.sha256,
    }
    response = HttpResponse(archive.content, "application/octet-stream", headers=headers)
    return _unless_known(request, archive, response)


@serving
def checksum(request: HttpRequest, archive: Archive) -> HttpResponse:
    """As `sha256sum --check` reads it."""
    response = HttpResponse(f"{archive.sha256}  {NAME}\n", "text/plain; charset=utf-8")
    return _unless_known(request, archive, response)


@serving
def page(request: HttpRequest, archive: Archive) -> HttpResponse:
    opened_at = request.build_absolute_uri(reverse("connect")).removesuffix("connect/")
    hub = base_url(opened_at)
    context = {
        "hub": hub,
        "line": connect_line(hub),
        "archive": archive,
        "name": NAME,
        "clients": CLIENTS,
    }
    return render(request, "ctxhub/connect.html", context)


def _unless_known(request: HttpRequest, archive: Archive, response: HttpResponse) -> HttpResponse:
    """304 if the caller has it already."""
    response.headers["ETag"] = f'"{archive.sha256}"'
    return get_conditional_response(request, etag=response["ETag"], response=response) or response
