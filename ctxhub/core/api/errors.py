"""Every error as a REST answer: one body everywhere, `{"error", "message", "hint"?, ...}`, and its status."""

import logging
from typing import Any, ClassVar

from django.conf import settings
from django.core import exceptions as django
from django.db import InterfaceError, OperationalError
from django.http import Http404
from rest_framework import exceptions as rest
from rest_framework.response import Response

from ctxhub.core.api.problems import refusal_of
from ctxhub.core.errors import (
    Conflict,
    CtxhubError,
    InvalidInput,
    LimitReached,
    NotAllowed,
    NotFound,
    Unauthenticated,
)
from ctxhub.core.services.stored_answers import UsedRequestId

logger = logging.getLogger(__name__)

STATUS = {"invalid": 400, "not_found": 404, "conflict": 409, "not_allowed": 403, "limit_reached": 409}
NEEDS_TOKEN = "Send the header Authorization: Bearer TOKEN (manage.py token create), or sign in at /admin/."  # noqa: S105
RETRY_SECONDS = 5
HINTS = {
    405: "/api/docs/ lists what each address takes.",
    406: "Ask for application/json.",
    415: "Send JSON, with the header Content-Type: application/json.",
}


class Failure(CtxhubError):
    """What should not happen; the log has the trace."""

    code: ClassVar[str] = "internal"


def answer_error(error: Exception, context: dict[str, Any]) -> Response:
    status, said = translate(error)
    if isinstance(said, Conflict) and not isinstance(said, UsedRequestId) and _if_match_decides(context):
        status = 412
    if isinstance(said, Failure):
        logger.error("%s failed", context["request"].path, exc_info=error)
    headers = {}
    if authenticate := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = authenticate
    if "retry_after" in said.details:
        headers["Retry-After"] = str(said.details["retry_after"])
    return Response(said.body(), status=status, headers=headers)


def translate(error: Exception) -> tuple[int, CtxhubError]:
    """The status and the words for an error, whoever raised it."""
    match error:
        case rest.APIException(__cause__=CtxhubError() as cause):
            return translate(cause)
        case Unauthenticated():
            return 401, error
        case LimitReached() if "retry_after" in error.details:
            return 429, error
        case CtxhubError():
            return STATUS[error.code], error
        case rest.ValidationError():
            return 400, refusal_of(error.detail)
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
            return error.status_code, InvalidInput(str(error.detail), hint=HINTS.get(error.status_code, ""))
        case django.RequestDataTooBig():
            return 413, InvalidInput(
                f"The body has more than {settings.DATA_UPLOAD_MAX_MEMORY_SIZE:,} bytes."
            )
        case django.SuspiciousOperation():
            return 400, InvalidInput(str(error))
        case OperationalError() | InterfaceError():
            return 503, Failure("The database does not answer; perhaps soon.", retry_after=RETRY_SECONDS)
        case _:
            return 500, Failure("The hub failed; its log says why. Nothing was written.")


def _if_match_decides(context: dict[str, Any]) -> bool:
    return "If-Match" in context["request"].headers and getattr(context["view"], "has_versions", False)
