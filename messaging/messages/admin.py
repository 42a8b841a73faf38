"""Message admin: list, conversation and inbox pages, and a form to send messages."""

from functools import partial
from typing import Any

from django.contrib import admin
from django.contrib import messages as notices
from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Prefetch, Q, QuerySet
from django.db.models.functions import Left
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display

from ctxhub.console.access import access_of, chosen_project
from ctxhub.console.base import Menu, person
from ctxhub.console.columns import (
    PREVIEW_CHARACTERS,
    PRIORITY_COLOURS,
    agent_cell,
    agent_chips,
    column,
    preview,
)
from ctxhub.console.filters import NameFilter, ProjectFilter, TimeRangeFilter
from ctxhub.console.logged import EVENTS_STAY
from ctxhub.console.pages import NounAdmin
from ctxhub.console.service_form import sentence
from ctxhub.console.unfold_compat import DropdownFilter, TextFilter
from ctxhub.console.urls import next_url
from ctxhub.core.accounts.agents import with_agent_pk
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import WRITE
from ctxhub.core.kit.errors import CtxhubError, NotAllowed
from ctxhub.core.models import Agent, Project
from ctxhub.core.templatetags.moments import moment
from messaging.messages.models import ACK_OWED, READ_OWED
from messaging.messages.pages import (
    STATE_COLOURS,
    TYPE_COLOURS,
    MessageForm,
    inbox_page,
    thread_page,
    warn_of_unknown,
)
from messaging.messages.queries import STATES, first_owing
from messaging.messages.services import send_message
from messaging.models import Delivery, Message, RequestState
from messaging.pairs import EVERYONE, NAMES, PEOPLE, to_names
from messaging.questions.page import answer, for_you_page
from messaging.retention import remind_agent

UNACKED = Exists(Delivery.unscoped.filter(ACK_OWED, message=OuterRef("pk")))


def is_open() -> Q:
    """Condition for open requests, including those whose claim has expired."""
    expired = Q(state=RequestState.CLAIMED, claimed_until__lte=clock.now())
    return Q(state=RequestState.OPEN) | expired


class SenderFilter(NameFilter):
    title = parameter_name = "from"
    model, lookup = Agent, "sender"


class RecipientFilter(TextFilter):
    title = parameter_name = "to"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        name = (self.value() or "").strip().casefold()
        if not name:
            return queryset
        return queryset.filter(pk__in=Delivery.unscoped.filter(folded=name).values("message"))


class AddressedFilter(DropdownFilter):
    """Whom the message addresses. With the filter `to`: only if it names that recipient."""

    title = parameter_name = "addressed"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(EVERYONE, "to everyone"), (PEOPLE, "to people"), (NAMES, "by name")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        name = request.GET.get("to", "").strip().casefold()
        named = to_names(
            Delivery.unscoped.filter(message=OuterRef("pk"), **({"folded": name} if name else {}))
        )
        conditions = {
            EVERYONE: Q(to_everyone=True),
            PEOPLE: Q(to_people=True, to_everyone=False),
            NAMES: Q(Exists(named)),
        }
        return queryset.filter(conditions.get(str(self.value()), Q()))


class SentFilter(TimeRangeFilter):
    title, compared, names = "sent", "created_at", ("since", "until")


class StateFilter(DropdownFilter):
    title = parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(state, state) for state in STATES]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        states = {
            "open": is_open(),
            "claimed": Q(state=RequestState.CLAIMED, claimed_until__gt=clock.now()),
            "done": Q(state=RequestState.DONE),
        }
        return queryset.filter(states.get(str(self.value()), Q()))


