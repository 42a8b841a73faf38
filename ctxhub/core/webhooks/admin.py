"""The admin of webhooks: added, shown once, changed, tested; what was delivered, and dead ones sent again."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from ctxhub.console.base import Menu, person
from ctxhub.console.columns import chips, column, mono
from ctxhub.console.fields import NamesField
from ctxhub.console.filters import ProjectFilter
from ctxhub.console.needs.sources import SHOWN, Ago, FoundNeeds, Name, Need, PageLink, Reader
from ctxhub.console.shown_once import ShownOnceAdmin, ShownOnceForm
from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.kit.priority import Priority
from ctxhub.core.models import Event, Webhook
from ctxhub.core.templatetags.moments import moment
from ctxhub.core.text.plurals import counted
from ctxhub.core.webhooks.models import DeliveryStatus, WebhookKind
from ctxhub.core.webhooks.queries import deliveries_of
from ctxhub.core.webhooks.services import (
    NewWebhook,
    add_webhook,
    change_webhook,
    delete_webhook,
    send_again,
    send_test,
)

KINDS = (
    ("json", "A program: signed JSON"),
    ("slack", "Slack: an incoming webhook"),
    ("teams", "Microsoft Teams: a workflow that posts when a webhook request is received"),
    ("discord", "Discord: a webhook of a channel"),
)
CONDITIONS = ("nouns", "verbs", "priority")


class WebhookForm(ShownOnceForm):
    kind = forms.ChoiceField(label="What is there", choices=KINDS, widget=UnfoldAdminSelectWidget)
    url = forms.CharField(
        label="Address",
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text="https://… It is stored encrypted and shown masked: whoever has it can write there.",
    )
    nouns = NamesField(
        label="Only of these kinds",
        help_text="decision, message, lease. Empty: all, but what the hub does itself.",
    )
    verbs = NamesField(
        label="Only these actions", help_text="set, sent, overdue, escalated, deleted. Empty: all."
    )
    priority = forms.MultipleChoiceField(
        label="Only of these priorities",
        required=False,
        choices=[(label, label) for label in reversed(Priority.labels)],
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="Messages and constraints have one. None chosen: any, and everything without one.",
    )
    active = forms.BooleanField(
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text="Switched on again, it goes on where it stopped.",
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        row = self.instance
        if not row.pk:
            del self.fields["active"]
            return
        del self.fields["once"]
        self.fields["url"].required = False
        self.fields["url"].help_text = f"Now {row.shown}. Empty: it stays. It is stored encrypted."
        self.initial.update(
            kind=str(WebhookKind(row.kind).label),
            active=row.is_active,
            **{name: getattr(row, name) for name in CONDITIONS},
        )

    def arguments(self) -> dict[str, Any]:
        """The arguments of `add_webhook`."""
        return {name: self.cleaned_data[name] for name in ("url", "kind", *CONDITIONS)}

    def changes(self) -> dict[str, Any]:
        """The arguments of `change_webhook`."""
        changed = {name: self.cleaned_data[name] for name in self.changed_data}
        return {name: value for name, value in changed.items() if name != "url" or value}


def webhooks_that_were_switched_off(reader: Reader) -> FoundNeeds:
    off = Webhook.unscoped.filter(
        project__in=[each for each in reader.administrated if each in reader.projects],
        is_active=False,
        off_at__isnull=False,
    )
    found = list(off.order_by("-off_at"))
    return FoundNeeds(
        [_need(row) for row in found[:SHOWN]],
        len(found),
        "webhooks",
        "that were switched off",
        reader.list_url("core_webhook"),
    )


def _need(row: Webhook) -> Need:
    assert row.off_at
    return Need(
        f"webhook-{row.pk}",
        row.project_id,
        Priority.HIGH,
        "webhook",
        ["The webhook ", Name(str(row)), " was switched off ", Ago(row.off_at), f": {row.off_because}"],
        row.off_at,
        [PageLink("Look", reverse("admin:core_webhook_change", args=[row.pk]))],
    )


STATES = {"active": "success", "failing": "warning", "inactive": "info", "switched off": "danger"}
STATUSES = {"waiting": "warning", "delivered": "success", "dead": "danger"}
DELIVERIES_SHOWN = 50


@admin.register(Webhook)
class WebhookAdmin(ShownOnceAdmin):
    menu = Menu("Access", "webhook")
    when_empty = (
        "Addresses of programs and chats that are told what happens in the project; an admin adds them"
        " here, or with `POST webhooks/`."
    )
    change_scope = delete_scope = ADMIN
    form = WebhookForm
    actions = ()
    actions_detail = ()
    change_form_template = "ctxhub/webhook.html"

    list_display = ("address", "what", "told", "state", "created")
    list_filter = (ProjectFilter,)
    list_select_related = ("project",)
    search_fields = ("shown",)
    search_help_text = "Host of the address"

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        last = "active" if obj else "once"
        return [
            (None, {"fields": ["kind", "url"]}),
            ("What it is told", {"fields": ["nouns", "verbs", "priority", last]}),
        ]

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        return "sealed" not in lookup and super().lookup_allowed(lookup, value, request)

    # -- Writing -----------------------------------------------------------------------------------

    def create(self, request: HttpRequest, form: WebhookForm) -> NewWebhook:
        return add_webhook(caller=person(), **form.arguments())

    def secret_page(self, request: HttpRequest, new: NewWebhook) -> HttpResponse:
        return self.page(
            request,
            "ctxhub/new_webhook.html",
            "The new webhook",
            webhook=new.row,
            secret=new.secret,
            done=self.url("change", new.row.pk),
        )

    def save_model(self, request: HttpRequest, obj: Webhook, form: Any, change: bool) -> None:
        if not change:
            super().save_model(request, obj, form, change)
            return
        change_webhook(caller=person(), webhook_id=obj.pk, **form.changes())
        obj.refresh_from_db()

    def response_change(self, request: HttpRequest, obj: Webhook) -> HttpResponse:
        messages.success(request, "The webhook was changed.")
        return HttpResponseRedirect(self.url("change", obj.pk))

    def delete_model(self, request: HttpRequest, obj: Webhook) -> None:
        delete_webhook(caller=person(), webhook_id=obj.pk)

    def deletion_line(self, row: Webhook) -> str:
        return f"{row}. What waits is not sent."

    # -- The page ----------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        acts = {"test": self.test, "again": self.again}
        own = [
            path(
                f"<int:webhook_id>/{name}/",
                self.admin_site.admin_view(view),
                name=f"core_webhook_{name}",
            )
            for name, view in acts.items()
        ]
        return [*own, *super().get_urls()]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *arguments: Any, **options: Any
    ) -> HttpResponse:
        row = context.get("original")
        if row is not None:
            rows = list(deliveries_of(row.project_id, row.pk)[:DELIVERIES_SHOWN])
            _add_events(rows)
            context = {
                **context,
                "deliveries": rows,
                "statuses": STATUSES,
                "dead": [each for each in rows if each.status == DeliveryStatus.DEAD and each.event_id],
                "show_save_and_add_another": False,
                "show_save_and_continue": False,
            }
        return super().render_change_form(request, context, *arguments, **options)

    def test(self, request: HttpRequest, webhook_id: int) -> HttpResponse:
        """Have a test sent, and return to the page, which shows what comes of it."""

        def act(row: Webhook) -> str:
            send_test(caller=person(), webhook_id=row.pk)
            return "A test is on its way: the deliveries below tell what comes of it."

        return self._act(request, webhook_id, act)

    def again(self, request: HttpRequest, webhook_id: int) -> HttpResponse:
        """Have a dead delivery sent again, or all that are shown."""

        def act(row: Webhook) -> str:
            ids = [row_id for text in request.POST.getlist("delivery") if (row_id := read_id(text))]
            sent = send_again(caller=person(), webhook_id=row.pk, ids=ids)
            return f"{counted(len(sent), 'deliveries')} will be sent again."

        return self._act(request, webhook_id, act)

    def _act(self, request: HttpRequest, webhook_id: int, act: Any) -> HttpResponse:
        row = self.get_object(request, str(webhook_id))
        if row is None:
            return self.missing(request, webhook_id)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        told = self.try_to_write(request, row, lambda: act(row), partial(messages.error, request))
        if told:
            messages.success(request, told)
        return HttpResponseRedirect(self.url("change", row.pk))

    # -- Columns -----------------------------------------------------------------------------------

    address = column("Address", lambda row: mono(row.shown), ordering="shown")
    what = column("What is there", lambda row: row.get_kind_display(), ordering="kind")
    told = column(
        "Told of",
        lambda row: chips([*row.nouns, *row.verbs, *row.priority]) if _has_conditions(row) else "everything",
    )
    state = column("State", lambda row: row.state, label=STATES)
    created = column("Added", lambda row: moment(row.created_at), ordering="created_at")


def _add_events(rows: Sequence[Any]) -> None:
    """Give the deliveries their events, in one query: what happened to which ref."""
    events = Event.unscoped.in_bulk([each.event_id for each in rows if each.event_id is not None])
    for each in rows:
        each.event = events.get(each.event_id)


def _has_conditions(row: Webhook) -> bool:
    return bool(row.nouns or row.verbs or row.priority)


def page_of_webhook(project_id: int, name: str) -> str | None:
    row_id = read_id(name)
    exists = row_id and Webhook.objects.in_project(project_id).filter(pk=row_id).exists()
    return reverse("admin:core_webhook_change", args=[row_id]) if exists else None
