"""The parts of the first page that renew themselves, the request that waits for news of them, and the stream
that tells of news.
"""

import hashlib

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from ctxhub.console import dashboard
from ctxhub.console.access import access_of, shown_project_ids
from ctxhub.core.accounts.listeners import person_listening
from ctxhub.core.events import waiting
from ctxhub.core.events.following import FollowAll, open_stream
from ctxhub.core.events.log import latest_ids
from ctxhub.core.kit.errors import InvalidInput

FOLDER = "/admin/overview/"
STREAM = f"{FOLDER}events/"
LONGEST_SECONDS = 30
# One query is made for each project after an event; the others are looked at when the time is up.
PROJECTS_WATCHED = 30


def show(request: HttpRequest) -> HttpResponse:
    """The parts as HTML, or 304 if they are as the person has them (`If-None-Match`).

    With `wait`, a number of seconds, that answer is held back until something happens in the projects.
    """
    watched = shown_project_ids(request)[:PROJECTS_WATCHED]
    # Read first: what happens while the parts are read is news.
    after = latest_ids(watched)
    html = render_to_string("ctxhub/overview_live.html", dashboard.live_context(request), request)
    etag = f'"{hashlib.sha256(html.encode()).hexdigest()[:20]}"'
    if request.headers.get("If-None-Match") != etag:
        return HttpResponse(html, headers={"ETag": etag, "Cache-Control": "no-store"})
    if not waiting.is_again():
        waiting.wait_for_events(after, _seconds(request))
    return HttpResponse(status=304, headers={"ETag": etag, "Cache-Control": "no-store"})


def stream(request: HttpRequest) -> HttpResponse:
    """Tell a browser, for all its tabs, whenever something happens in a project that the person can see.

    204, which browsers do not repeat, under WSGI.
    """
    access = access_of(request)
    # The project of the URL first, should there be more than are watched.
    watched = list(dict.fromkeys([*shown_project_ids(request), *access.project_ids()]))[:PROJECTS_WATCHED]
    scopes = {project_id: access.scopes[project_id] for project_id in watched}
    listener = person_listening(request.user, request.session.session_key or "", scopes)
    follow = FollowAll(listener, latest_ids(watched))
    try:
        open_stream(follow)
    except InvalidInput:
        return HttpResponse(status=204)
    return HttpResponse(follow.beginning(), content_type="text/event-stream")


def _seconds(request: HttpRequest) -> int:
    asked = request.GET.get("wait", "")
    return min(int(asked), LONGEST_SECONDS) if asked.isascii() and asked.isdecimal() and len(asked) < 4 else 0
