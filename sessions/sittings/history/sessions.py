"""The history of sessions: events, counters and index entries of every change."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.events.services import events
from ctxhub.core.events.services.counters import CounterKey, add_to_counters, counter_key
from ctxhub.core.history import Change, History
from ctxhub.core.search.documents import Document
from sessions.sittings.rows.sessions import SESSIONS, SessionRow
from sessions.sittings.search.sessions import session_document
from sessions.sittings.sql.sessions import leave_snapshots

RESTORED = "restored"


class SessionHistory(History[SessionRow]):
    """Implicit sessions are not counted and leave no event. The `detail` of a restored one is RESTORED."""

    kind = "session"
    table = SESSIONS
    compared = ("name", "workspace_id", "summary", "token_count", "parent", "implicit", "saved_at")

    def document(self, row: SessionRow) -> Document | None:
        return session_document(row)

    def event(self, change: Change[SessionRow], at: datetime) -> events.Change:
        if change.is_restored:
            return events.Change(self.kind, change.verb, self.ref(change.row), {})
        verb = "deleted" if change.new is None else change.detail or "saved"
        parent = change.row.parent_id
        data = {"note": f"from session {parent}"} if verb == RESTORED and parent else {}
        return events.Change(self.kind, verb, self.ref(change.row), data)

    def count(self, changes: Sequence[Change[SessionRow]]) -> Counter[CounterKey]:
        counts: Counter[CounterKey] = Counter()
        for change in changes:
            for row, by in ((change.old, -1), (change.new, 1)):
                if row and not row.is_implicit:
                    counts[self.counter_of(row)] += by
        return counts

    def before_record(
        self, project_id: int, agent_id: int | None, changes: Sequence[Change[SessionRow]], at: datetime
    ) -> Mapping[int, Any]:
        if deleted := [change.row.id for change in changes if change.new is None]:
            leave_snapshots(project_id, deleted)
        return {}

    def record(
        self,
        *,
        project_id: int,
        agent_id: int | None,
        changes: Sequence[Change[SessionRow]],
        at: datetime,
    ) -> None:
        if hidden := [change for change in changes if is_hidden(change)]:
            self.before_record(project_id, agent_id, hidden, at)
            self.index(project_id, hidden)
        shown = [change for change in changes if not is_hidden(change)]
        super().record(project_id=project_id, agent_id=agent_id, changes=shown, at=at)


HISTORY = SessionHistory()


def is_hidden(change: Change[SessionRow]) -> bool:
    return all(row.is_implicit for row in (change.old, change.new) if row)


def count_opened(project_id: int) -> None:
    """Count a session that was opened by its name. It leaves no event before it is saved."""
    add_to_counters(project_id, Counter({counter_key(HISTORY.kind): 1}))
