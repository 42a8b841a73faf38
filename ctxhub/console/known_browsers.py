"""Browsers that somebody has signed in with: a signed cookie names who, for the sign-in page alone.

Anybody can use up the failures that a name may have. Who has signed in before is not kept out by that.
"""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.core import signing
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponseBase

COOKIE = SALT = "ctxhub_known"
REMEMBERED_SECONDS = 400 * 24 * 3600  # Browsers keep no cookie for longer.


def is_known(request: HttpRequest | None, name: str) -> bool:
    """Whether this browser has signed in with the name."""
    if request is None or not (cookie := request.COOKIES.get(COOKIE)):
        return False
    try:
        known = signing.loads(cookie, salt=SALT, max_age=REMEMBERED_SECONDS)
    except signing.BadSignature:
        return False
    return bool(known == name.casefold())


class KnownBrowsers:
    """Gives the cookie with the answer to a sign-in."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if name := request.__dict__.get("ctxhub_signed_in"):
            response.set_cookie(
                COOKIE,
                signing.dumps(name.casefold(), salt=SALT),
                max_age=REMEMBERED_SECONDS,
                path=settings.LOGIN_URL,
                secure=settings.SESSION_COOKIE_SECURE,
                httponly=True,
                samesite="Lax",
            )
        return response


@receiver(user_logged_in, dispatch_uid="note_sign_in")
def note_sign_in(request: HttpRequest | None, user: User, **_: Any) -> None:
    if request is not None:
        request.__dict__["ctxhub_signed_in"] = user.get_username()
