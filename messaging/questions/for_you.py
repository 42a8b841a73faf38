"""What waits for a person: the messages, requests and questions to their name or to the people."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.priority import Priority
from messaging.messages.models import URGENT
from messaging.models import MessageType, RequestState

TEXT_SHOWN = 600


@frozen
class Waiting:
    """`beginning`: of its text. `is_own`: the person has taken the request. `to_ack`: it asks for that."""

    project_id: int
    id: int
    sender_id: int
    sender: str
    beginning: str
    is_cut: bool
    type: int
    priority: int
    choices: Sequence[str]
    refs: Sequence[str]
    to_people: bool
    to_ack: bool
    is_own: bool
    at: datetime

    @property
    def ref(self) -> str:
        return f"message:{self.id}"

    @property
    def is_request(self) -> bool:
        return self.type == MessageType.REQUEST

    @property
    def is_urgent(self) -> bool:
        return self.priority >= URGENT

    @property
    def urgency(self) -> str:
        return str(Priority(self.priority).label)


@frozen
class ForYou:
    """`shown`: the most urgent ones, then the newest; `total` in all, counted to `COUNTED_TO`.

    `senders`: how many of them are from each, by the sender's id.
    """

    shown: Sequence[Waiting]
    total: int
    senders: Mapping[int, int]


COUNTED_TO = 200
# A request that nobody else holds; what is to be acknowledged; a question without an answer; what is unread.
_WAITS = f"""
    d.project_id = %s AND d.folded = %s AND d.owed AND (NOT m.to_everyone OR EXISTS (
        SELECT 1 FROM core_preference p WHERE p.user_id = %s AND p.broadcasts))
    AND NOT (m.to_people AND m.claimed_by_id IS NOT NULL AND m.state = {RequestState.NONE.value})
    AND CASE
        WHEN m.type = {MessageType.REQUEST.value} THEN m.state = {RequestState.OPEN.value}
            OR (m.state = {RequestState.CLAIMED.value} AND (m.claimed_until <= %s OR c.folded = %s))
        WHEN m.ack AND d.acked_at IS NULL THEN true
        WHEN {{questions}} THEN NOT EXISTS (
            SELECT 1 FROM messaging_message r JOIN core_agent s ON s.id = r.sender_id
            WHERE r.reply_to_id = m.id AND s.folded = d.folded)
        ELSE d.read_at IS NULL END"""


def find_for_you(
    project_ids: Sequence[int],
    name: str,
    *,
    limit: int,
    but: Sequence[int] = (),
    user_id: int = 0,
) -> ForYou:
    """What waits for the person of this name, without the messages of these ids.

    `user_id`: of their account, which may have asked for what goes to everyone.

    One statement, with a range of an index for each project.
    """
    if not project_ids:
        return ForYou([], 0, {})
    folded, now = name.casefold(), sql.stored_time(clock.now())
    length = "json_array_length" if sql.is_sqlite() else "jsonb_array_length"
    waits = _WAITS.format(questions=f"{length}(m.choices) > 0")
    source = """messaging_delivery d JOIN messaging_message m ON m.id = d.message_id
        LEFT JOIN core_agent c ON c.id = m.claimed_by_id"""
    among, others = sql.among("m.id", list(but)) if but else ("1 = 0", [])
    columns = "m.id, m.sender_id, m.priority, m.created_at, c.folded AS holder"
    arm = f"SELECT {columns} FROM {source} WHERE {waits}"
    arms = " UNION ALL ".join(f"{arm} AND NOT ({among})" for _ in project_ids)
    values: list[Any] = []
    for project_id in project_ids:
        values += [project_id, folded, user_id, now, folded, *others]
    found = sql.rows(
        f"""
        WITH waiting AS MATERIALIZED (SELECT * FROM ({arms}) arms LIMIT {COUNTED_TO}),
        page AS MATERIALIZED (
            SELECT id, holder FROM waiting ORDER BY priority DESC, created_at DESC, id DESC LIMIT %s)
        SELECT (SELECT {sql.json_list("sender_id")} FROM waiting), m.project_id, m.id, m.sender_id, a.name,
            substr(m.text, 1, {TEXT_SHOWN + 1}), m.type, m.priority, m.choices, m.payload, m.to_people,
            m.ack AND d.acked_at IS NULL, page.holder, m.created_at
        FROM page JOIN messaging_message m ON m.id = page.id JOIN core_agent a ON a.id = m.sender_id
        JOIN messaging_delivery d ON d.message_id = m.id AND d.folded = %s
        ORDER BY m.priority DESC, m.created_at DESC, m.id DESC""",
        [*values, limit, folded],
    )
    senders = sql.read_json(found[0][0]) if found else []
    return ForYou([_waiting(row, folded) for _, *row in found], len(senders), Counter(senders))


def _waiting(row: Sequence[Any], folded: str) -> Waiting:
    project_id, row_id, sender_id, sender, text, sort, priority, choices, payload, people, ack, holder, at = (
        row
    )
    payload = sql.read_json(payload) if payload is not None else None
    return Waiting(
        project_id=project_id,
        id=row_id,
        sender_id=sender_id,
        sender=sender,
        beginning=text[:TEXT_SHOWN],
        is_cut=len(text) > TEXT_SHOWN,
        type=sort,
        priority=priority,
        choices=sql.read_json(choices),
        refs=_refs_in(payload),
        to_people=bool(people),
        to_ack=bool(ack),
        is_own=holder == folded,
        at=sql.read_time(at),
    )


def _refs_in(payload: Any) -> list[str]:
    """What a message says it is about: the refs and paths of its payload."""
    if not isinstance(payload, Mapping):
        return []
    found: list[str] = []
    for name in ("ref", "refs", "path", "paths"):
        value = payload.get(name)
        listed = value if isinstance(value, list) else [value]
        found += [each for each in listed if isinstance(each, str) and each.strip()]
    return list(dict.fromkeys(found))[:8]
