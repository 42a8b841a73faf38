"""Notices: what agents were told, stored so that they hear it once, and the texts that tell of changes."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.text.secrets import find_secret
from ctxhub.core.text.sentences import in_one_line
from messaging.messages.models import URGENT

SHOWN_CHARACTERS = 80
DEPRECATED = "deprecated"


@frozen
class ChangedDecision:
    """`was` and `now` are versions; `now` of a deprecated one is "deprecated", and `reason` says why."""

    id: int
    key: str
    was: str
    now: str
    was_value: str = ""
    now_value: str = ""
    reason: str = ""

    @property
    def ref(self) -> str:
        return f"decision:{self.key}"

    @property
    def notice(self) -> str:
        """The version that a notice is about: a decision may be changed and then deprecated."""
        return f"{DEPRECATED} {self.was}" if self.now == DEPRECATED else self.now

    @property
    def line(self) -> str:
        """What changed, from what to what, and how to read it."""
        what = self._deprecated() if self.now == DEPRECATED else self._changed()
        return f"{self.ref} {what} Read it: get {self.ref}"

    @property
    def payload(self) -> dict[str, Any]:
        return {"now": self.now, "ref": self.ref, "was": self.was}  # In the order in which jsonb keeps them.

    def _changed(self) -> str:
        was, now = _shown(self.was_value), _shown(self.now_value)
        values = f": {was} is now {now}" if was and now else ""
        return f"changed from {self.was} to {self.now}{values}."

    def _deprecated(self) -> str:
        reason = _shown(self.reason)
        return f"({self.was}) is deprecated{f': {reason}' if reason else ''}."


def message_of(decisions: Sequence[ChangedDecision]) -> tuple[str, Any]:
    """The text and the payload of a message about one decision, or about several at once."""
    payloads = [decision.payload for decision in decisions]
    text = "\n".join(decision.line for decision in decisions)
    return text, payloads[0] if len(payloads) == 1 else payloads


def _shown(text: str) -> str:
    """A text in one short line; "" for one that holds a credential, which may have to be deleted."""
    if find_secret(text):
        return ""
    line = in_one_line(text)
    line = f"{line[:SHOWN_CHARACTERS].rstrip()}…" if len(line) > SHOWN_CHARACTERS else line
    return line.rstrip(".")


AT_ONCE = 2_000
# The urgent messages in which those are looked for of which an agent was not told.
URGENT_READ = 1_000


class NoticeKey(NamedTuple):
    kind: str
    object_id: int
    version: str = ""


class NewNotice(NamedTuple):
    agent_id: int
    key: NoticeKey
    message_id: int | None
    nudged_at: datetime | None


class Unheard(NamedTuple):
    """A changed decision that a message told of, and no nudge yet. `status`: the current one."""

    key: NoticeKey
    decision: str
    version: str
    status: int
    by: str


def find_notices(
    project_id: int, agent_ids: Sequence[int], keys: Iterable[NoticeKey]
) -> set[tuple[int, NoticeKey]]:
    """Which of these agents were told which of these things."""
    wanted = set(keys)
    agents, agent_values = sql.among("agent_id", agent_ids)
    objects, object_values = sql.among("object_id", sorted({key.object_id for key in wanted}))
    found = sql.rows(
        f"""SELECT agent_id, kind, object_id, version FROM agent_sessions_notice
        WHERE project_id = %s AND {agents} AND {objects}""",
        [project_id, *agent_values, *object_values],
    )
    told = ((agent_id, NoticeKey(*key)) for agent_id, *key in found)
    return {(agent_id, key) for agent_id, key in told if key in wanted}


def write_notices(project_id: int, notices: Sequence[NewNotice], at: datetime) -> None:
    """Store that agents were told, or were nudged about what they had been told."""
    moment = sql.stored_time(at)
    for some in sql.chunks(notices, AT_ONCE):
        sql.insert(
            "agent_sessions_notice",
            ("project_id", "agent_id", *NoticeKey._fields, "message_id", "nudged_at", "created_at"),
            [
                (
                    project_id,
                    n.agent_id,
                    *n.key,
                    n.message_id,
                    n.nudged_at and sql.stored_time(n.nudged_at),
                    moment,
                )
                for n in some
            ],
            "ON CONFLICT (agent_id, kind, object_id, version) DO UPDATE SET nudged_at = excluded.nudged_at",
        )


def find_untold_mail(project_id: int, agent_id: int | None, folded: str) -> list[int]:
    """The unread urgent messages that an agent owes and was not told of, urgent first, then newest.

    At most 1,000.
    """
    # NOT IN reads the notices once. PostgreSQL without statistics would read them all for each message
    # with NOT EXISTS or a subquery of the message.
    found = sql.rows(
        f"""
        SELECT u.message_id FROM (
            SELECT message_id, priority, at FROM messaging_delivery
            WHERE project_id = %s AND folded = %s AND read_at IS NULL AND priority >= {URGENT:d} AND owed
            ORDER BY priority DESC LIMIT %s) u
        WHERE u.message_id NOT IN (
            SELECT object_id FROM agent_sessions_notice
            WHERE agent_id = %s AND kind = 'message' AND version = '')
        ORDER BY u.priority DESC, u.at DESC, u.message_id DESC""",
        [project_id, folded, URGENT_READ, agent_id],
    )
    return [message_id for (message_id,) in found]


def find_unheard(project_id: int, agent_id: int, folded: str, at_most: int) -> list[Unheard]:
    """The changed decisions that an agent was told of by a message that it has not read, the latest first.

    Without those of which it was given the current version since, or which it changed last.
    """
    found = sql.rows(
        """
        SELECT n.kind, n.object_id, n.version, d.key, d.version, d.status, coalesce(a.name, 'system')
        FROM agent_sessions_notice n
        JOIN memory_decision d ON d.project_id = %s AND d.id = n.object_id
        LEFT JOIN core_agent a ON a.id = d.agent_id
        WHERE n.project_id = %s AND n.agent_id = %s AND n.nudged_at IS NULL AND n.kind = 'decision'
        AND (d.agent_id IS NULL OR d.agent_id <> n.agent_id)
        AND NOT EXISTS (
            SELECT 1 FROM messaging_delivery m
            WHERE m.message_id = n.message_id AND m.folded = %s AND m.read_at IS NOT NULL)
        AND NOT EXISTS (
            SELECT 1 FROM agent_sessions_briefingitem i JOIN agent_sessions_briefing b ON b.id = i.briefing_id
            WHERE i.project_id = %s AND i.kind = 'decision' AND i.object_id = n.object_id
            AND b.agent_id = n.agent_id AND b.at > n.created_at)
        ORDER BY n.id DESC LIMIT %s""",
        [project_id, project_id, agent_id, folded, project_id, at_most],
    )
    return [Unheard(NoticeKey(*row[:3]), *row[3:]) for row in found]
