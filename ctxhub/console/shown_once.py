"""The base admin of what has a secret: created, shown once and revoked, never changed or deleted."""

import secrets
from collections.abc import Sequence
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from unfold.enums import ActionVariant

from ctxhub.console.base import ProjectAdmin
from ctxhub.console.service_form import ServiceForm
from ctxhub.console.unfold_compat import action
from ctxhub.core.kit.caller import ADMIN

FORMS_REMEMBERED = 50


class ShownOnceForm(ServiceForm):
    """A form with an id of its own: submitted twice, it creates one row."""

    once = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.initial.setdefault("once", secrets.token_urlsafe(9))


class ShownOnceAdmin(ProjectAdmin):
    """A subclass creates the row in `create`, shows its secret in `secret_page`, and revokes it in `end`."""

    view_scope = add_scope = ADMIN
    change_scope: ClassVar[str | None] = None
    delete_scope: ClassVar[str | None] = None
    ordering = ("-created_at", "-pk")
    actions: Sequence[str] = ("revoke_selected",)
    actions_detail: Sequence[str] = ("revoke",)
    shown_with: ClassVar[Sequence[str]]  # What the confirmation names of each row.
    revoke_template: ClassVar[str]
    revoked_message: ClassVar[str]

    def create(self, request: HttpRequest, form: Any) -> Any:
        """Create the row and return it with its secret, as `.row` and `.secret`."""
        raise NotImplementedError

    def secret_page(self, request: HttpRequest, new: Any) -> HttpResponse:
        raise NotImplementedError

    def end(self, row: Any) -> None:
        raise NotImplementedError

    def is_revocable(self, row: Any) -> bool:
        return row.revoked_at is None

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Refuses lookups on the digest: filters in the URL could reveal it character by character."""
        return "digest" not in lookup and super().lookup_allowed(lookup, value, request)

    # -- Creating ----------------------------------------------------------------------------------

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Answers the POST with the page of the secret, so the secret is in no URL, message or session.

        Reloading that page sends the form again. Each form has a one-time id, so it creates only one row.
        """
        once = request.POST.get("once", "")
        if once and once in request.session.get("token_forms", []):
            messages.info(
                request,
                f"This {self.opts.verbose_name} has already been created. Its secret is shown only once.",
            )
            return HttpResponseRedirect(self.url("changelist"))
        only_save = {"show_save_and_add_another": False, "show_save_and_continue": False}
        return super().add_view(request, form_url, {**only_save, **(extra_context or {})})

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        new = self.create(request, form)
        obj.pk = new.row.pk
        obj.refresh_from_db()
        request.__dict__["ctxhub_new_secret"] = new
        used_forms = request.session.get("token_forms", [])
        request.session["token_forms"] = [*used_forms, form.cleaned_data["once"]][-FORMS_REMEMBERED:]

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponse:
        return self.secret_page(request, request.__dict__["ctxhub_new_secret"])

    # -- Revoking ----------------------------------------------------------------------------------

    def has_revoke_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        if object_id is None:
            return self._may(request, ADMIN, None)
        row = self.get_object(request, object_id)
        return row is not None and self.is_revocable(row)

    @action(description="Revoke", icon="block", permissions=["revoke"], variant=ActionVariant.DANGER)
    def revoke(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self._revoke(
            request, self.get_queryset(request).filter(pk=object_id), self.url("change", object_id)
        )

    @admin.action(description="Revoke the selected %(verbose_name_plural)s", permissions=["revoke"])
    def revoke_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        return self._revoke(request, queryset, self.url("changelist"))

    def _revoke(self, request: HttpRequest, rows: QuerySet[Any], back: str) -> HttpResponse:
        chosen: Sequence[Any] = list(rows.select_related(*self.shown_with))
        if not chosen:
            return HttpResponseRedirect(back)
        if "confirmed" not in request.POST:
            action_name = request.POST.get("action", "")
            return self.page(
                request, self.revoke_template, "Revoke", rows=chosen, back=back, action_name=action_name
            )

        def revoke(row: Any) -> None:
            self.end(row)
            self.log_change(request, row, "Revoked.")

        self.write_each(request, chosen, revoke)
        names = ", ".join(row.name for row in chosen)
        messages.success(
            request, f"Revoked: {names}. {self.revoked_message.format('it' if len(chosen) == 1 else 'them')}"
        )
        return HttpResponseRedirect(self.url("changelist"))
