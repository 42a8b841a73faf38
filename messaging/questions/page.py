"""What waits for a person, on the first page and on one of its own, and their answers in place."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from django.contrib import messages as notices
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from ctxhub.console.access import access_of, chosen_project, shown_project_ids
from ctxhub.console.base import ProjectAdmin, person
from ctxhub.console.text_refs import Pages, pages_of_texts
from ctxhub.console.urls import in_project, next_url
from ctxhub.core.accounts.names_of_people import acting_name
from ctxhub.core.kit import clock
from ctxhub.core.kit.errors import InvalidInput
from messaging.messages.requests import claim_request, finish_request
from messaging.messages.services import acknowledge_messages, read_messages_of, send_message
from messaging.models import Message
from messaging.questions.for_you import ForYou, find_for_you

SHOWN, SHOWN_ON_PAGE = 6, 50
LATER = timedelta(hours=3)
# In the session of the sign-in: until when messages wait, by id.
LATER_KEY = "ctxhub_later"
MOST_LATER = 200


def for_you_context(request: HttpRequest, *, limit: int = SHOWN) -> dict[str, Any]:
    """The variables of ctxhub/for_you.html."""
    access, project = access_of(request), chosen_project(request)
    found = _found(request, limit)
    return {
        "for_you": found,
        "for_you_more": found.total - len(found.shown),
        "for_you_pages": _pages_of(found),
        "for_you_projects": access.projects if len(access.projects) > 1 and not project else {},
        "for_you_url": in_project(reverse("admin:messaging_message_for_you"), project),
    }


def senders_who_wait(request: HttpRequest) -> Mapping[int, int]:
    """How many messages of each sender, by its id, wait for the person."""
    return _found(request, SHOWN).senders


def menu_item(request: HttpRequest) -> dict[str, Any]:
    url = reverse("admin:messaging_message_for_you")
    link = in_project(url, chosen_project(request))
    return {"title": "For you", "icon": "inbox", "link": link, "active": request.path == url}


def for_you_page(model_admin: ProjectAdmin, request: HttpRequest) -> HttpResponse:
    """Everything that waits for the person."""
    context = for_you_context(request, limit=SHOWN_ON_PAGE)
    return model_admin.page(request, "ctxhub/for_you_page.html", "For you", **context)


def answer(model_admin: ProjectAdmin, request: HttpRequest) -> HttpResponse:
    """Do what a button says with a message, and return to the page of the button."""
    target = HttpResponseRedirect(next_url(request))
    what, _, rest = request.POST.get("do", "").partition(":")
    row_id, _, choice = rest.partition(":")
    message = _message(request, row_id)
    if request.method != "POST" or message is None:
        notices.warning(request, "There is no such message here any more.")
        return target
    if what == "later":
        _put_off_until_later(request, message.pk)
        notices.success(request, f"{message.ref} comes back in {LATER.seconds // 3600} hours.")
        return target
    done = model_admin.try_to_write(
        request, message, lambda: _do(what, choice, request, message), partial(notices.error, request)
    )
    if done:
        notices.success(request, done)
    return target


def _do(what: str, choice: str, request: HttpRequest, message: Message) -> str:
    """What was done, in a sentence."""
    acts: Mapping[str, Callable[[], str]] = {
        "choose": lambda: _reply(message, choice=choice),
        "reply": lambda: _reply(message, text=request.POST.get(f"text-{message.pk}", "")),
        "ack": lambda: _acknowledge(message),
        "take": lambda: _take(message),
        "done": lambda: _finish(message),
        "read": lambda: f"{message.ref} is read.",
    }
    if what not in acts:
        raise InvalidInput("Press one of the buttons.")
    told = acts[what]()
    read_messages_of(caller=person(), ids=[message.pk])
    return told


def _reply(message: Message, **answer: str) -> str:
    send_message(caller=person(), reply_to=message.pk, **answer)  # type: ignore[arg-type]
    return f"{message.sender.name} is told: {answer.get('choice') or 'your reply'}."


def _acknowledge(message: Message) -> str:
    acknowledge_messages(caller=person(), ids=[message.pk])
    return f"{message.ref} is acknowledged."


def _take(message: Message) -> str:
    claim_request(caller=person(), message_id=message.pk, minutes=24 * 60)
    return f"{message.ref} is yours for a day."


def _finish(message: Message) -> str:
    finish_request(caller=person(), message_id=message.pk)
    return f"{message.sender.name} is told that {message.ref} is done."


def _message(request: HttpRequest, name: str) -> Message | None:
    """The message of the button, to the person, in a project that they can see."""
    if not (name.isascii() and name.isdecimal() and len(name) < 19):
        return None
    own = acting_name(request.user.get_username()).casefold()
    rows = Message.unscoped.filter(project__in=[*access_of(request).projects], pk=int(name))
    return rows.filter(deliveries__folded=own).select_related("project", "sender").first()


def _found(request: HttpRequest, limit: int) -> ForYou:
    """Read once in a request: two parts of the first page tell of it."""
    cache = request.__dict__
    if "ctxhub_for_you" not in cache:
        name = acting_name(request.user.get_username())
        cache["ctxhub_for_you"] = find_for_you(
            shown_project_ids(request),
            name,
            limit=limit,
            but=[*_put_off(request)],
            user_id=request.user.pk or 0,
        )
    found: ForYou = cache["ctxhub_for_you"]
    return found


def _put_off(request: HttpRequest) -> list[int]:
    now = clock.now().timestamp()
    later: Mapping[str, float] = request.session.get(LATER_KEY, {})
    return [int(row_id) for row_id, until in later.items() if until > now]


def _put_off_until_later(request: HttpRequest, row_id: int) -> None:
    until = (clock.now() + LATER).timestamp()
    kept = {str(each): request.session[LATER_KEY][str(each)] for each in _put_off(request)}
    request.session[LATER_KEY] = dict([*kept.items(), (str(row_id), until)][-MOST_LATER:])


def _pages_of(found: ForYou) -> Pages:
    """The pages of what the texts refer to; refs mean the same row in one project alone."""
    pages: dict[str, str] = {}
    for project_id in {each.project_id for each in found.shown}:
        texts = [
            text
            for each in found.shown
            if each.project_id == project_id
            for text in (each.beginning, *each.refs)
        ]
        pages |= pages_of_texts(project_id, texts)
    return pages
