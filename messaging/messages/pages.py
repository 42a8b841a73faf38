"""Admin pages of a conversation, where people reply, and of an agent's inbox as it sees it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages as notices
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from ctxhub.console.access import access_of
from ctxhub.console.base import ProjectAdmin, person
from ctxhub.console.columns import PRIORITY_COLOURS
from ctxhub.console.fields import NamesField, ProseField
from ctxhub.console.links import links_panel
from ctxhub.console.service_form import ServiceForm
from ctxhub.console.text_refs import Pages, pages_of_texts
from ctxhub.core.accounts.agents import ids_of_names, is_agent_name, known_agents
from ctxhub.core.accounts.people import find_person
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import WRITE
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.listing import make_cursor, read_cursor
from ctxhub.core.kit.priority import Priority
from ctxhub.core.models import Agent
from ctxhub.core.templatetags.entries import written
from messaging.messages.inbox import find_inbox
from messaging.messages.queries import Receipt, find_thread, get_message, read_receipts, receipts_of
from messaging.messages.services import acknowledge_messages, read_messages_of, send_message
from messaging.models import Delivery, Message, MessageType

if TYPE_CHECKING:
    from messaging.messages.rows import MessageRow


TYPE_COLOURS = {"decision": "info", "warning": "warning", "request": "primary"}
STATE_COLOURS = {"open": "warning", "claimed": "info", "done": "success"}

# Template context variables.
COLOURS: Mapping[str, Mapping[str, str]] = {
    "type_colours": TYPE_COLOURS,
    "priority_colours": PRIORITY_COLOURS,
    "state_colours": STATE_COLOURS,
}


def _choice(labels: list[str], initial: str) -> forms.ChoiceField:
    return forms.ChoiceField(
        choices=[(label, label) for label in labels], initial=initial, widget=UnfoldAdminSelectWidget
    )


class RecipientsField(NamesField):
    """Names of agents as typed: only the service knows whether "Doe, Jane" is one of them."""

    def read(self, text: str) -> list[str]:
        return [text.strip()] if text.strip() else []


class ChoicesField(forms.CharField):
    """Answers to choose from, one a line."""

    def __init__(self, **options: Any) -> None:
        widget = UnfoldAdminTextareaWidget(attrs={"rows": 3})
        super().__init__(required=False, widget=widget, **options)

    def clean(self, value: Any) -> list[str]:
        return [line.strip() for line in super().clean(value).splitlines() if line.strip()]


class MessageForm(ServiceForm):
    text = ProseField(rows=6)
    to = RecipientsField(
        help_text="Names of agents and people, separated by commas; @people are all people of the project."
        " Leave empty to write to everyone in the project."
    )
    choices = ChoicesField(
        help_text="Two to five short answers, one a line, of which the reply takes one. Or none."
    )
    type = _choice(list(map(str, MessageType.labels)), str(MessageType.INFO.label))
    priority = _choice(list(map(str, reversed(Priority.labels))), str(Priority.MEDIUM.label))
    ack = forms.BooleanField(
        required=False,
        label="Ask for an acknowledgement",
        widget=UnfoldBooleanSwitchWidget,
        help_text="From each recipient.",
    )
    ack_within = forms.CharField(
        required=False,
        label="Acknowledge within",
        widget=UnfoldAdminTextInputWidget,
        help_text="30m, 2h or 3d. Late acknowledgements are shown on the overview.",
    )

    def agents(self) -> list[str]:
        """Names of known agents, last seen first."""
        return known_agents(self.project) if self.project else []

    def arguments(self) -> dict[str, Any]:
        """The arguments of `send_message`. An empty text is passed on: the service refuses it."""
        return self.filled_in("text")


class ReplyForm(forms.Form):
    text = ProseField(rows=4, label="Reply")
    to = RecipientsField(
        help_text="Agent names, separated by commas. Leave empty to answer the sender, or your recipients."
    )

    def arguments(self) -> dict[str, Any]:
        return {name: value for name, value in self.cleaned_data.items() if name == "text" or value}


MESSAGES_SHOWN = 100
RECEIPTS_SHOWN = 1_000


@frozen
class Bubble:
    """A message, how many agents it is owed by, and how many of those have read and acknowledged it.

    `receipts` contains others who have read it, too. `own_receipt` is the current user's receipt, if the
    message is addressed to them.
    """

    message: "MessageRow"
    receipts: Sequence[Receipt]
    recipients: int
    read: int
    acked: int
    state: str | None
    is_own: bool
    own_receipt: Receipt | None
    is_answered: bool
    agent_ids: Mapping[str, int]

    @property
    def linked_receipts(self) -> Sequence[tuple[Receipt, int | None]]:
        """With the id of the agent, if one of this name is registered."""
        return [(receipt, self.agent_ids.get(receipt.folded)) for receipt in self.receipts]

    @property
    def linked_to(self) -> Sequence[tuple[str, int | None]]:
        """The recipients by name, with their ids in the same way."""
        return [(name, self.agent_ids.get(name.casefold())) for name in self.message.named_to or ()]

    @property
    def by_id(self) -> int | None:
        return self.agent_ids.get((self.message.claimed_by or "").casefold())

    @property
    def is_named(self) -> bool:
        """Whether it is addressed to the current user, by name or as one of the people."""
        return self.own_receipt is not None and not self.message.to_everyone

    @property
    def is_to_choose(self) -> bool:
        is_taken = self.message.to_people and self.message.claimed_by is not None
        return bool(self.message.choices) and self.is_named and not self.is_answered and not is_taken

    @property
    def is_to_read(self) -> bool:
        return self.own_receipt is not None and self.own_receipt.read_at is None

    @property
    def is_to_ack(self) -> bool:
        return self.message.ack and self.own_receipt is not None and self.own_receipt.acked_at is None

    @property
    def payload(self) -> str:
        return "" if self.message.payload is None else written(self.message.payload)

    @property
    def is_late(self) -> bool:
        return self.message.ack_overdue and self.acked < self.recipients


@frozen
class Conversation:
    """A page of a thread. `after` is the last id shown, None on the last page."""

    root: int
    bubbles: Sequence[Bubble]
    after: int | None


def conversation(project_id: int, message_id: int, *, own: str, after: int = 0) -> Conversation:
    """The thread of a message, starting after the id `after`. Raises NotFound."""
    root = get_message(project_id, message_id).thread
    rows = find_thread(project_id, root, limit=MESSAGES_SHOWN + 1, after=after)
    shown = rows[:MESSAGES_SHOWN]
    ids = [row.id for row in shown]
    deliveries = Delivery.objects.in_project(project_id).filter(message__in=ids)
    stats = (
        deliveries.filter(owed=True)
        .values("message")
        .annotate(all=Count("pk"), read=Count("read_at"), acked=Count("acked_at"))
    )
    counts = {row["message"]: (row["all"], row["read"], row["acked"]) for row in stats}
    receipts: dict[int, list[Receipt]] = {}
    for receipt in read_receipts(receipts_of(project_id, ids).order_by("message", "folded")[:RECEIPTS_SHOWN]):
        receipts.setdefault(receipt.message_id, []).append(receipt)
    own_receipts = {r.message_id: r for r in read_receipts(deliveries.filter(folded=own.casefold()))}
    named = {receipt.folded for of_message in receipts.values() for receipt in of_message}
    written = {name.casefold() for row in shown for name in (row.claimed_by, *(row.to or ())) if name}
    agent_ids = ids_of_names(project_id, named | written)
    now = clock.now()
    answered = {row.reply_to_id for row in shown if row.sender.casefold() == own.casefold()}
    bubbles = []
    for row in shown:
        recipients, read, acked = counts.get(row.id, (0, 0, 0))
        bubbles.append(
            Bubble(
                message=row,
                receipts=receipts.get(row.id, ()),
                recipients=recipients,
                read=read,
                acked=acked,
                state=row.state_label(now),
                is_own=row.sender.casefold() == own.casefold(),
                own_receipt=own_receipts.get(row.id),
                is_answered=row.id in answered,
                agent_ids=agent_ids,
            )
        )
    return Conversation(root, bubbles, shown[-1].id if len(rows) > MESSAGES_SHOWN else None)


def thread_page(model_admin: ProjectAdmin, request: HttpRequest, message: Message) -> HttpResponse:
    """Show the conversation of a message; handles a posted reply or acknowledgement."""
    may_write = access_of(request).may(WRITE, message.project_id)
    # Who may only read answers what is addressed to them; the services check that.
    is_reply = request.method == "POST" and "acknowledge" not in request.POST
    form = ReplyForm(request.POST if is_reply else None)
    if form.is_valid() and (sent := _reply(model_admin, request, message, form)):
        return HttpResponseRedirect(model_admin.url("read", sent))
    if acked := _number(request.POST.get("acknowledge", "")):
        _acknowledge(model_admin, request, message, acked)
        return HttpResponseRedirect(model_admin.url("read", message.pk))
    thread = _thread(model_admin, request, message)
    return model_admin.page(
        request,
        "ctxhub/thread.html",
        "Conversation",
        object=message,
        project=message.project,
        thread=thread,
        text_pages=_pages_of(message.project_id, thread),
        form=form if may_write or any(bubble.is_named for bubble in thread.bubbles) else None,
        agents=known_agents(message.project) if may_write else (),
        may_delete=model_admin.has_delete_permission(request, message),
        row_panels=[panel] if (panel := links_panel("message", message)) else [],
        **COLOURS,
    )


def warn_of_unknown(request: HttpRequest, answer: Mapping[str, Any]) -> None:
    """Warn about recipients that are not the name of any agent: perhaps a typo."""
    if unknown := answer.get("unknown"):
        names = ", ".join(unknown)
        notices.warning(request, f"Unknown recipients: {names}. They receive the message when they register.")


def _thread(model_admin: ProjectAdmin, request: HttpRequest, message: Message) -> Conversation:
    """One page of the thread. Marks messages addressed to the current user as read.

    Not if the name is an agent's: a look of a person would hide its mail from the agent.
    """
    own = find_person(request.user, message.project.slug)  # type: ignore[arg-type]
    thread = conversation(
        message.project_id,
        message.pk,
        own=own.agent if own else "",
        after=_number(request.GET.get("after", "")),
    )
    unread = [bubble.message.id for bubble in thread.bubbles if bubble.is_to_read]
    if unread and not is_agent_name(message.project_id, own.agent if own else ""):
        with model_admin.acting_in(request, message.project):
            read_messages_of(caller=person(), ids=unread)
    return thread


def _pages_of(project_id: int, thread: Conversation) -> Pages:
    messages = [bubble.message for bubble in thread.bubbles]
    return pages_of_texts(project_id, (text for one in messages for text in (*one.result_refs, one.text)))


def _reply(model_admin: ProjectAdmin, request: HttpRequest, message: Message, form: ReplyForm) -> int | None:
    """Reply to the last message of the thread. Returns the new id, None if the service refuses it."""
    root = message.thread_or_own_id
    thread = Message.objects.in_project(message.project_id).filter(Q(pk=root) | Q(thread=root))
    last = thread.order_by("-pk").values_list("pk", flat=True).first()

    def send() -> int:
        answer = send_message(caller=person(), reply_to=last, **form.arguments())
        warn_of_unknown(request, answer)
        return answer["id"]

    return model_admin.try_to_write(request, message, send, partial(form.add_error, None))


def _acknowledge(model_admin: ProjectAdmin, request: HttpRequest, message: Message, acked: int) -> None:
    def acknowledge() -> Any:
        return acknowledge_messages(caller=person(), ids=[acked])

    model_admin.try_to_write(request, message, acknowledge, partial(notices.error, request))


def _number(value: str) -> int:
    return int(value) if value.isdecimal() and len(value) < 19 else 0


DELIVERIES_SHOWN = 50


def inbox_page(model_admin: ProjectAdmin, request: HttpRequest, agent: Agent) -> HttpResponse:
    shows_all = request.GET.get("show") == "all"
    now, after = clock.now(), _position(request.GET.get("cursor", ""))
    found = find_inbox(
        agent.project_id, agent.folded, now, unread=not shows_all, limit=DELIVERIES_SHOWN + 1, after=after
    )
    rows = found[:DELIVERIES_SHOWN]
    last = rows[-1][0] if len(found) > DELIVERIES_SHOWN else None
    return model_admin.page(
        request,
        "ctxhub/inbox.html",
        f"Inbox of {agent}",
        agent=agent,
        project=agent.project,
        rows=[(message, to_ack, message.state_label(now)) for message, to_ack in rows],
        is_whole=shows_all,
        next=make_cursor(last.priority, last.created_at, last.id) if last else None,
        **COLOURS,
    )


def _position(cursor: str) -> tuple[int, datetime, int] | None:
    """Decode a cursor to (priority, time, id); None, the first page, for an invalid cursor."""
    try:
        priority, at, row_id = read_cursor(cursor, int, datetime, int)
    except InvalidInput:
        return None
    return priority, at, row_id