class WaitingFilter(DropdownFilter):
    """Filters messages by what is still pending: an urgent read or an acknowledgement.

    Together with the filter `to`: pending from that recipient.
    """

    title = "waits for"
    parameter_name = "waits"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("urgent", "an urgent message to be read"),
            ("ack", "an acknowledgement"),
            ("late", "a late acknowledgement"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        name = request.GET.get("to", "").strip().casefold()
        to = Delivery.unscoped.filter(message=OuterRef("pk"), **({"folded": name} if name else {}))
        unread, unacked = Exists(to.filter(READ_OWED)), Exists(to.filter(ACK_OWED))
        conditions = {
            "urgent": Q(unread),
            "ack": Q(ack=True) & Q(unacked),
            "late": Q(ack_overdue=True) & Q(unacked),
        }
        return queryset.filter(conditions.get(str(self.value()), Q()))


ACK_COLOURS = {"late": "danger", "awaited": "warning", "given": "success"}
NAMES_SHOWN = 4


@admin.register(Message)
class MessageAdmin(NounAdmin):
    menu = Menu("Activity", "forum")
    when_empty = (
        "What agents and people write to each other, or to everyone: agents with `message send`, people here."
    )
    ref_kind = "message"
    form = MessageForm
    change_form_template = "ctxhub/message_form.html"
    change_scope = None
    has_change_form = False
    why_missing = "Perhaps it was deleted or cleaned up?"

    list_display = (
        "text_preview",
        "who",
        "to",
        "kind",
        "urgency",
        "progress",
        "acknowledged",
        "owed_by",
        "sent",
    )
    list_filter = (
        ProjectFilter,
        SentFilter,
        SenderFilter,
        RecipientFilter,
        AddressedFilter,
        ("type", ChoicesDropdownFilter),
        ("priority", ChoicesDropdownFilter),
        StateFilter,
        WaitingFilter,
    )
    list_select_related = ("project", "sender")
    search_help_text = "Words of the text, or who wrote to whom"
    date_hierarchy = "created_at"
    fieldsets = (
        (None, {"fields": ["text", "to", "choices"]}),
        ("How it is sent", {"fields": [("type", "priority"), ("ack", "ack_within")]}),
    )

    # -- Finding -----------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        """Defers the long texts: the list shows only how each begins."""
        rows: QuerySet[Message] = super().get_queryset(request)
        recipients = Delivery.unscoped.filter(message__to_everyone=False).order_by("folded")
        return (
            rows.defer("text", "payload")
            .annotate(
                beginning=Left("text", 2 * PREVIEW_CHARACTERS),
                is_unacked=ExpressionWrapper(Q(ack=True) & Q(UNACKED), output_field=BooleanField()),
            )
            .prefetch_related(
                Prefetch("deliveries", queryset=with_agent_pk(recipients.only("message", "name"))),
                Prefetch("deliveries", queryset=first_owing(NAMES_SHOWN + 1), to_attr="owing"),
            )
        )

    text_preview = column("Text", lambda message: preview(message.beginning))
    who = column("From", lambda message: agent_cell(message.sender), ordering="sender__name")

    @display(description="To")
    def to(self, message: Any) -> SafeString | str:
        if message.to_everyone:
            return "everyone"
        to = list(message.deliveries.all())
        more = f"and {len(to) - NAMES_SHOWN} more" if len(to) > NAMES_SHOWN else ""
        return agent_chips(((each.name, each.agent_pk) for each in to[:NAMES_SHOWN]), more)

    @display(description="Owed by")
    def owed_by(self, message: Any) -> SafeString | str:
        """Who has not acknowledged it; of urgent messages without that, who has not read it."""
        more = "and more" if len(message.owing) > NAMES_SHOWN else ""
        return agent_chips(((each.name, each.agent_pk) for each in message.owing[:NAMES_SHOWN]), more)

    kind = column("Type", lambda message: message.get_type_display(), ordering="type", label=TYPE_COLOURS)
    urgency = column(
        "Priority",
        lambda message: message.get_priority_display(),
        ordering="priority",
        label=PRIORITY_COLOURS,
    )

    @display(description="State", ordering="state", label=STATE_COLOURS)
    def progress(self, message: Message) -> str:
        if not message.state:
            return ""
        is_expired = message.claimed_until is None or message.claimed_until <= clock.now()
        is_reopened = message.state == RequestState.CLAIMED and is_expired
        return str(RequestState.OPEN.label) if is_reopened else message.get_state_display()

    @display(description="Acknowledgement", label=ACK_COLOURS)
    def acknowledged(self, message: Any) -> str:
        if not message.ack:
            return ""
        return "given" if not message.is_unacked else "late" if message.ack_overdue else "awaited"

    sent = column("Sent", lambda message: moment(message.created_at), ordering="pk")

    # -- Reading -----------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        inbox = self.admin_site.admin_view(self.inbox_view)
        remind = self.admin_site.admin_view(self.remind_view)
        return [
            path("inbox/<int:agent_id>/", inbox, name="messaging_message_inbox"),
            path("remind/", remind, name="messaging_message_remind"),
            path(
                "for-you/",
                self.admin_site.admin_view(partial(for_you_page, self)),
                name="messaging_message_for_you",
            ),
            path(
                "for-you/answer/",
                self.admin_site.admin_view(partial(answer, self)),
                name="messaging_message_answer",
            ),
            *super().get_urls(),
        ]

    def find_row(self, request: HttpRequest, row_id: int) -> Message | None:
        """Without the deliveries that a list shows: the page reads those of the conversation."""
        rows = self.get_queryset(request).prefetch_related(None).defer(None)
        return rows.select_related("project", "sender").filter(pk=row_id).first()

    def read_page(self, request: HttpRequest, row: Message) -> HttpResponse:
        """Show the conversation that a message belongs to."""
        return thread_page(self, request, row)

    def inbox_view(self, request: HttpRequest, agent_id: int) -> HttpResponse:
        """Show an agent's inbox."""
        agent = Agent.unscoped.filter(pk=agent_id).select_related("project").first()
        if agent is None or not self._may(request, self.view_scope, agent):
            notices.warning(request, f"There is no agent {agent_id} here.")
            return HttpResponseRedirect(self.url("changelist"))
        return inbox_page(self, request, agent)

    # -- Writing -----------------------------------------------------------------------------------

    def remind_view(self, request: HttpRequest) -> HttpResponse:
        """Remind an agent of its overdue acknowledgements, and return to the page of the button."""
        project, agent = chosen_project(request), request.POST.get("agent", "")
        if request.method == "POST" and project:
            self._remind(request, project, agent)
        return HttpResponseRedirect(next_url(request))

    def _remind(self, request: HttpRequest, project: Project, agent: str) -> None:
        try:
            if not access_of(request).may(WRITE, project.pk):
                raise NotAllowed(f"You can read {project}, but you cannot write messages there.")
            with self.acting_in(request, project):
                remind_agent(caller=person(), agent=agent)
        except CtxhubError as error:
            self.count_refusal(request, project, error)
            notices.error(request, sentence(error))
        else:
            notices.success(request, f"{agent} was reminded.")

    def add_row(self, request: HttpRequest, row: Message, form: Any) -> int:
        answer = send_message(caller=person(), **form.arguments())
        warn_of_unknown(request, answer)
        return answer["id"]

    def deletion_line(self, row: Message) -> str:
        return f"{row.ref}, for all its recipients. {EVENTS_STAY}"
