"""Notes when people are in the admin: each page they open, each form they send."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from ctxhub.console import connecting
from ctxhub.console.needs import live
from ctxhub.core.accounts.visits import note_visit

# What an open page asks by itself: a tab that is left open overnight is no visit.
BY_THEMSELVES = (live.FOLDER, connecting.FOLDER)


class NotedVisits:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: object) -> None:
        if not request.path.startswith("/admin/") or request.path.startswith(BY_THEMSELVES):
            return
        if user_id := request.user.pk:
            note_visit(user_id)
