"""The pages of a link with which a person chooses a new password, without mail.

As with an invitation, the secret leaves the address at once and is remembered in the session, and what uses
the link up is a form.
"""

from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from ctxhub.console.joining import private
from ctxhub.core.accounts.sign_in import count_attempt, refuse_after_failure
from ctxhub.core.kit.errors import Conflict, LimitReached, NotFound
from ctxhub.core.leavers.password_links import choose_password, find_by_password_link

SESSION_KEY = "password_link"
UNKNOWN = "This link is not valid. Ask an administrator of the hub for a new one."


@require_safe
def follow_link(request: HttpRequest, secret: str) -> HttpResponseBase:
    try:
        find_by_password_link(secret)
    except NotFound:
        return _unknown(request)
    except Conflict as error:
        return _refusal(request, error.message)
    request.session[SESSION_KEY] = secret
    return private(HttpResponseRedirect(reverse("password")), "no-referrer")


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def show(request: HttpRequest) -> HttpResponseBase:
    secret = request.session.get(SESSION_KEY, "")
    try:
        user = find_by_password_link(secret)
        form = SetPasswordForm(user, request.POST if request.method == "POST" else None)
        if request.method != "POST" or not form.is_valid():
            return _page(request, user, form=form)
        choose_password(secret, form.cleaned_data["new_password1"])
    except NotFound:
        return _refusal(request, UNKNOWN, status=404)
    except Conflict as error:  # It was used meanwhile, or the person was deactivated.
        request.session.pop(SESSION_KEY, None)
        return _refusal(request, error.message)
    request.session.pop(SESSION_KEY, None)
    return _page(request, user, is_done=True)


def _unknown(request: HttpRequest) -> HttpResponseBase:
    """Counts as a failed sign-in from the address, so that nobody can try secrets."""
    attempt = {"name": "link for a password", "address": request.META.get("REMOTE_ADDR", "")}
    try:
        count_attempt(**attempt)
        refuse_after_failure(**attempt)
    except LimitReached as error:
        return _refusal(request, error.message, status=429)
    return _refusal(request, UNKNOWN, status=404)


def _refusal(request: HttpRequest, reason: str, status: int = 410) -> HttpResponse:
    return private(render(request, "ctxhub/password_closed.html", {"reason": reason}, status=status))


def _page(request: HttpRequest, person: User, **context: object) -> HttpResponse:
    return private(render(request, "ctxhub/password.html", {"person": person, **context}))
