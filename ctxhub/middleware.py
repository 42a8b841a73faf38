"""Middleware: content security policy, the time zone of admin pages, a page for a failing database."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone

from ctxhub.console.access import shown_project
from ctxhub.core.accounts.config import read_config
from ctxhub.core.kit.failures import failure_of, is_outage, is_unwritable, log_failure
from ctxhub.core.kit.newer_schema import NewerSchema, OlderSchema, refuse_newer_schema, refuse_older_schema
from ctxhub.core.kit.outcomes import telling_outcome
from ctxhub.core.kit.replaced_file import Removed, Replaced, refuse_replaced
from ctxhub.core.kit.restored import OtherKey

READS = ("GET", "HEAD", "OPTIONS")
STRICT = (
    "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
# The admin theme evaluates inline scripts; no other page may.
ADMIN = f"{STRICT}; script-src 'self' 'unsafe-eval' 'unsafe-inline'; style-src 'self' 'unsafe-inline'"
# The API documentation is Swagger, which starts from an inline script.
API_PAGE = f"{STRICT}; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'"


class ContentSecurityPolicy:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", policy_for(request.path))
        return response


def policy_for(path: str) -> str:
    if path.startswith("/admin/"):
        return ADMIN
    return API_PAGE if path.startswith("/api/") else STRICT


class AdminTimeZone:
    """Shows and reads the times of admin pages about one project in the time zone of the project."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        project = shown_project(request) if request.path.startswith("/admin/") else None
        if project is None:
            return self.get_response(request)
        with timezone.override(read_config(project.config).time_zone):
            return self.get_response(request)


class DatabaseFailures:
    """Answers a page whose database cannot be written or does not answer with 503 and a plain message.

    So it does for every form, if the database is newer than this process, or was replaced meanwhile: accounts
    and sign-ins are written by Django, which does not ask.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        is_form = request.method not in READS and not request.path.startswith("/api/")
        try:
            if request.path.startswith("/admin/"):
                refuse_older_schema()
            if is_form:
                refuse_newer_schema()
            with telling_outcome():
                response = self.get_response(request)
            if is_form:
                refuse_replaced()
        except (NewerSchema, OlderSchema, OtherKey, Replaced, Removed) as error:
            return _failure_page(request, error)
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        is_told = is_outage(error) or isinstance(error, NewerSchema)
        return _failure_page(request, error) if is_told else None


def _failure_page(request: HttpRequest, error: Exception) -> HttpResponse:
    log_failure(request.path, error)
    failure = failure_of(error)
    is_refused = is_unwritable(error) or isinstance(error, NewerSchema | OtherKey | Replaced | Removed)
    title = "Not saved" if is_refused else "The database does not answer"
    context = {"title": title, "message": failure.message, "hint": failure.hint}
    response = render(request, "503.html", context, status=503)
    if "retry_after" in failure.details:
        response.headers["Retry-After"] = str(failure.details["retry_after"])
    response._has_been_logged = True  # type: ignore[attr-defined]  # Else Django logs it again.
    return response
