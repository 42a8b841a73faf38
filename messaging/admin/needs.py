"""What messages tell a person on the first page: overdue acknowledgements, requests nobody claims."""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from django.urls import reverse

from ctxhub.core.admin.needs import sources
from ctxhub.core.admin.needs.sources import (
    SHOWN,
    Ago,
    Button,
    Found,
    Link,
    Name,
    Need,
    Part,
    Quote,
    Reader,
    Since,
)
from ctxhub.core.kit.caller import WRITE
from ctxhub.core.kit.priority import Priority
from ctxhub.core.text.plurals import counted
from messaging.selectors.needs import find_owing, find_reminders, find_unclaimed

if TYPE_CHECKING:
    from messaging.sql.needs import Owing, Unclaimed

LIST = "messaging_message"
URGENCIES: Mapping[int, str] = {Priority.HIGH: "urgent", Priority.CRITICAL: "critical"}


# -- Overdue acknowledgements ----------------------------------------------------------------------


def overdue_acknowledgements(reader: Reader) -> Found:
    owing = find_owing(reader.project_ids, at_most=SHOWN)
    reminders = find_reminders(reader.project_ids, sorted({each.message_id for each in owing}))
    return Found(
        [_owing_need(each, reader, reminders.get((each.message_id, each.folded))) for each in owing],
        owing[0].agents if owing else 0,
        "agents",
        "with overdue acknowledgements",
        reader.list_url(LIST, waits="late"),
    )


def _owing_need(owing: "Owing", reader: Reader, reminded_at: datetime | None) -> Need:
    is_own = owing.folded == reader.name.casefold()
    actions: list[Link | Button] = [Link("Open", _owed_url(owing, reader))]
    told: list[Part] = []
    if reminded_at:
        told = ["; reminded ", Ago(reminded_at)]
    elif not is_own:
        remind = reader.button_url(f"{LIST}_remind", owing.project_id)
        actions.append(Button("Remind", remind, "agent", owing.name, WRITE))
    return Need(
        f"owed-{owing.project_id}-{owing.message_id}-{owing.folded}",
        owing.project_id,
        Priority(owing.priority),
        "notification_important",
        [
            *([] if is_own else [Name(owing.name, owing.agent_id)]),
            _owed(owing, is_own=is_own),
            Since(owing.due_at),
            *told,
        ],
        owing.due_at,
        actions,
    )


def _owed(owing: "Owing", *, is_own: bool) -> str:
    verb = "You owe" if is_own else " owes"
    urgency = URGENCIES.get(owing.priority, "")
    if owing.owed == owing.alike or not urgency:
        return f"{verb} {counted(owing.owed, f'{urgency} acknowledgements'.strip())} "
    alike = "one" if owing.alike == 1 else owing.alike
    return f"{verb} {counted(owing.owed, 'acknowledgements')}, {alike} {urgency} "


def _owed_url(owing: "Owing", reader: Reader) -> str:
    if owing.owed == 1:
        return reverse(f"admin:{LIST}_read", args=[owing.message_id])
    return reader.list_url(LIST, owing.project_id, waits="late", to=owing.name)


# -- Requests that nobody claims -------------------------------------------------------------------


def unclaimed_requests(reader: Reader) -> Found:
    unclaimed = find_unclaimed(reader.project_ids, at_most=SHOWN)
    return Found(
        [_unclaimed_need(each, reader) for each in unclaimed],
        unclaimed[0].projects if unclaimed else 0,
        "projects",
        "with requests that nobody claims",
        reader.list_url(LIST, state="open"),
    )


def _unclaimed_need(request: "Unclaimed", reader: Reader) -> Need:
    return Need(
        f"unclaimed-{request.project_id}",
        request.project_id,
        Priority(request.priority),
        "assignment_late",
        _unclaimed(request),
        request.sent_at,
        [Link("Open", _request_url(request, reader))],
    )


def _unclaimed(request: "Unclaimed") -> list[Part]:
    others = request.recipients - 1
    to: list[Part] = ["everyone"]
    if request.to is not None:
        to = [Name(request.to, request.to_id), f" and {counted(others, 'others')}" if others else ""]
    asks: list[Part] = [Name(request.sender, request.sender_id), " asks ", *to, ": ", Quote(request.text)]
    if request.requests == 1:
        return ["Nobody claims a request ", Since(request.sent_at), ". ", *asks]
    return [f"Nobody claims {request.requests:,} requests. ", *asks, ", ", Since(request.sent_at)]


def _request_url(request: "Unclaimed", reader: Reader) -> str:
    if request.requests == 1:
        return reverse(f"admin:{LIST}_read", args=[request.message_id])
    return reader.list_url(LIST, request.project_id, state="open")


sources.sources += [overdue_acknowledgements, unclaimed_requests]
