"""Admin page of a conversation: people read it, acknowledge messages and reply."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.contrib import messages as notices
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from ctxhub.core.accounts.selectors.agents import is_agent_name, known_agents
from ctxhub.core.accounts.selectors.people import find_person
from ctxhub.core.admin.access import access_of
from ctxhub.core.admin.base import ProjectAdmin, person
from ctxhub.core.admin.links import links_panel
from ctxhub.core.admin.text_refs import Pages, pages_of_texts
from ctxhub.core.kit.caller import WRITE
from messaging.admin.colours import COLOURS
from messaging.admin.message_form import ReplyForm
from messaging.admin.threads import Conversation, conversation
from messaging.models import Message
from messaging.services.messages import send_message
from messaging.services.receipts import acknowledge_messages, read_messages_of


def thread_page(model_admin: ProjectAdmin, request: HttpRequest, message: Message) -> HttpResponse:
    """Show the conversation of a message; handles a posted reply or acknowledgement."""
    may_write = access_of(request).may(WRITE, message.project_id)
    is_reply = request.method == "POST" and may_write and "acknowledge" not in request.POST
    form = ReplyForm(request.POST if is_reply else None)
    if form.is_valid() and (sent := _reply(model_admin, request, message, form)):
        return HttpResponseRedirect(model_admin.url("read", sent))
    if may_write and (acked := _number(request.POST.get("acknowledge", ""))):
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
        form=form if may_write else None,
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
