"""Message rows, their table, and threads."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.accounts.named_agents import PEOPLE
from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.holder import Holder
from ctxhub.core.kit.ordering import IN_SEQUENCE, NEWEST_FIRST, Ordering, Way, clean_one_field
from ctxhub.core.kit.priority import Priority
from ctxhub.core.kit.rows import BareRow, Computed, Table
from messaging.models import Message, MessageType, RequestState

TYPE_LABELS = {int(value): str(label) for value, label in MessageType.choices}
PRIORITY_LABELS = {int(value): str(label) for value, label in Priority.choices}


@frozen(kw_only=True)
class MessageRow(BareRow):
    """`to`: the names of the recipients, None for everyone; `people`: of the people whom it does not name, if
    it is `to_people`. `claimed_by` holds or has done a request."""

    sender: str
    sender_id: int
    to: Sequence[str] | None = ()
    people: Sequence[str] = ()
    to_everyone: bool
    to_people: bool = False
    text: str
    payload: Any = None
    choices: Sequence[str] = ()
    choice: str = ""
    type: int
    priority: int
    thread_id: int | None = None
    reply_to_id: int | None = None
    ack: bool = False
    ack_due_at: datetime | None = None
    ack_overdue: bool = False
    escalated: bool = False
    state: int
    claimed_by: str | None = None
    claimed_by_id: int | None = None
    claimed_session: str = ""
    claimed_made_up: bool = False
    claimed_until: datetime | None = None
    done_at: datetime | None = None
    result_refs: Sequence[str] = ()
    created_at: datetime

    @property
    def thread(self) -> int:
        """The id of the first message of its thread."""
        return self.thread_id or self.id

    @property
    def named_to(self) -> list[str] | None:
        """The recipients as a call names them."""
        return None if self.to is None else [*((PEOPLE,) if self.to_people else ()), *self.to]

    @property
    def type_label(self) -> str:
        return TYPE_LABELS[self.type]

    @property
    def priority_label(self) -> str:
        return PRIORITY_LABELS[self.priority]

    @property
    def holder(self) -> Holder:
        return Holder((self.claimed_by or "").casefold(), self.claimed_session, self.claimed_made_up)

    @property
    def is_request(self) -> bool:
        return self.type == MessageType.REQUEST

    def is_held(self, now: datetime) -> bool:
        """Whether the request is claimed and the claim has not expired."""
        return (
            self.state == RequestState.CLAIMED and self.claimed_until is not None and self.claimed_until > now
        )

    def state_label(self, now: datetime) -> str | None:
        """The state of a request, None for other types; an expired claim counts as open."""
        if not self.is_request:
            return None
        is_expired = self.state == RequestState.CLAIMED and not self.is_held(now)
        return str(RequestState.OPEN.label if is_expired else RequestState(self.state).label)


def _names(condition: str) -> str:
    names = f"SELECT {sql.json_list('r.name')} FROM messaging_delivery r WHERE r.message_id = d.id"
    return f"coalesce(({names} AND {condition}), '[]')"


def _recipients() -> str:
    return f"CASE WHEN d.to_everyone THEN NULL ELSE {_names('NOT r.to_people')} END"


def _people() -> str:
    return f"CASE WHEN d.to_people THEN {_names('r.to_people')} ELSE '[]' END"


def _read_recipients(names: Any) -> list[str] | None:
    return None if names is None else sorted(sql.read_json(names), key=str.casefold)


MESSAGES = Table(
    Message,
    MessageRow,
    computed={
        "to": Computed(_recipients, read=_read_recipients),
        "people": Computed(_people, read=lambda names: _read_recipients(names) or []),
    },
)

# The columns that inboxes read, and those that threads read.
IN_INBOX = (
    *("id", "sender", "sender_id", "to", "to_everyone", "to_people", "text", "payload", "type", "priority"),
    *("thread_id", "choices", "choice", "state", "claimed_until", "created_at"),
)
IN_THREAD = (*IN_INBOX, "reply_to_id", "ack", "ack_due_at", "ack_overdue", "claimed_by", "result_refs")


def read_thread(
    project_id: int, root_id: int, after: int | None, limit: int, way: Way = IN_SEQUENCE
) -> list[MessageRow]:
    """The messages of a thread whose ids follow `after`, oldest first unless `way` says so."""
    behind, values = way.behind("id", after)
    statement = f"""
        WITH page AS MATERIALIZED (
            SELECT id FROM messaging_message WHERE project_id = %s AND id = %s {behind}
            UNION ALL SELECT id FROM (
                SELECT id FROM messaging_message WHERE project_id = %s AND thread_id = %s {behind}
                ORDER BY {way.of("id")} LIMIT %s) later)
        SELECT {MESSAGES.selected(IN_THREAD, "page CROSS JOIN")}
        WHERE d.id = page.id ORDER BY {way.of("d.id")} LIMIT %s"""
    position = [project_id, root_id, *values]
    return MESSAGES.as_rows(sql.rows(statement, [*position, *position, limit, limit]), IN_THREAD)


Position = tuple[int, datetime, int]
"""Keyset position of a page of an inbox: priority, time and id of its last message."""


@frozen
class InboxOrder:
    """By priority and time, or by time alone; `way` is that of all columns."""

    way: Way
    by_time: bool = False

    def by(self, *columns: str) -> str:
        """An ORDER BY of priority, time and id."""
        return self.way.of(*(columns[1:] if self.by_time else columns))

    def is_over(self, priority: Priority, after: Position) -> bool:
        """Whether the pages before have shown all messages of this priority."""
        return not self.by_time and self.way.follows(after[0], priority)


URGENT_FIRST = InboxOrder(NEWEST_FIRST)
ORDERS = ("priority", "at")


def inbox_order(ordering: Ordering) -> InboxOrder:
    word = clean_one_field(ordering, ORDERS)
    if word in ("", "-priority"):
        return URGENT_FIRST
    return InboxOrder(Way(word.startswith("-"), word), by_time=word.endswith("at"))
