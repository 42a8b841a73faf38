"""Authentication of REST requests by access token. People signed in to the admin use their session."""

from typing import Any

from rest_framework import authentication, exceptions
from rest_framework.request import Request

from ctxhub.core.accounts.access_tokens import authenticate
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError, Unauthenticated
from ctxhub.toolbox.rates import rate_headers

# On the request of Django: the headers of the rate limit, for the answer.
RATE = "ctxhub_rate"


class TokenBearer:
    """The `request.user` of a request with a token; `request.auth` is its Caller."""

    is_authenticated = True
    is_active = True
    is_anonymous = False
    is_staff = is_superuser = False
    pk = None

    def __str__(self) -> str:
        return "access token"

    def get_username(self) -> str:
        return str(self)


class BearerToken(authentication.BaseAuthentication):
    """`Authorization: Bearer TOKEN`."""

    def authenticate(self, request: Request) -> tuple[Any, Caller] | None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        # DRF authenticates again while rendering, unless its own exceptions are raised.
        try:
            caller = authenticate(token.strip())
        except Unauthenticated as error:
            raise exceptions.AuthenticationFailed from error
        except CtxhubError as error:
            raise exceptions.APIException from error
        setattr(request._request, RATE, rate_headers(caller.token_id))
        return TokenBearer(), caller

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="ctxhub"'
