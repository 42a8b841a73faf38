"""Adds a content security policy to every response."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

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
