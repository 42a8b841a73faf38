"""CORS: origins in CTXHUB_CORS_ORIGINS may call the REST API with a token, never with cookies."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers

from ctxhub.core.kit.served import ID_HEADER
from ctxhub.toolbox.rates import HEADERS

PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
    "Access-Control-Allow-Headers": (
        "Authorization, Content-Type, Ctxhub-Agent, Ctxhub-Session, Idempotency-Key, If-Match, "
        "Last-Event-ID, X-Request-ID"
    ),
    "Access-Control-Max-Age": "600",
}
EXPOSED = ", ".join(("ETag", "Link", "Retry-After", "WWW-Authenticate", ID_HEADER, *HEADERS))


class CrossOrigin:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not settings.CORS_ORIGINS or not request.path.startswith("/api/"):
            return self.get_response(request)
        is_listed = request.headers.get("Origin") in settings.CORS_ORIGINS
        is_preflight = request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers
        response = (
            HttpResponse(status=204, headers=PREFLIGHT)
            if is_listed and is_preflight
            else self.get_response(request)
        )
        patch_vary_headers(response, ["Origin"])
        if is_listed:
            response.headers["Access-Control-Allow-Origin"] = request.headers["Origin"]
            response.headers["Access-Control-Expose-Headers"] = EXPOSED
        return response
