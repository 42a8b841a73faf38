"""Maps every error to a REST response: the body `{"error", "message", "hint"?, ...}` and a status."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.core import exceptions as django
from django.http import Http404
from rest_framework import exceptions as rest
from rest_framework.response import Response

from ctxhub.core.kit.errors import (
    Conflict,
    CtxhubError,
    InvalidInput,
    LimitReached,
    NotAllowed,
    NotFound,
    Unauthenticated,
)
from ctxhub.core.kit.failures import Failure, failure_of, is_outage, log_failure
from ctxhub.core.kit.read_limit import too_much_work
from ctxhub.core.kit.served import identified
from ctxhub.core.refusals.services import count_refusal, is_refusal, ref_in
from ctxhub.rest.event_format import OnlyEvents
from ctxhub.rest.methods import GENERAL, UntakenMethod
from ctxhub.rest.project import speaking
from ctxhub.toolbox.rates import refusal_headers
from ctxhub.toolbox.stored_answers import UsedRequestId

STATUS = {"invalid": 400, "not_found": 404, "conflict": 409, "not_allowed": 403, "limit_reached": 409}
NEEDS_TOKEN = "Send the header Authorization: Bearer TOKEN (manage.py token create), or sign in at /admin/."  # noqa: S105
HINTS = {
    405: GENERAL,
    406: "Ask for application/json.",
    415: "Send JSON, with the header Content-Type: application/json.",
}


def answer_error(error: Exception, context: dict[str, Any]) -> Response:
    status, problem = translate(too_much_work(error) or error)
    count_refused_request(problem, context)
    is_conflict = isinstance(problem, Conflict) and not isinstance(problem, UsedRequestId)
    if is_conflict and _if_match_decides(context):
        status = 412
    headers = {}
    if authenticate := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = authenticate
    if "retry_after" in problem.details:
        headers["Retry-After"] = str(problem.details["retry_after"])
    headers |= refusal_headers(problem.details)
    response = Response(identified(problem.body()), status=status, headers=headers)
    if isinstance(problem, Failure):
        log_failure(context["request"].path, error)
        response._has_been_logged = True  # type: ignore[attr-defined]  # Else Django logs it again.
    return response


def translate(error: Exception) -> tuple[int, CtxhubError]:
    """The HTTP status and the CtxhubError for any exception."""
    match error:
        case rest.APIException(__cause__=CtxhubError() as cause):
            return translate(cause)
        case Unauthenticated():
            return 401, error
        case LimitReached() if "retry_after" in error.details:
            return 429, error
        case CtxhubError():
            return STATUS[error.code], error
        case Http404() | rest.NotFound():
            return 404, NotFound("There is nothing here.")
        case rest.NotAuthenticated():
            return 401, Unauthenticated("This hub needs a token.", hint=NEEDS_TOKEN)
        case rest.AuthenticationFailed():
            return 401, Unauthenticated(str(error.detail), hint=NEEDS_TOKEN)
        case rest.PermissionDenied():
            return 403, NotAllowed(str(error.detail))
        case django.PermissionDenied():
            return 403, NotAllowed("You may not do this.")
        case rest.APIException() if error.status_code < 500:
            return error.status_code, InvalidInput(str(error.detail), hint=_hint_of(error))
        case django.RequestDataTooBig():
            return 413, InvalidInput(
                f"The body has more than {settings.DATA_UPLOAD_MAX_MEMORY_SIZE:,} bytes."
            )
        case django.SuspiciousOperation():
            return 400, InvalidInput(str(error))
        case _:
            return 503 if is_outage(error) else 500, failure_of(error)


def _hint_of(error: rest.APIException) -> str:
    return error.hint if isinstance(error, UntakenMethod | OnlyEvents) else HINTS.get(error.status_code, "")


def count_refused_request(problem: CtxhubError, context: dict[str, Any]) -> None:
    """Count a refusal for the agent that speaks; before the project is known nobody does."""
    view, request = context["view"], context["request"]
    if not is_refusal(problem) or not hasattr(view, "caller"):
        return
    body: Any = None
    with suppress(Exception):  # It may be unreadable.
        body = request.data
    caller = view.caller
    with suppress(CtxhubError):
        caller = speaking(caller, request, body=body)
    names = {**(body if isinstance(body, Mapping) else {}), **view.kwargs}
    count_refusal(caller, problem, ref_in(names))


def _if_match_decides(context: dict[str, Any]) -> bool:
    return "If-Match" in context["request"].headers and getattr(context["view"], "has_versions", False)
