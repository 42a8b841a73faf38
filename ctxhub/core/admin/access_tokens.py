"""The admin of access tokens: they are created, shown once and revoked, never changed or deleted."""

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.module_loading import import_string
from django.utils.safestring import SafeString
from unfold.decorators import display

from ctxhub.core.accounts.services.access_tokens import NewToken, create_token, revoke_token
from ctxhub.core.admin.base import Menu, person
from ctxhub.core.admin.columns import chips, mono, time_in_full
from ctxhub.core.admin.filters import AgentFilter, ProjectFilter
from ctxhub.core.admin.shown_once import ShownOnceAdmin
from ctxhub.core.admin.token_form import TokenForm
from ctxhub.core.models import AccessToken
from ctxhub.core.templatetags.moments import moment

STATES = {"usable": "success", "expired": "warning", "revoked": "danger"}


@admin.register(AccessToken)
class AccessTokenAdmin(ShownOnceAdmin):
    menu = Menu("Access", "key")
    when_empty = (
        "Agents and programs reach the hub with a token, which you make here or with manage.py token create."
    )
    form = TokenForm
    shown_with = ("project", "agent")
    revoke_template = "ctxhub/revoke_tokens.html"
    revoked_message = "Clients can no longer connect with {}."

    list_display = ("name", "begins", "agent", "may", "expires", "used", "state")
    list_filter = (ProjectFilter, AgentFilter)
    list_select_related = ("project", "agent", "created_by")
    search_fields = ("name", "start", "agent__name")
    search_help_text = "Name, beginning or agent"

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        if obj is None:
            return [(None, {"fields": ["name", "agent", "scopes", "lasts", "once"]})]
        times = ["made_at", "ends_at", "used_at", "ended_at"]
        return [
            (None, {"fields": ["name", "begins", "project", "agent", "may", "state", "created_by", *times]})
        ]

    def create(self, request: HttpRequest, form: Any) -> NewToken:
        user: Any = request.user
        return create_token(project=person().project, created_by=user, **form.arguments())

    def secret_page(self, request: HttpRequest, new: NewToken) -> HttpResponse:
        ready_lines = import_string(settings.READY_LINES)
        opened_at = request.build_absolute_uri("/")
        lines = ready_lines(new.secret, pinned=new.row.agent is not None, opened_at=opened_at)
        return self.page(
            request,
            "ctxhub/new_token.html",
            "The new token",
            new_token=new,
            lines=lines,
            done=self.url("changelist"),
        )

    def end(self, row: AccessToken) -> None:
        revoke_token(row)

    # -- Columns -----------------------------------------------------------------------------------

    @display(description="Begins with", ordering="start")
    def begins(self, token: AccessToken) -> SafeString:
        return mono(f"{token.start}…")

    @display(description="Scopes")
    def may(self, token: AccessToken) -> SafeString | str:
        return chips(token.scopes)

    @display(description="Expires", ordering="expires_at")
    def expires(self, token: AccessToken) -> SafeString | str:
        return moment(token.expires_at)

    @display(description="Last used", ordering="last_used_at")
    def used(self, token: AccessToken) -> SafeString | str:
        return moment(token.last_used_at)

    made_at = time_in_full("created_at", "Created")
    ends_at = time_in_full("expires_at", "Expires")
    used_at = time_in_full("last_used_at", "Last used")
    ended_at = time_in_full("revoked_at", "Revoked")

    @display(description="State", label=STATES)
    def state(self, token: AccessToken) -> str:
        if token.revoked_at:
            return "revoked"
        return "usable" if token.is_usable else "expired"
