"""The pages of an invitation's link, where a person joins a project with a new or an existing account.

The link only leads here: its secret leaves the address at once, and who follows it is remembered in the
session. What uses it up is a form, so that programs that look at links do not.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib.auth import login
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from ctxhub.console.secret_links import SecretLink, private
from ctxhub.console.urls import in_project
from ctxhub.console.usernames import limit_username
from ctxhub.core.accounts.people import SUPERUSER, check_username, find_role, refuse_taken_username
from ctxhub.core.accounts.projects import find_invitation, join, why_closed
from ctxhub.core.accounts.sign_in import clear_failures, count_attempt, refuse_after_failure
from ctxhub.core.kit.errors import Conflict, LimitReached, NotFound
from ctxhub.core.models import Invitation, Membership

SESSION_KEY = "invitation"
LINK = SecretLink(
    page="invitation",
    attempt="invitation",
    title="Invitation",
    closed="You cannot join with this link",
    unknown="This link is not valid. Ask whoever sent it for a new one.",
)
TAKEN = "This name is taken. Choose another one."


if TYPE_CHECKING:
    CreationForm = UserCreationForm[User]
else:
    CreationForm = UserCreationForm


class JoinForm(CreationForm):
    """A name and a password of one's own. Nobody can take the name of an agent, as whom they would act."""

    invitation: Invitation

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        limit_username(self.fields["username"])

    def clean_username(self) -> str:
        username: str = super().clean_username()  # None if an account has the name.
        if username:
            _refuse_taken(lambda: refuse_taken_username(username, project_ids=[self.invitation.project_id]))
        return username

    def create_user(self) -> User:
        self.instance.is_staff = True
        return self.save()


class NewNameForm(forms.ModelForm):  # type: ignore[type-arg]
    """Another name for an account whose name an agent of the project has."""

    invitation: Invitation

    class Meta:
        model = User
        fields = ("username",)
        labels: ClassVar = {"username": "Your new name"}
        help_texts: ClassVar = {"username": "You sign in with it from now on, in all your projects."}

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        limit_username(self.fields["username"])

    def clean_username(self) -> str:
        username: str = self.cleaned_data["username"]
        user = User.objects.get(pk=self.instance.pk)
        joins = [self.invitation.project_id]
        _refuse_taken(lambda: check_username(user, username, joins=joins))
        return username


def _refuse_taken(check: Callable[[], None]) -> None:
    try:
        check()
    except Conflict as error:
        raise forms.ValidationError(TAKEN) from error


@require_safe
def follow_link(request: HttpRequest, secret: str) -> HttpResponseBase:
    try:
        invitation = find_invitation(secret)
    except NotFound:
        return LINK.refuse_unknown(request)
    if reason := why_closed(invitation):
        return LINK.refuse(request, reason)
    request.session[SESSION_KEY] = invitation.pk
    return LINK.follow()


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def show(request: HttpRequest) -> HttpResponseBase:
    rows = Invitation.unscoped.select_related("project", "created_by")
    invitation = rows.filter(pk=request.session.get(SESSION_KEY, 0)).first()
    if invitation is None:
        return LINK.refuse(request, LINK.unknown, status=404)
    if reason := why_closed(invitation):
        del request.session[SESSION_KEY]
        return LINK.refuse(request, reason)
    try:
        user: Any = request.user
        return (
            _for_user(request, invitation, user) if user.is_authenticated else _for_guest(request, invitation)
        )
    except Conflict as error:  # Somebody else used it meanwhile.
        return LINK.refuse(request, error.message)


def _for_user(request: HttpRequest, invitation: Invitation, user: User) -> HttpResponseBase:
    role = find_role(user, invitation.project_id)
    has_it = role == SUPERUSER or (role is not None and Membership.Role[role.upper()] >= invitation.role)
    if has_it:
        return _page(request, invitation, role=role, has_it=True)
    if _is_taken(invitation, user):
        return _for_namesake(request, invitation, user)
    if request.method == "POST":
        return _joined(request, join(invitation, lambda: user), invitation)
    return _page(request, invitation, role=role)


def _is_taken(invitation: Invitation, user: User) -> bool:
    """Whether the person would act as an agent of the project, or as somebody else there."""
    try:
        check_username(user, user.get_username(), joins=[invitation.project_id])
    except Conflict:
        return True
    return False


def _for_namesake(request: HttpRequest, invitation: Invitation, user: User) -> HttpResponseBase:
    """Ask for another name, under which the account signs in from then on."""
    was = user.get_username()
    form = NewNameForm(request.POST if request.method == "POST" else None, instance=user)
    form.invitation = invitation
    if request.method == "POST" and form.is_valid():
        return _joined(request, join(invitation, form.save), invitation)
    user.username = was
    return _page(request, invitation, form=form, namesake=was)


def _for_guest(request: HttpRequest, invitation: Invitation) -> HttpResponseBase:
    form = JoinForm(request.POST if request.method == "POST" else None)
    form.invitation = invitation
    if request.method != "POST":
        return _page(request, invitation, form=form)
    attempt = {"name": invitation.ref, "address": request.META.get("REMOTE_ADDR", "")}
    try:
        count_attempt(**attempt)
        if form.is_valid():
            user = join(invitation, form.create_user)
            clear_failures(**attempt)
            login(request, user)
            return _joined(request, user, invitation)
        refuse_after_failure(**attempt)
    except LimitReached as error:
        form.add_error(None, error.message)
    return _page(request, invitation, form=form)


def _joined(request: HttpRequest, user: User, invitation: Invitation) -> HttpResponseBase:
    request.session.pop(SESSION_KEY, None)
    page = reverse("admin:core_accesstoken_add")
    return HttpResponseRedirect(in_project(page, invitation.project, own=1, joined=1))


def _page(request: HttpRequest, invitation: Invitation, **context: Any) -> HttpResponseBase:
    return private(render(request, "ctxhub/invitation.html", {"invitation": invitation, **context}))
