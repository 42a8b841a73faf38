"""Overdue acknowledgements and requests that nobody claims, and what the first page says of them."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef
from django.urls import reverse

from ctxhub.console.needs.sources import (
    SHOWN,
    Ago,
    Button,
    FoundNeeds,
    Name,
    Need,
    PageLink,
    Part,
    Quote,
    Reader,
    Since,
)
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.caller import WRITE
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.priority import Priority
from ctxhub.core.text.plurals import counted
from messaging.models import Delivery, RequestState

TEXT_SHOWN = 200


@frozen
class Owing:
    """An agent that owes overdue acknowledgements: `owed` in all, `alike` of the highest priority.

    `message_id`, `priority` and `due_at` are of the most urgent one, the first that was due. `agents`: how
    many agents owe some.
    """

    project_id: int
    name: str
    folded: str
    message_id: int
    priority: int
    due_at: datetime
    owed: int
    alike: int
    agents: int
    agent_id: int | None


@frozen
class Unclaimed:
    """The most urgent request of a project that nobody claims, and how many there are.

    `to`: the first of its recipients, `to_id` if it is registered, and how many it has. `projects`: how many
    have such requests.
    """

    project_id: int
    message_id: int
    sender: str
    text: str
    priority: int
    sent_at: datetime
    to: str | None
    recipients: int
    requests: int
    projects: int
    sender_id: int
    to_id: int | None


def read_owing(project_ids: Sequence[int], limit: int) -> list[Owing]:
    """The agents that owe overdue acknowledgements, the most urgent first."""
    among, values = sql.among("m.project_id", project_ids)
    # m.ack is said as in the condition of the index messaging_with_ack.
    found = sql.rows(
        f"""
        WITH owed AS (
            SELECT d.project_id, d.name, d.folded, m.id, m.priority,
                coalesce(m.ack_due_at, m.created_at) AS due_at,
                count(*) OVER (PARTITION BY d.project_id, d.folded) AS owed,
                count(*) OVER (PARTITION BY d.project_id, d.folded, m.priority) AS alike,
                row_number() OVER (PARTITION BY d.project_id, d.folded
                    ORDER BY m.priority DESC, coalesce(m.ack_due_at, m.created_at), m.id) AS place
            FROM messaging_message m JOIN messaging_delivery d ON d.message_id = m.id
            WHERE {among} AND m.ack AND m.ack_overdue AND d.owed AND d.acked_at IS NULL)
        SELECT project_id, name, folded, id, priority, due_at, owed, alike, count(*) OVER (),
            (SELECT a.id FROM core_agent a
                WHERE a.project_id = owed.project_id AND a.folded = owed.folded) AS agent_id
        FROM owed WHERE place = 1 ORDER BY priority DESC, due_at, id, folded LIMIT %s""",
        [*values, limit],
    )
    return [
        Owing(project_id, name, folded, message_id, priority, sql.read_time(due_at), *counts)
        for project_id, name, folded, message_id, priority, due_at, *counts in found
    ]


def owes_overdue() -> Exists:
    """Whether an agent owes an overdue acknowledgement."""
    deliveries = Delivery.unscoped.filter(project=OuterRef("project"), folded=OuterRef("folded"))
    return Exists(deliveries.filter(owed=True, acked_at=None, message__ack=True, message__ack_overdue=True))


def overdue_of(project_id: int, folded: str, limit: int) -> list[tuple[int, int]]:
    """The overdue messages that an agent has not acknowledged, as (id, priority), the most urgent first."""
    return [
        (message_id, priority)
        for message_id, priority in sql.rows(
            """SELECT m.id, m.priority FROM messaging_message m
            JOIN messaging_delivery d ON d.message_id = m.id AND d.folded = %s
            WHERE m.project_id = %s AND m.ack AND m.ack_overdue AND d.owed AND d.acked_at IS NULL
            ORDER BY m.priority DESC, coalesce(m.ack_due_at, m.created_at), m.id LIMIT %s""",
            [folded, project_id, limit],
        )
    ]


def replies_with_payload(
    project_ids: Sequence[int], message_ids: Sequence[int], since: datetime, limit: int
) -> list[tuple[int, str, datetime, object]]:
    """Replies: the message answered, the recipient's case-folded name, time and payload; newest first."""
    among, values = sql.among("m.project_id", project_ids)
    replied, ids = sql.among("m.reply_to_id", message_ids)
    found = sql.rows(
        f"""SELECT m.reply_to_id, d.folded, m.created_at, m.payload FROM messaging_message m
        JOIN messaging_delivery d ON d.message_id = m.id
        WHERE {among} AND m.reply_to_id IS NOT NULL AND {replied}
            AND m.created_at > %s AND NOT m.to_everyone AND m.payload IS NOT NULL
        ORDER BY m.id DESC LIMIT %s""",
        [*values, *ids, sql.stored_time(since), limit],
    )
    return [
        (message_id, folded, sql.read_time(at), sql.read_json(payload))
        for message_id, folded, at, payload in found
    ]


