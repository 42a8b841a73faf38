"""The admin of access tokens: they are created, shown once and revoked, never changed or deleted."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.module_loading import import_string
from django.utils.safestring import SafeString
from unfold.decorators import display
from unfold.enums import ActionVariant

from ctxhub.core.accounts.services.access_tokens import NewToken, create_token, revoke_token
from ctxhub.core.admin.base import Menu, ProjectAdmin, person
from ctxhub.core.admin.columns import chips, mono, time_in_full
from ctxhub.core.admin.filters import AgentFilter, ProjectFilter
from ctxhub.core.admin.token_form import TokenForm
from ctxhub.core.admin.unfold_compat import action
from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.models import AccessToken
from ctxhub.core.templatetags.moments import moment

STATES = {"usable": "success", "expired": "warning", "revoked": "danger"}
FORMS_REMEMBERED = 50


@admin.register(AccessToken)
class AccessTokenAdmin(ProjectAdmin):
    menu = Menu("Access", "key")
    view_scope = add_scope = ADMIN
    change_scope = delete_scope = None
    form = TokenForm

    list_display = ("name", "begins", "agent", "may", "expires", "used", "state")
    list_filter = (ProjectFilter, AgentFilter)
    list_select_related = ("project", "agent", "created_by")
    search_fields = ("name", "start", "agent__name")
    search_help_text = "Name, beginning or agent"
    ordering = ("-created_at", "-pk")
    actions = ("revoke_selected",)
    actions_detail = ("revoke",)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        if obj is None:
            return [(None, {"fields": ["name", "agent", "scopes", "lasts", "once"]})]
        times = ["made_at", "ends_at", "used_at", "ended_at"]
        return [
            (None, {"fields": ["name", "begins", "project", "agent", "may", "state", "created_by", *times]})
        ]

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Refuses lookups on the digest: filters in the URL could reveal it character by character."""
        return "digest" not in lookup and super().lookup_allowed(lookup, value, request)

    # -- Creating ----------------------------------------------------------------------------------

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Answers the POST with the page of the secret, so the secret is in no URL, message or session.

        Reloading that page sends the form again. Each form has a one-time id, so it creates only one token.
        """
        once = request.POST.get("once", "")
        if once and once in request.session.get("token_forms", []):
            messages.info(request, "This token has already been created. Its secret is shown only once.")
            return HttpResponseRedirect(self.url("changelist"))
        only_save = {"show_save_and_add_another": False, "show_save_and_continue": False}
        return super().add_view(request, form_url, {**only_save, **(extra_context or {})})

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        user: Any = request.user
        new_token = create_token(project=person().project, created_by=user, **form.arguments())
        obj.pk = new_token.row.pk
        obj.refresh_from_db()
        request.__dict__["ctxhub_new_token"] = new_token
        used_forms = request.session.get("token_forms", [])
        request.session["token_forms"] = [*used_forms, form.cleaned_data["once"]][-FORMS_REMEMBERED:]

    def response_add(
        self, request: HttpRequest, obj: AccessToken, post_url_continue: str | None = None
    ) -> HttpResponse:
        new_token: NewToken = request.__dict__["ctxhub_new_token"]
        ready_lines = import_string(settings.READY_LINES)
        opened_at = request.build_absolute_uri("/")
        lines = ready_lines(new_token.secret, pinned=new_token.row.agent is not None, opened_at=opened_at)
        return self.page(
            request,
            "ctxhub/new_token.html",
            "The new token",
            new_token=new_token,
            lines=lines,
            done=self.url("changelist"),
        )

    # -- Revoking ----------------------------------------------------------------------------------

    def has_revoke_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        if object_id is None:
            return self._may(request, ADMIN, None)
        token = self.get_object(request, object_id)
        return token is not None and token.revoked_at is None

    @action(description="Revoke", icon="block", permissions=["revoke"], variant=ActionVariant.DANGER)
    def revoke(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self._revoke(
            request, self.get_queryset(request).filter(pk=object_id), self.url("change", object_id)
        )

    @admin.action(description="Revoke the selected tokens", permissions=["revoke"])
    def revoke_selected(self, request: HttpRequest, queryset: QuerySet[AccessToken]) -> HttpResponse | None:
        return self._revoke(request, queryset, self.url("changelist"))

    def _revoke(self, request: HttpRequest, tokens: QuerySet[AccessToken], back: str) -> HttpResponse:
        chosen: Sequence[AccessToken] = list(tokens.select_related("project", "agent"))
        if not chosen:
            return HttpResponseRedirect(back)
        if "confirmed" not in request.POST:
            return self.page(
                request,
                "ctxhub/revoke_tokens.html",
                "Revoke",
                rows=chosen,
                back=back,
                action_name=request.POST.get("action", ""),
            )

        def revoke(token: AccessToken) -> None:
            revoke_token(token)
            self.log_change(request, token, "Revoked.")

        self.write_each(request, chosen, revoke)
        names = ", ".join(token.name for token in chosen)
        pronoun = "it" if len(chosen) == 1 else "them"
        messages.success(request, f"Revoked: {names}. Clients can no longer connect with {pronoun}.")
        return HttpResponseRedirect(self.url("changelist"))

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
