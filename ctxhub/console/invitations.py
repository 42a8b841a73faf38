"""The admin of invitations: links with which people join a project, shown once and revocable."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from ctxhub.console.base import Menu, person
from ctxhub.console.columns import column, time_in_full
from ctxhub.console.filters import ProjectFilter
from ctxhub.console.shown_once import ShownOnceAdmin, ShownOnceForm
from ctxhub.core.accounts.projects import NewInvitation, invite, revoke_invitation
from ctxhub.core.kit.base_url import base_url
from ctxhub.core.kit.inputs import WORD_LENGTH, read_id
from ctxhub.core.models import Invitation, Membership
from ctxhub.core.templatetags.moments import moment

STATES = {"open": "success", "used": "info", "expired": "warning", "revoked": "danger"}


class InvitationForm(ShownOnceForm):
    name = forms.CharField(
        max_length=WORD_LENGTH,
        label="For",
        widget=UnfoldAdminTextInputWidget,
        help_text="Whom it is for, as a note to yourselves: Grace. They choose their own name and password.",
    )
    role = forms.TypedChoiceField(
        choices=(
            (Membership.Role.VIEWER, "viewer: can read"),
            (Membership.Role.MEMBER, "member: can read and write"),
            (Membership.Role.ADMIN, "admin: can do everything in the project, invite others included"),
        ),
        coerce=int,
        widget=UnfoldAdminSelectWidget,
    )


@admin.register(Invitation)
class InvitationAdmin(ShownOnceAdmin):
    menu = Menu("Access", "person_add")
    form = InvitationForm
    shown_with = ("project",)
    revoke_template = "ctxhub/revoke_invitations.html"
    revoked_message = "Nobody can join with {}."
    when_empty = (
        "Links that give colleagues a role in the project: an admin makes one here, and it works once,"
        " for 72 hours."
    )

    list_display = ("name", "role", "inviter", "created", "expires", "used", "state")
    list_filter = (ProjectFilter,)
    list_select_related = ("project", "created_by", "used_by")
    search_fields = ("name", "created_by__username", "used_by__username")
    search_help_text = "For whom, by whom"

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        if obj is None:
            return [(None, {"fields": ["name", "role", "once"]})]
        times = ["made_at", "ends_at", "taken_at", "ended_at"]
        return [
            (None, {"fields": ["name", "project", "role", "state", "created_by", "used_by", *times]}),
        ]

    def is_revocable(self, row: Invitation) -> bool:
        return row.state == "open"

    def create(self, request: HttpRequest, form: Any) -> NewInvitation:
        user: Any = request.user
        role = Membership.Role(form.cleaned_data["role"])
        return invite(caller=person(), name=form.cleaned_data["name"], role=role, created_by=user)

    def secret_page(self, request: HttpRequest, new: NewInvitation) -> HttpResponse:
        link = base_url(request.build_absolute_uri("/")) + reverse("invitation_link", args=[new.secret])
        return self.page(
            request,
            "ctxhub/new_invitation.html",
            "The new invitation",
            invitation=new.row,
            link=link,
            back=self.url("changelist"),
            back_to="All invitations",
        )

    def end(self, row: Invitation) -> None:
        revoke_invitation(row, caller=person())

    # -- Columns -----------------------------------------------------------------------------------

    inviter = column("By", lambda row: str(row.created_by or ""), ordering="created_by__username")
    created = column("Created", lambda row: moment(row.created_at), ordering="created_at")
    expires = column("Expires", lambda row: moment(row.expires_at), ordering="expires_at")
    used = column("Used by", lambda row: str(row.used_by or ""), ordering="used_by__username")

    made_at = time_in_full("created_at", "Created")
    ends_at = time_in_full("expires_at", "Expires")
    taken_at = time_in_full("used_at", "Used")
    ended_at = time_in_full("revoked_at", "Revoked")

    state = column("State", lambda row: row.state, label=STATES)


def page_of_invitation(project_id: int, name: str) -> str | None:
    row_id = read_id(name)
    exists = row_id and Invitation.objects.in_project(project_id).filter(pk=row_id).exists()
    return reverse("admin:core_invitation_change", args=[row_id]) if exists else None
