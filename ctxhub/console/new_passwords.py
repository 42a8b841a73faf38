"""The pages of a link with which a person chooses a new password, without mail.

As with an invitation, the secret leaves the address at once and is remembered in the session, and what uses
the link up is a form.
"""

from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from ctxhub.console.secret_links import SecretLink, private
from ctxhub.core.kit.errors import Conflict, NotFound
from ctxhub.core.leavers.password_links import choose_password, find_by_password_link

SESSION_KEY = "password_link"
LINK = SecretLink(
    page="password",
    attempt="link for a password",
    title="New password",
    closed="You cannot choose a password with this link",
    unknown="This link is not valid. Ask an administrator of the hub for a new one.",
)


@require_safe
def follow_link(request: HttpRequest, secret: str) -> HttpResponseBase:
    try:
        find_by_password_link(secret)
    except NotFound:
        return LINK.refuse_unknown(request)
    except Conflict as error:
        return LINK.refuse(request, error.message)
    request.session[SESSION_KEY] = secret
    return LINK.follow()


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
        return LINK.refuse(request, LINK.unknown, status=404)
    except Conflict as error:  # It was used meanwhile, or the person was deactivated.
        request.session.pop(SESSION_KEY, None)
        return LINK.refuse(request, error.message)
    request.session.pop(SESSION_KEY, None)
    return _page(request, user, is_done=True)


def _page(request: HttpRequest, person: User, **context: object) -> HttpResponse:
    return private(render(request, "ctxhub/password.html", {"person": person, **context}))
