"""The history of sessions: events, counters and index entries of every change."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from ctxhub.core.events import log
from ctxhub.core.events.counters import CounterKey, add_to_counters, counter_key
from ctxhub.core.history import Change, History
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.search.documents import Document
from ctxhub.core.search.index import index_again
from sessions.sittings.contents import leave_snapshots
from sessions.sittings.models import AgentSession, ContextItem, Conversation, WorkspaceState
from sessions.sittings.rows import INDEXED_CHARACTERS, SESSIONS, SessionRow

TITLE_LENGTH = 500


def session_document(row: SessionRow) -> Document | None:
    """None for a session that was never saved: a restored one repeats the summary of its parent."""
    if row.saved_at is None:
        return None
    title, _, rest = row.summary.strip().partition("\n")
    summary = rest.strip() if len(title) <= TITLE_LENGTH else row.summary
    items = "\n\n".join(row.items)[:INDEXED_CHARACTERS]
    texts = (summary, row.active_project, row.branch, items, row.conversation)
    return Document(
        object_id=row.id,
        ref=f"session:{row.id}",
        title=title.strip()[:TITLE_LENGTH] or row.workspace_id,
        body="\n\n".join(text for text in texts if text),
        at=row.saved_at,
        agent_id=row.agent_id,
        unshown=(row.workspace_id, row.name),
    )


RESTORED = "restored"


class SessionHistory(History[SessionRow]):
    """Implicit sessions are not counted and leave no event. The `detail` of a restored one is RESTORED."""

    kind = "session"
    table = SESSIONS
    compared = ("name", "workspace_id", "summary", "token_count", "parent", "implicit", "saved_at")

    def document(self, row: SessionRow) -> Document | None:
        return session_document(row)

    def event(self, change: Change[SessionRow], at: datetime) -> log.Change:
        if change.is_restored:
            return log.Change(self.kind, change.verb, self.ref(change.row), {})
        verb = "deleted" if change.new is None else change.detail or "saved"
        parent = change.row.parent_id
        data = {"note": f"from session {parent}"} if verb == RESTORED and parent else {}
        return log.Change(self.kind, verb, self.ref(change.row), data)

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


@receiver([post_save, post_delete], sender=Conversation)
@receiver([post_save, post_delete], sender=ContextItem)
@receiver([post_save, post_delete], sender=WorkspaceState)
def index_session(
    instance: Conversation | ContextItem | WorkspaceState, origin: Any = None, **_: Any
) -> None:
    """`origin`: what is deleted; the index of a deleted session is cleared with the session."""
    if origin is not None and getattr(origin, "model", type(origin)) is not type(instance):
        return
    if AgentSession.objects.in_project(instance.project_id).filter(pk=instance.session_id).exists():
        with write_transaction(instance.project_id):
            index_again(instance.project_id, "session", [instance.session_id])
