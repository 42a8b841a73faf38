"""The page at which a signed-in person types the code that a program shows, sees who asks, and decides.

The code is typed and never in an address: a link that others send cannot carry it. Which program it belongs
to is remembered in the session until the decision.
"""

from collections.abc import Collection
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from ctxhub.console.access import access_of
from ctxhub.core.accounts.config import read_config
from ctxhub.core.accounts.people import find_person
from ctxhub.core.enrolment.deciding import DAYS, approve, find_waiting, refuse, short_name
from ctxhub.core.enrolment.models import Enrolment
from ctxhub.core.kit.caller import ADMIN, READ, WRITE
from ctxhub.core.kit.errors import CtxhubError, LimitReached, NotAllowed
from ctxhub.core.kit.inputs import WORD_LENGTH
from ctxhub.core.models import Project

SESSION_KEY = "enrolment"
SCOPES = ((READ, "read"), (WRITE, "write"), (ADMIN, "admin: delete, prune, configure, import"))
LASTS = tuple((str(days), "a year" if days == 365 else f"{days} days") for days in DAYS)


class CodeForm(forms.Form):
    code = forms.CharField(
        max_length=100,
        label="The code that the program shows",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "autofocus": True}),
    )


class DecisionForm(forms.Form):
    """What is approved: the project, an agent for each client, what the tokens may do and how long."""

    project = forms.ModelChoiceField(Project.objects.none(), to_field_name="slug", empty_label=None)
    scopes = forms.MultipleChoiceField(
        choices=SCOPES, initial=[READ, WRITE], widget=forms.CheckboxSelectMultiple, label="They may"
    )
    days = forms.TypedChoiceField(choices=LASTS, initial="90", coerce=int, label="Valid for")
    renews = forms.BooleanField(
        required=False, initial=True, label="Each may renew itself before it ends, for as long again"
    )

    def __init__(
        self,
        *arguments: Any,
        row: Enrolment,
        projects: Collection[int],
        scopes: Collection[str],
        **options: Any,
    ) -> None:
        """`projects`: the ids of those that may be chosen; `scopes`: those that the person has in any."""
        super().__init__(*arguments, **options)
        self.label_suffix = ""
        field: Any = self.fields["project"]
        field.queryset = Project.objects.filter(pk__in=projects)
        allowed: Any = self.fields["scopes"]
        allowed.choices = [choice for choice in SCOPES if choice[0] in scopes]
        self.agent_fields = {client: f"agent_{number}" for number, client in enumerate(row.clients)}
        for client, name in self.agent_fields.items():
            self.fields[name] = forms.CharField(
                required=False,
                max_length=WORD_LENGTH,
                label=f"Agent of {client}",
                initial=row.agent if len(row.clients) == 1 else "",
                help_text=f"If empty, your name and {short_name(client)}.",
            )
        self.order_fields(["project", *self.agent_fields.values(), "scopes", "days", "renews"])

    def agents(self) -> dict[str, str]:
        return {client: self.cleaned_data[name] for client, name in self.agent_fields.items()}


@sensitive_post_parameters("code")
@require_http_methods(["GET", "POST"])
def show(request: HttpRequest) -> HttpResponse:
    user: Any = request.user
    if not user.is_authenticated or not user.is_active:
        return redirect_to_login(reverse("enrolment"), reverse("admin:login"))
    row = Enrolment.objects.filter(pk=request.session.get(SESSION_KEY, 0)).first()
    if "code" in request.POST or row is None:
        return _ask_for_code(request, user)
    if not row.is_open:
        del request.session[SESSION_KEY]
        return _page(request, "closed", {}, status=410)
    return _ask_for_decision(request, user, row)


def _ask_for_code(request: HttpRequest, user: User) -> HttpResponse:
    form = CodeForm(request.POST if "code" in request.POST else None)
    status = 200
    if form.is_bound and form.is_valid():
        request.session.pop(SESSION_KEY, None)
        try:
            row = find_waiting(
                form.cleaned_data["code"], by=user, address=request.META.get("REMOTE_ADDR", "")
            )
        except CtxhubError as error:
            form.add_error("code", error.message)
            status = 429 if isinstance(error, LimitReached) else 200
        else:
            request.session[SESSION_KEY] = row.pk
            return HttpResponseRedirect(reverse("enrolment"))
    return _page(request, "code", {"form": form}, status=status)


def _ask_for_decision(request: HttpRequest, user: User, row: Enrolment) -> HttpResponse:
    access = access_of(request)
    projects = {pk: each for pk, each in access.projects.items() if read_config(each.config).enrolment}
    scopes = {scope for pk in projects for scope in access.scopes[pk]}
    form = DecisionForm(request.POST or None, row=row, projects=projects, scopes=scopes)
    is_refused = request.POST.get("decision") == "refuse"
    if is_refused or (form.is_bound and form.is_valid()):
        try:
            if is_refused:
                refuse(row, by=user)
            else:
                _approve(row, user, form)
        except CtxhubError as error:
            form.add_error(None, error.message)
        else:
            del request.session[SESSION_KEY]
            return _page(request, "decided", {"row": row, "is_refused": is_refused})
    return _page(request, "decision", {"form": form, "row": row, "projects": projects})


def _approve(row: Enrolment, user: User, form: DecisionForm) -> None:
    cleaned = form.cleaned_data
    caller = find_person(user, cleaned["project"].slug)
    if caller is None:
        raise NotAllowed("You do not belong to this project any more.")
    approve(
        row,
        caller=caller,
        owner=user,
        agents=form.agents(),
        scopes=cleaned["scopes"],
        days=cleaned["days"],
        renews=cleaned["renews"],
    )


def _page(request: HttpRequest, step: str, context: dict[str, Any], status: int = 200) -> HttpResponse:
    """Not kept by caches, and not told to other sites."""
    response = render(request, "ctxhub/enrolment.html", {"step": step, **context}, status=status)
    add_never_cache_headers(response)
    response.headers["Referrer-Policy"] = "same-origin"
    return response
