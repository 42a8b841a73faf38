"""The parts of the first page that renew themselves, and the request that waits for news of them."""

import hashlib

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from ctxhub.core.admin import dashboard
from ctxhub.core.admin.access import shown_project_ids
from ctxhub.core.events import waiting
from ctxhub.core.events.selectors.events import latest_ids

FOLDER = "/admin/overview/"
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


def _seconds(request: HttpRequest) -> int:
    asked = request.GET.get("wait", "")
    return min(int(asked), LONGEST_SECONDS) if asked.isascii() and asked.isdecimal() and len(asked) < 4 else 0