def read_unclaimed(
    project_ids: Sequence[int], sent_before: datetime, now: datetime, limit: int
) -> list[Unclaimed]:
    """The most urgent request of each project that nobody claims; an expired claim counts for nothing."""
    among, values = sql.among("m.project_id", project_ids)
    found = sql.rows(
        f"""
        WITH waiting AS (
            SELECT m.project_id, m.id, m.sender_id, m.priority, m.created_at, m.to_everyone,
                count(*) OVER (PARTITION BY m.project_id) AS requests,
                row_number() OVER (PARTITION BY m.project_id ORDER BY m.priority DESC, m.id) AS place
            FROM messaging_message m
            WHERE {among} AND m.state > 0 AND m.created_at <= %s AND (m.state = {RequestState.OPEN.value}
                OR m.state = {RequestState.CLAIMED.value} AND m.claimed_until <= %s)),
        first AS (
            SELECT waiting.*, count(*) OVER () AS projects FROM waiting WHERE place = 1
            ORDER BY priority DESC, id LIMIT %s)
        SELECT f.project_id, f.id, a.name, substr(m.text, 1, {TEXT_SHOWN}), f.priority, f.created_at,
            CASE WHEN f.to_everyone THEN NULL ELSE
                (SELECT min(d.name) FROM messaging_delivery d WHERE d.message_id = f.id) END,
            (SELECT count(*) FROM messaging_delivery d WHERE d.message_id = f.id), f.requests, f.projects,
            f.sender_id,
            (SELECT r.id FROM messaging_delivery d
                LEFT JOIN core_agent r ON r.project_id = f.project_id AND r.folded = d.folded
                WHERE d.message_id = f.id ORDER BY d.name LIMIT 1)
        FROM first f JOIN messaging_message m ON m.id = f.id JOIN core_agent a ON a.id = f.sender_id
        ORDER BY f.priority DESC, f.id""",
        [*values, sql.stored_time(sent_before), sql.stored_time(now), limit],
    )
    return [
        Unclaimed(project_id, message_id, sender, text, priority, sql.read_time(sent_at), *others)
        for project_id, message_id, sender, text, priority, sent_at, *others in found
    ]


# Requests are left to the agents for so long.
UNCLAIMED_AFTER = timedelta(minutes=15)
# In the payload of a reminder: the ids of the messages that it reminds of.
REMINDS_OF = "reminds_of"
REPLIES_READ = 200
# Another reminder can be sent after so long.
REMINDED_FOR = timedelta(hours=1)


def find_owing(project_ids: Sequence[int], *, at_most: int) -> list[Owing]:
    """The agents that owe overdue acknowledgements, the most urgent first."""
    return read_owing(project_ids, at_most)


def find_reminders(
    project_ids: Sequence[int], message_ids: Sequence[int]
) -> Mapping[tuple[int, str], datetime]:
    """When agents were last reminded of messages, by message id and folded name, in the last hour."""
    if not message_ids:
        return {}
    newest: dict[tuple[int, str], datetime] = {}
    since = clock.now() - REMINDED_FOR
    for message_id, folded, at, payload in replies_with_payload(
        project_ids, message_ids, since, REPLIES_READ
    ):
        if isinstance(payload, Mapping) and REMINDS_OF in payload:
            newest.setdefault((message_id, folded), at)
    return newest


def find_unclaimed(project_ids: Sequence[int], *, at_most: int) -> list[Unclaimed]:
    """The most urgent unclaimed request of each project that has some."""
    now = clock.now()
    return read_unclaimed(project_ids, now - UNCLAIMED_AFTER, now, at_most)


LIST = "messaging_message"
URGENCIES: Mapping[int, str] = {Priority.HIGH: "urgent", Priority.CRITICAL: "critical"}


# -- Overdue acknowledgements ----------------------------------------------------------------------


def overdue_acknowledgements(reader: Reader) -> FoundNeeds:
    owing = find_owing(reader.project_ids, at_most=SHOWN)
    reminders = find_reminders(reader.project_ids, sorted({each.message_id for each in owing}))
    return FoundNeeds(
        [_owing_need(each, reader, reminders.get((each.message_id, each.folded))) for each in owing],
        owing[0].agents if owing else 0,
        "agents",
        "with overdue acknowledgements",
        reader.list_url(LIST, waits="late"),
    )


def _owing_need(owing: "Owing", reader: Reader, reminded_at: datetime | None) -> Need:
    is_own = owing.folded == reader.name.casefold()
    actions: list[PageLink | Button] = [PageLink("Open", _owed_url(owing, reader))]
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


def unclaimed_requests(reader: Reader) -> FoundNeeds:
    unclaimed = find_unclaimed(reader.project_ids, at_most=SHOWN)
    return FoundNeeds(
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
        [PageLink("Open", _request_url(request, reader))],
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
