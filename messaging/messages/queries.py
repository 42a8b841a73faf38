"""Reads messages, threads and receipts, and replies and results as links."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, NotRequired

from django.db import connection
from django.db.models import Q, QuerySet
from typing_extensions import TypedDict

from ctxhub.core.accounts.agents import with_agent_pk
from ctxhub.core.hub.refs import find_keys
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import NotFound, unknown_word
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import MAX_LIMIT, clean_limit
from ctxhub.core.kit.listing import Listing, make_cursor, preview
from ctxhub.core.kit.ordering import Ordering, way_of
from ctxhub.core.kit.pages import Condition
from ctxhub.core.kit.priority import Priority
from ctxhub.core.kit.sql import Selected
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.links import Asked, Holder, Link, LinkSource, ObjectKey, Words
from ctxhub.core.registry import find_noun
from ctxhub.toolbox.argument_types import About, Time, one_of
from messaging.messages.deliveries import with_results
from messaging.messages.inputs import LARGEST_ID
from messaging.messages.models import ACK_OWED, READ_OWED, owes
from messaging.messages.rows import MESSAGES, MessageRow, read_thread
from messaging.models import Delivery, MessageType, RequestState

STATES = [str(state.label) for state in RequestState if state]


def clean_state(value: str | int) -> RequestState:
    """The state with this label or number; `none` is refused."""
    label = str(value).strip().lower()
    for state in RequestState:
        if state and label in (state.label, str(state.value)):
            return state
    raise unknown_word("state", value, STATES)


REPLIES = 200


def turns_of(project_id: int, ids: Sequence[int]) -> Selected:
    """Replies and thread neighbours of each message, as `Noun.turns`."""
    which, values = sql.by_ids("f", project_id, ids)
    by_reply_to, reply_values = sql.among("reply_to_id", list(ids))
    ending = f"{sql.ending('f.text')} AS ending"
    # `id + 0`: ordering by the plain id would make SQLite scan all messages.
    statement = f"""
        SELECT f.id, {ending}, 1 AS place, (
            SELECT n.id FROM messaging_message n
            WHERE n.thread_id = coalesce(f.thread_id, f.id) AND n.id > f.id ORDER BY n.id LIMIT 1) AS other
        FROM messaging_message f WHERE {which}
        UNION ALL SELECT f.id, {ending}, -1 AS place, coalesce((
                SELECT p.id FROM messaging_message p
                WHERE p.thread_id = f.thread_id AND p.id < f.id ORDER BY p.id DESC LIMIT 1),
            f.thread_id) AS other
        FROM messaging_message f WHERE {which}
        UNION ALL SELECT * FROM (
            SELECT reply_to_id, '', 0, id FROM messaging_message
            WHERE {by_reply_to} AND project_id = %s ORDER BY id + 0 LIMIT {REPLIES}) r"""
    return statement, [*values, *values, *reply_values, project_id]


KIND, REPLY_TO, RESULT_REFS = "message", "reply_to", "result_refs"
WORDS = {
    REPLY_TO: Words("replies to", "is answered by"),
    RESULT_REFS: Words("resulted in", "is a result of"),
}


def read_links(asked: Asked) -> list[Link]:
    """The links of objects with the messages that led to them, or of messages with what they led to."""
    return _read_causes(asked) if asked.to_causes else _read_effects(asked)


def _read_causes(asked: Asked) -> list[Link]:
    """The messages that these messages reply to, and the requests that have these objects as results."""
    keys = _keys_of_refs(asked)
    named, refs = sql.among("r.value", list(keys))
    found, found_values = with_results("m.id", asked.project_id, list(keys))
    done, done_values = _done(asked)
    own, values = sql.by_ids("m", asked.project_id, asked.ids(KIND))
    branches: list[Condition] = [
        (
            f"SELECT 0, m.id, r.value FROM {_results()} WHERE {found} AND {done} AND {named}",
            [*found_values, *done_values, *refs],
        ),
        (
            "SELECT m.id, m.reply_to_id, '' FROM messaging_message m"
            f" WHERE {own} AND m.reply_to_id IS NOT NULL",
            values,
        ),
    ]
    rows = _rows(asked, branches if asked.ids(KIND) else branches[:1])
    return [
        _result(keys[ref], (KIND, cause)) if ref else Link((KIND, here), (KIND, cause), REPLY_TO)
        for here, cause, ref in rows
    ]


def _read_effects(asked: Asked) -> list[Link]:
    """The replies to these messages, and the results of those that are requests."""
    if not (ids := asked.ids(KIND)):
        return []
    replies, values = sql.among("m.reply_to_id", ids)
    own, _ = sql.among("m.id", ids)
    done, done_values = _done(asked)
    found = _rows(
        asked,
        [
            (
                "SELECT m.reply_to_id, m.id, '' FROM messaging_message m"
                f" WHERE {replies} AND +m.project_id = %s",
                [*values, asked.project_id],
            ),
            (f"SELECT m.id, 0, r.value FROM {_results()} WHERE {done} AND {own}", [*done_values, *values]),
        ],
    )
    keys = find_keys(asked.project_id, {ref for *_, ref in found if ref})
    links = [Link((KIND, one), (KIND, reply), REPLY_TO) for one, reply, ref in found if not ref]
    return links + [_result((KIND, one), keys[ref]) for one, _, ref in found if ref in keys]


def _result(here: ObjectKey, there: ObjectKey) -> Link:
    return Link(here, there, RESULT_REFS, holder=Holder.CAUSE)


def _keys_of_refs(asked: Asked) -> dict[str, ObjectKey]:
    """The objects by the refs that results may have for them; names are read for kinds that have some."""
    found: dict[str, ObjectKey] = {}
    for kind in {kind for kind, _ in asked.keys}:
        ids, noun = asked.ids(kind), find_noun(kind)
        if noun and noun.ids_of and noun.heads:
            heads = noun.heads(asked.project_id, ids)
            found |= {ref: (kind, row_id) for row_id, head in heads.items() for ref in head.refs}
        else:
            found |= {f"{kind}:{row_id}": (kind, row_id) for row_id in ids}
    return found


def _done(asked: Asked) -> Condition:
    """The requests that are done; they are found by id, not by project."""
    return f"+m.project_id = %s AND m.state = {RequestState.DONE.value}", [asked.project_id]


def _results() -> str:
    """Messages `m`, each with every one of its results as `r.value`."""
    if connection.vendor == "sqlite":
        return "messaging_message m CROSS JOIN json_each(m.result_refs) r"
    return "messaging_message m CROSS JOIN LATERAL jsonb_array_elements_text(m.result_refs) r(value)"


def _rows(asked: Asked, branches: Sequence[Condition]) -> list[tuple[Any, ...]]:
    text = " UNION ALL ".join(f"SELECT * FROM ({branch}) b{n}" for n, (branch, _) in enumerate(branches))
    values = [value for _, some in branches for value in some]
    return sql.rows(f"{text} ORDER BY 1, 2, 3 LIMIT %s", [*values, asked.at_most])


LINKS = LinkSource(read_links, words=WORDS)


_FIELDS = ("message", "name", "folded", "owed", "message__ack", "priority", "read_at", "acked_at")


@frozen
class Receipt:
    """`is_owed`: the agent was to read it; `owes`: what is still missing: read or ack."""

    message_id: int
    name: str
    folded: str
    is_owed: bool
    read_at: datetime | None
    acked_at: datetime | None
    owes: str | None


def receipts_of(project_id: int, message_ids: Sequence[int]) -> QuerySet[Delivery]:
    """The deliveries that count as receipts: agents that came later owe nothing, and count once they read."""
    deliveries = Delivery.objects.in_project(project_id).filter(message__in=message_ids)
    return deliveries.filter(Q(owed=True) | Q(read_at__isnull=False))


def first_owing(at_most: int) -> QuerySet[Delivery]:
    """For a prefetch: the first recipients, by name, of whom something is missing, of each message."""
    owing = Delivery.unscoped.filter(ACK_OWED | READ_OWED).order_by("folded")
    return with_agent_pk(owing.only("message", "name"))[:at_most]


def read_receipts(deliveries: QuerySet[Delivery]) -> Iterator[Receipt]:
    for message_id, name, folded, owed, ack, priority, read_at, acked_at in deliveries.values_list(*_FIELDS):
        owing = owes(owed=owed, ack=ack, priority=priority, read_at=read_at, acked_at=acked_at)
        yield Receipt(message_id, name, folded, owed, read_at, acked_at, owing)


THREAD_COLUMNS = (
    *("id", "from", "to", "type", "priority", "text", "payload", "choices", "choice", "reply_to", "ack"),
    *("state", "by", "result_refs", "at"),
)
RECEIPT_COLUMNS = ("agent", "read", "owes", "read_at", "acked_at")

Sender = TypedDict("Sender", {"from": Annotated[str, About("Who wrote it.")]})
State = Annotated[str, one_of(*STATES)]
HeldBy = Annotated[str, About("Who holds it, or has done it.")]


class Message(Sender):
    """Which of the optional ones are there depends on the message."""

    id: int
    to: Annotated[list[str] | None, About("Null: everyone.")]
    type: Annotated[str, one_of(*MessageType.labels)]
    priority: Annotated[str, one_of(*Priority.labels)]
    text: str
    payload: NotRequired[Annotated[Any, About("Any JSON.", {"nullable": True})]]
    choices: NotRequired[Annotated[list[str], About("Answers to choose from.")] | None]
    choice: NotRequired[Annotated[str, About("Which of the choices this reply takes.")] | None]
    ack: NotRequired[bool | None]
    at: Time


class ListedMessage(Message):
    thread: Annotated[int, About("The first message of its thread.")]


class WholeMessage(ListedMessage):
    reply_to: NotRequired[int]
    ack_due: NotRequired[Time]
    state: NotRequired[State]
    by: NotRequired[HeldBy]
    claimed_until: NotRequired[Time]
    result_refs: NotRequired[list[str]]


def find_message(project_id: int, message_id: int) -> MessageRow | None:
    return MESSAGES.read(project_id, [message_id]).get(message_id) if 0 < message_id <= LARGEST_ID else None


def get_message(project_id: int, message_id: int) -> MessageRow:
    """The message of this id. Raises NotFound."""
    message = find_message(project_id, message_id)
    if message is None:
        raise unknown_message(message_id)
    return message


def unknown_message(message_id: int) -> NotFound:
    return NotFound(
        f"There is no message {message_id}.",
        hint=f"{operation('message inbox')} shows yours, with their ids.",
    )


def message_item(message: MessageRow, now: datetime | None = None) -> dict[str, Any]:
    """A message with all its fields; empty ones are left out."""
    now = now or clock.now()
    item: WholeMessage = {
        "id": message.id,
        "from": message.sender,
        "to": message.named_to,
        "type": message.type_label,
        "priority": message.priority_label,
        "text": message.text,
        "thread": message.thread,
        "at": format_time(message.created_at),
    }
    if message.payload is not None:
        item["payload"] = message.payload
    is_held = message.is_held(now)
    is_told_by_whom = is_held or message.state == RequestState.DONE or not message.is_request
    others: Mapping[str, Any] = {
        "choices": list(message.choices),
        "choice": message.choice,
        "reply_to": message.reply_to_id,
        "ack": message.ack,
        "ack_due": message.ack_due_at and format_time(message.ack_due_at),
        "state": message.state_label(now),
        "by": message.claimed_by if is_told_by_whom else None,
        "claimed_until": format_time(message.claimed_until) if is_held and message.claimed_until else None,
        "result_refs": list(message.result_refs),
    }
    return {**item, **{name: value for name, value in others.items() if value}}


def find_thread(project_id: int, root: int, *, limit: int, after: int = 0) -> list[MessageRow]:
    """The messages of a thread with ids greater than `after`, oldest first."""
    return read_thread(project_id, root, after, limit)


def list_thread(
    project_id: int,
    message_id: int,
    *,
    limit: int = 20,
    cursor: str | None = None,
    ordering: Ordering = None,
) -> Listing:
    """The thread that contains this message, oldest first. Raises NotFound."""
    limit, way = clean_limit(limit), way_of(ordering, "at")
    after = way.read(cursor, int)[0] if cursor else None
    root = get_message(project_id, message_id).thread
    found = read_thread(project_id, root, after, limit + 1, way)
    rows, now = found[:limit], clock.now()
    return Listing(
        THREAD_COLUMNS,
        [_thread_row(message, now) for message in rows],
        next=way.cursor(rows[-1].id) if len(found) > limit else None,
        cursor_after=lambda count: way.cursor(rows[count - 1].id),
    )


def list_receipts(
    project_id: int,
    message_id: int,
    *,
    limit: int = MAX_LIMIT,
    cursor: str | None = None,
    ordering: Ordering = None,
) -> Listing:
    """Who owes a message or has read it: whether and when, and what it still owes: read, ack or null.

    Of a request also its state. Agents that came after a message to everyone owe nothing.
    """
    limit, way = clean_limit(limit), way_of(ordering, "agent")
    message = get_message(project_id, message_id)
    deliveries = receipts_of(project_id, [message_id])
    if cursor:
        [position] = way.read(cursor, str)
        deliveries = deliveries.filter(**{"folded__lt" if way.is_down else "folded__gt": position})
    found = list(read_receipts(deliveries.order_by("-folded" if way.is_down else "folded")[: limit + 1]))
    item = message_item(message)
    return Listing(
        RECEIPT_COLUMNS,
        [_receipt_row(receipt) for receipt in found[:limit]],
        next=way.cursor(found[limit - 1].folded) if len(found) > limit else None,
        extra={
            name: item[name]
            for name in ("ack_due", "state", "by", "claimed_until", "result_refs")
            if name in item
        },
        cursor_after=lambda count: make_cursor(found[count - 1].folded),
        kept=frozenset({"read", "owes"}),
    )


def _receipt_row(receipt: Receipt) -> list[Any]:
    times = (at and format_time(at) for at in (receipt.read_at, receipt.acked_at))
    return [receipt.name, receipt.read_at is not None, receipt.owes, *times]


def open_messages(project_id: int, names: Sequence[str], full: bool) -> dict[str, dict[str, Any]]:
    """Items by name (id as text), or digests with shortened text unless `full`."""
    ids = {name: int(name) for name in names if name.isascii() and name.isdecimal() and len(name) < 19}
    found = MESSAGES.read(project_id, list(ids.values()))
    now = clock.now()
    return {
        name: message_item(found[row_id], now) if full else _digest(found[row_id])
        for name, row_id in ids.items()
        if row_id in found
    }


def _digest(message: MessageRow) -> dict[str, Any]:
    return {"from": message.sender, "type": message.type_label, "text": preview(message.text)}


def _thread_row(message: MessageRow, now: datetime) -> list[Any]:
    item = message_item(message, now)
    return [item.get(name) for name in THREAD_COLUMNS]
