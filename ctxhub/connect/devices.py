"""What programs on people's machines post: for codes, for tokens, and with a token for its renewal or end.

Requests and answers have the names of RFC 8628; a body is JSON or a form. Nobody is signed in here, and no
cookie is read.
"""

import json
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST

from ctxhub.core.accounts.access_tokens import NewToken, find_token, forget_tokens, revoke_token
from ctxhub.core.enrolment.asking import LASTS, begin, fetch
from ctxhub.core.enrolment.errors import NoTokens, TooFast
from ctxhub.core.enrolment.renewing import renew
from ctxhub.core.kit.base_url import base_url
from ctxhub.core.kit.clock import format_time, now
from ctxhub.core.kit.errors import InvalidInput, LimitReached, Unauthenticated
from ctxhub.core.kit.failures import log_failure
from ctxhub.rest.errors import translate

MOST_BYTES = 10_000
GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code"
Body = Mapping[str, Any]


def answering(view: Callable[[HttpRequest], dict[str, Any]]) -> Callable[[HttpRequest], HttpResponse]:
    """A view of a POST whose errors are JSON: `error`, `error_description` and, where it helps, `hint`."""

    @csrf_exempt
    @require_POST
    @never_cache
    @wraps(view)
    def answer(request: HttpRequest) -> HttpResponse:
        try:
            return JsonResponse(view(request))
        except TooFast as error:
            return _refusal(400, error.code, error.message, interval=error.interval)
        except NoTokens as error:
            return _refusal(400, error.code, error.message)
        except LimitReached as error:
            response = _refusal(429, "slow_down", error.message, hint=error.hint)
            response.headers["Retry-After"] = str(error.details["retry_after"])
            return response
        except Unauthenticated as error:
            response = _refusal(401, "invalid_token", error.message, hint=error.hint)
            response.headers["WWW-Authenticate"] = "Bearer"
            return response
        except Exception as error:
            status, problem = translate(error)
            if status >= 500:
                log_failure(request.path, error)
            code = "invalid_request" if isinstance(problem, InvalidInput) else problem.code
            return _refusal(status, code, problem.message, hint=problem.hint)

    return answer


def _refusal(status: int, error: str, description: str, **more: Any) -> JsonResponse:
    told = {name: value for name, value in more.items() if value}
    return JsonResponse({"error": error, "error_description": description, **told}, status=status)


@answering
def device(request: HttpRequest) -> dict[str, Any]:
    """`client` (one or a list), `host`, `user`, `agent` -> codes, the page to type one at, and the times."""
    body = _read(request, "client", "agent", "host", "user")
    clients = body.get("client", body.get("client_id", ""))
    codes = begin(
        clients=clients if isinstance(clients, list) else [clients],
        agent=body.get("agent", ""),
        host=body.get("host", ""),
        user=body.get("user", ""),
        address=request.META.get("REMOTE_ADDR", ""),
    )
    return {
        "device_code": codes.device_code,
        "user_code": codes.user_code,
        "verification_uri": _hub(request) + reverse("enrolment"),
        "expires_in": int(LASTS.total_seconds()),
        "interval": codes.row.interval,
    }


@answering
@sensitive_variables()
def token(request: HttpRequest) -> dict[str, Any]:
    """`device_code` -> `tokens`, one for each client, once; those of a single one stand beside it as well."""
    body = _read(request, "device_code", "grant_type")
    device_code, grant_type = body.get("device_code", ""), body.get("grant_type", GRANT_TYPE)
    if grant_type != GRANT_TYPE:
        raise InvalidInput(f"grant_type: {GRANT_TYPE}, or leave it out.")
    if not device_code:
        raise InvalidInput("device_code is missing.", missing=["device_code"])
    row, made = fetch(device_code)
    assert row.project
    tokens = [_told(new) for new in made]
    return {**tokens[0], "hub": _hub(request), "project": row.project.slug, "tokens": tokens}


@answering
@sensitive_variables()
def renewal(request: HttpRequest) -> dict[str, Any]:
    """The token in the header Authorization -> one in its place, for as long again."""
    new = renew(_bearer(request))
    return {**_told(new), "hub": _hub(request), "project": new.row.project.slug}


@answering
@sensitive_variables()
def revocation(request: HttpRequest) -> dict[str, Any]:
    """The token in the header Authorization is revoked, at once. One that is already, is so still."""
    row = find_token(_bearer(request))
    if row is None:
        raise Unauthenticated("The token is not known here.")
    revoke_token(row)
    forget_tokens()
    return {"revoked": True}


def _bearer(request: HttpRequest) -> str:
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise Unauthenticated("The token is missing.", hint="Authorization: Bearer ctx_...")
    return secret.strip()


def _told(new: NewToken) -> dict[str, Any]:
    row = new.row
    assert row.agent
    assert row.expires_at
    return {
        "access_token": new.secret,
        "token_type": "Bearer",
        "expires_in": int((row.expires_at - now()).total_seconds()),
        "expires": format_time(row.expires_at),
        "scope": " ".join(row.scopes),
        "client": row.client,
        "agent": row.agent.name,
        "renews": row.renews,
    }


def _hub(request: HttpRequest) -> str:
    root = request.build_absolute_uri(reverse("connect")).removesuffix("connect/")
    return base_url(root)


def _read(request: HttpRequest, *texts: str) -> Body:
    """The body as an object of texts; `client` may be a list of them. Raises InvalidInput."""
    content = request.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise InvalidInput(f"The body is longer than {MOST_BYTES:,} bytes.")
    if request.content_type == "application/json":
        body = _json(content)
    elif request.content_type not in ("", "application/x-www-form-urlencoded"):
        raise InvalidInput("Send JSON, or a form as application/x-www-form-urlencoded.")
    else:
        try:
            form = QueryDict(content, encoding="utf-8")
        except ValueError as error:
            raise InvalidInput(f"The body is no form: {error}.") from error
        body = {name: form.getlist(name) if name == "client" else form[name] for name in form}
    for name in texts:
        value = body.get(name, "")
        listed = value if name == "client" and isinstance(value, list) else [value]
        if not all(isinstance(each, str) for each in listed):
            raise InvalidInput(f"{name} is a text" + (", or a list of texts." if name == "client" else "."))
    return body


def _json(content: bytes) -> dict[str, Any]:
    try:
        body = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"The body is not JSON: {error}.") from error
    if not isinstance(body, dict):
        raise InvalidInput("The body is no JSON object.")
    return body
