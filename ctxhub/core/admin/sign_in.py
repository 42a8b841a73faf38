"""The form that people sign in with, and the list of failed sign-ins, for superusers."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.safestring import SafeString
from unfold.decorators import display
from unfold.forms import AuthenticationForm

from ctxhub.core.accounts.services.sign_in import clear_failures, count_attempt, refuse_after_failure
from ctxhub.core.admin.base import Menu
from ctxhub.core.admin.people import SuperusersOnly
from ctxhub.core.kit.errors import LimitReached
from ctxhub.core.models import SignInFailure
from ctxhub.core.templatetags.moments import moment


class SignInForm(AuthenticationForm):
    """Refuses an attempt during a wait, whatever its password, and equally for known and unknown names."""

    def clean(self) -> dict[str, Any]:
        name = self.cleaned_data.get("username")
        if not name or not self.cleaned_data.get("password"):
            return super().clean()
        address = self.request.META.get("REMOTE_ADDR", "") if self.request else ""
        who = {"name": name, "address": address}
        try:
            count_attempt(**who)
            cleaned = self._check_password(who)
        except LimitReached as error:
            raise forms.ValidationError(error.message, code="too_many") from error
        clear_failures(**who)
        return cleaned

    def _check_password(self, who: dict[str, str]) -> dict[str, Any]:
        try:
            return super().clean()
        except forms.ValidationError:
            refuse_after_failure(**who)
            raise


admin.site.login_form = SignInForm


@admin.register(SignInFailure)
class SignInFailureAdmin(SuperusersOnly):
    menu = Menu("Access", "lock")
    list_display = ("name", "address", "count", "last", "refused_until")
    search_fields = ("name", "address")
    ordering = ("-last_at", "-pk")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_change_permission = has_delete_permission = has_add_permission

    @display(description="Last", ordering="last_at")
    def last(self, row: SignInFailure) -> SafeString | str:
        return moment(row.last_at)

    @display(description="Refused until", ordering="until")
    def refused_until(self, row: SignInFailure) -> SafeString | str:
        return moment(row.until) if row.until else ""
