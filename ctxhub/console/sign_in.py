"""The form that people sign in with, and the list of failed sign-ins, for superusers."""

from typing import Any, TypedDict

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.forms import AuthenticationForm

from ctxhub.console.base import Menu
from ctxhub.console.columns import column
from ctxhub.console.known_browsers import is_known
from ctxhub.console.people import SuperusersOnly
from ctxhub.core.accounts.sign_in import (
    Flood,
    clear_failures,
    count_attempt,
    forget_failures,
    list_floods,
    refuse_after_failure,
)
from ctxhub.core.kit.errors import LimitReached
from ctxhub.core.models import SignInFailure
from ctxhub.core.templatetags.moments import moment
from ctxhub.core.text.plurals import counted


class Attempt(TypedDict):
    name: str
    address: str
    is_known: bool


class SignInForm(AuthenticationForm):
    """Refuses an attempt during a wait, whatever its password, and equally for known and unknown names."""

    def clean(self) -> dict[str, Any]:
        name = self.cleaned_data.get("username")
        if not name or not self.cleaned_data.get("password"):
            return super().clean()
        address = self.request.META.get("REMOTE_ADDR", "") if self.request else ""
        who = Attempt(name=name, address=address, is_known=is_known(self.request, name))
        try:
            count_attempt(**who)
            cleaned = self._check_password(who)
        except LimitReached as error:
            raise forms.ValidationError(error.message, code="too_many") from error
        clear_failures(name=name, address=address)
        return cleaned

    def _check_password(self, who: "Attempt") -> dict[str, Any]:
        try:
            return super().clean()
        except forms.ValidationError:
            refuse_after_failure(**who)
            raise


@admin.register(SignInFailure)
class SignInFailureAdmin(SuperusersOnly):
    menu = Menu("Access", "lock")
    when_empty = "Wrong passwords are counted here by name and address until the right one comes, or a day."
    list_display = ("name", "address", "count", "last", "refused_until")
    search_fields = ("name", "address")
    ordering = ("-last_at", "-pk")
    actions = ("forget",)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_change_permission = has_delete_permission = has_add_permission

    @admin.action(description="Forget them, and end their wait", permissions=["view"])
    def forget(self, request: HttpRequest, rows: QuerySet[SignInFailure]) -> None:
        number = forget_failures(rows)
        messages.success(request, f"Forgot {counted(number, 'counts')}: nobody waits for them any more.")

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if request.method == "GET" and self.has_view_permission(request):
            for flood in list_floods():
                messages.warning(request, _sentence(flood))
        response: HttpResponse = super().changelist_view(request, extra_context)
        return response

    last = column("Last", lambda row: moment(row.last_at), ordering="last_at")
    refused_until = column(
        "Refused until", lambda row: moment(row.until) if row.until else "", ordering="until"
    )


def _sentence(flood: Flood) -> str:
    whose = "as" if flood.part == "name" else "from"
    return (
        f"{flood.failures} attempts {whose} {flood.value} have failed within 15 minutes: more are refused "
        f"until {timezone.localtime(flood.until):%H:%M}, except from browsers that have signed in before."
    )
