"""The admin of access tokens: created, shown once, rotated and revoked, never changed or deleted.

Administrators see those of the project, other members their own.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.html import format_html
from django.utils.module_loading import import_string
from unfold.decorators import display
from unfold.enums import ActionVariant

from ctxhub.console.access import access_of
from ctxhub.console.base import Menu, person
from ctxhub.console.columns import agent_cell, chips, column, mono, time_in_full
from ctxhub.console.connecting import connect_context
from ctxhub.console.filters import AgentFilter, ProjectFilter
from ctxhub.console.shown_once import ShownOnceAdmin
from ctxhub.console.token_form import CLIENTS, OwnTokenForm, RotateForm, TokenForm
from ctxhub.console.unfold_compat import DropdownFilter, action
from ctxhub.console.urls import in_project
from ctxhub.core.accounts.access_tokens import (
    UNUSED_AFTER,
    NewToken,
    create_token,
    in_state,
    owner_allows,
    revoke_token,
    with_owner_role,
)
from ctxhub.core.accounts.own_tokens import create_own_token, rotate_token
from ctxhub.core.kit.caller import ADMIN, READ
from ctxhub.core.models import AccessToken
from ctxhub.core.templatetags.moments import moment

STATES = {
    "usable": "success",
    "replaced": "info",
    "expired": "warning",
    "no member's": "danger",
    "revoked": "danger",
}
OF_PROJECT = (
    "A token of the project: it stays when whoever made it leaves. "
    '<a class="ctx-link" href="{}">Make one of your own instead</a>.'
)
OWN = (
    "Your own token: it speaks for one agent, does no more than your role allows, and ends with your "
    "membership. You can rotate and revoke it at any time."
)


def program_of(token: AccessToken) -> str:
    """What fetched it by a code, as it said of itself: `claude-code on laptop`; "" for one that was shown."""
    return " on ".join(part for part in (token.client, token.host) if part)


class UseFilter(DropdownFilter):
    title = parameter_name = "use"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("unused", f"not for {UNUSED_AFTER.days} days")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return in_state(queryset, "unused") if self.value() == "unused" else queryset


@admin.register(AccessToken)
class AccessTokenAdmin(ShownOnceAdmin):
    menu = Menu("Access", "key")
    when_empty = (
        "What agents and programs reach the hub with: a token is made here, with `manage.py token"
        " create`, or by a code that a program shows."
    )
    form = TokenForm
    change_form_outer_before_template = "ctxhub/token_top.html"
    view_scope = add_scope = READ
    shown_with = ("project", "agent")
    actions_detail = ("rotate", "revoke")
    revoke_template = "ctxhub/revoke_tokens.html"
    revoked_message = "Clients can no longer connect with {}."

    list_display = ("name", "begins", "speaks", "program", "whose", "may", "expires", "used", "state")
    list_filter = (ProjectFilter, AgentFilter, UseFilter)
    list_select_related = ("project", "agent", "created_by", "owner")
    search_fields = ("name", "start", "agent__name", "owner__username", "client", "host")
    search_help_text = "Name, beginning, agent, program, machine or whose"

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        if obj is None and self._is_own(request):
            return [(None, {"fields": ["client", "agent", "scopes", "lasts", "once"], "description": OWN})]
        if obj is None:
            own = in_project(self.url("add"), self.project_to_add_to(request), own=1)
            fields = ["name", "agent", "scopes", "lasts", "once"]
            return [(None, {"fields": fields, "description": format_html(OF_PROJECT, own)})]
        states = ["state", "program", "renewal", "created_by", "made_at", "ends_at", "used_at", "ended_at"]
        return [(None, {"fields": ["name", "begins", "project", "speaks", "whose", "may", *states]})]

    # -- Whose they are ----------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[AccessToken]:
        rows: QuerySet[AccessToken] = super().get_queryset(request)
        kept = Q(project__in=access_of(request).project_ids(ADMIN)) | Q(owner=request.user.pk)
        return with_owner_role(rows.filter(kept))

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if obj is None or obj.owner_id == request.user.pk:
            return self._may(request, READ, obj)
        return self._may(request, ADMIN, obj)

    def has_revoke_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return object_id is None or super().has_revoke_permission(request, object_id)

    def has_rotate_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        row = self.get_object(request, object_id) if object_id else None
        return row is not None and row.is_usable and row.replaced_by_id is None

    def get_actions_detail(self, request: HttpRequest, object_id: str) -> Sequence[Any]:
        """None in the bar on top, where phones hide them: the page itself has the buttons."""
        return []

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        allowed = {"Rotate": self.has_rotate_permission, "Revoke": self.has_revoke_permission}
        acts = {
            f"{name.lower()}_url": self.url(name.lower(), object_id)
            for name, may in allowed.items()
            if may(request, object_id)
        }
        return super().change_view(request, object_id, form_url, {**acts, **(extra_context or {})})

    def _is_own(self, request: HttpRequest) -> bool:
        """Whether a new token is the person's own: members make no others."""
        project = self.project_to_add_to(request)
        return "own" in request.GET or not access_of(request).may(ADMIN, project.pk if project else None)

    # -- Creating ----------------------------------------------------------------------------------

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> type[Any]:
        if obj is not None or not self._is_own(request):
            return super().get_form(request, obj, change=change, **kwargs)
        form: Any = super().get_form(request, obj, change=change, **{**kwargs, "form": OwnTokenForm})
        project = self.project_to_add_to(request)
        form.owner = request.user
        form.allowed = access_of(request).scopes.get(project.pk, frozenset()) if project else frozenset()
        return form  # type: ignore[no-any-return]

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        project = self.project_to_add_to(request)
        if project is None or not self._is_own(request):
            return super().add_view(request, form_url, extra_context)
        connect = f"Connect an agent of yours to {project}"
        joined = f"You belong to {project} now. Connect an agent of yours"
        title = joined if "joined" in request.GET else connect
        context = {
            "title": title,
            "form_heading": "With a token that you paste yourself",
            "project": project,
            **connect_context(request),
            **(extra_context or {}),
        }
        return super().add_view(request, form_url, context)

    def create(self, request: HttpRequest, form: Any) -> NewToken:
        user: Any = request.user
        if isinstance(form, OwnTokenForm):
            return create_own_token(caller=person(), owner=user, **form.arguments())
        return create_token(project=person().project, created_by=user, **form.arguments())

    def secret_page(self, request: HttpRequest, new: NewToken) -> HttpResponse:
        lines = import_string(settings.READY_LINES)(new, opened_at=request.build_absolute_uri("/"))
        chosen = dict(CLIENTS).get(request.POST.get("client", ""))
        others = {label for _, label in CLIENTS if label != chosen} if request.POST.get("client") else set()
        return self.page(
            request,
            "ctxhub/new_token.html",
            "The new token",
            new_token=new,
            lines=[line for line in lines if line.client not in others],
            done=self.url("changelist"),
        )

    def end(self, row: AccessToken) -> None:
        revoke_token(row)

    # -- Rotating ----------------------------------------------------------------------------------

    @action(description="Rotate", icon="autorenew", permissions=["rotate"], variant=ActionVariant.PRIMARY)
    def rotate(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Asks how long the old token stays good, and answers the POST with the page of the new one."""
        row = self.get_queryset(request).select_related("project", "agent").filter(pk=object_id).first()
        back = self.url("change", object_id)
        if row is None:
            return self.missing(request, object_id)
        form = RotateForm(request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid():
            new = self.try_to_write(
                request, row, lambda: self._rotate(request, row, form), partial(messages.error, request)
            )
            return self.secret_page(request, new) if new else HttpResponseRedirect(back)
        return self.page(request, "ctxhub/rotate_token.html", "Rotate", row=row, form=form, back=back)

    def _rotate(self, request: HttpRequest, row: AccessToken, form: RotateForm) -> NewToken:
        user: Any = request.user
        new = rotate_token(row, by=user, **form.arguments())
        self.log_change(request, row, f"Rotated to {new.row.pk}.")
        return new

    # -- Columns -----------------------------------------------------------------------------------

    begins = column("Begins with", lambda token: mono(f"{token.start}…"), ordering="start")
    speaks = column(
        "Agent", lambda token: agent_cell(token.agent) if token.agent else None, ordering="agent__name"
    )
    whose = column(
        "Whose",
        lambda token: token.owner.get_username() if token.owner else "the project's",
        ordering="owner__username",
    )
    program = column("Program", lambda token: program_of(token), ordering="host")
    renewal = column("Renews itself", lambda token: "once, in its last 30 days" if token.renews else "no")
    may = column("Scopes", lambda token: chips(token.scopes))
    expires = column("Expires", lambda token: moment(token.expires_at), ordering="expires_at")
    used = column("Last used", lambda token: moment(token.last_used_at), ordering="last_used_at")

    made_at = time_in_full("created_at", "Created")
    ends_at = time_in_full("expires_at", "Expires")
    used_at = time_in_full("last_used_at", "Last used")
    ended_at = time_in_full("revoked_at", "Revoked")

    @display(description="State", label=STATES)
    def state(self, token: AccessToken) -> str:
        if token.revoked_at:
            return "revoked"
        if not token.is_usable:
            return "expired"
        if not owner_allows(token):
            return "no member's"
        return "replaced" if token.replaced_by_id else "usable"
