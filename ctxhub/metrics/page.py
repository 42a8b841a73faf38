"""`/metrics`: who may read it, and what it tells."""

import os
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from ctxhub.core.kit.errors import NotAllowed, Unauthenticated
from ctxhub.core.kit.served import identified
from ctxhub.mcp.addresses import is_direct
from ctxhub.metrics.shared_folder import VARIABLE, forget_dead_workers

HINT = "Set CTXHUB_METRICS_TOKEN and send it as Authorization: Bearer TOKEN, or ask on the hub's machine."


@csrf_exempt
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The metrics of all workers, as text for Prometheus."""
    if not (_has_token(request) or is_direct(request.META, getattr(request, "scope", {}))):
        return _refusal()
    from prometheus_client.exposition import choose_encoder

    forget_dead_workers()
    encode, media_type = choose_encoder(request.headers.get("Accept", ""))
    return HttpResponse(encode(_registry()), content_type=media_type, headers={"Cache-Control": "no-store"})


def _has_token(request: HttpRequest) -> bool:
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    known = settings.METRICS_TOKEN
    return bool(known) and kind.lower() == "bearer" and constant_time_compare(token.strip(), known)


def _refusal() -> HttpResponse:
    if not settings.METRICS_TOKEN:
        error = NotAllowed("Metrics are told to who connects from this machine without a proxy.", hint=HINT)
        return JsonResponse(identified(error.body()), status=403)
    error = Unauthenticated("Metrics need CTXHUB_METRICS_TOKEN.", hint="Send Authorization: Bearer TOKEN.")
    headers = {"WWW-Authenticate": 'Bearer realm="ctxhub"'}
    return JsonResponse(identified(error.body()), status=401, headers=headers)


@cache
def _registry() -> Any:
    """Of this process, or of all that share its folder; and what is stored."""
    from prometheus_client import CollectorRegistry
    from prometheus_client.multiprocess import MultiProcessCollector

    from ctxhub.metrics.counting import REGISTRY
    from ctxhub.metrics.stored import Stored

    if not os.environ.get(VARIABLE):
        REGISTRY.register(Stored())
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    registry.register(Stored())
    return registry
