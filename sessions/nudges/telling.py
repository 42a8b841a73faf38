"""Tells agents that a decision has changed which they were given or wrote, and holders of released leases."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ctxhub.core.accounts.agents import agent_names
from ctxhub.core.accounts.config import config_of
from ctxhub.core.history import Change
from ctxhub.core.kit.caller import Caller, current
from ctxhub.core.kit.sql import chunks
from ctxhub.core.models import Project
from ctxhub.core.text.sentences import in_one_line, shortened
from memory.decisions.models import DecisionStatus
from memory.decisions.rows import DecisionRow
from messaging.messages.services import tell_agents
from sessions.given.presences import current_readers
from sessions.given.queries import Outdated, Reader, find_outdated, find_readers
from sessions.nudges.notices import (
    DEPRECATED,
    ChangedDecision,
    NewNotice,
    NoticeKey,
    find_notices,
    message_of,
    write_notices,
)
from sessions.windows.calls import CURRENT_FOR
from tracking.leases.rows import LeaseRow

# The most agents that hear of a change.
MOST_TOLD = 50
KIND = "decision"
NEVER = datetime.min.replace(tzinfo=UTC)

Told = Mapping[int, Sequence[ChangedDecision]]
"""What each agent hears, by its id."""


def tell_of_changes(
    *, project_id: int, changer_id: int, changes: Sequence[Change[Any]], at: datetime
) -> None:
    """Tell the agents whose current session was given or wrote an older version, in the transaction.

    Reads once, and no more if nobody but the changer was given or wrote one of the decisions.
    """
    changed = {change.row.id: found for change in changes if (found := changed_decision(change))}
    if not changed:
        return
    readers = find_readers(project_id, KIND, list(changed), but=changer_id)
    authors = _unrecorded_authors(
        [change.old for change in changes if change.row.id in changed], readers, changer_id, at
    )
    if known := [*authors, *readers]:
        pairs = [(reader, changed[reader.object_id]) for reader in known]
        _tell(project_id, changer_id, pairs, at, authors=authors)


def tell_of_missed_changes(
    *, project_id: int, briefing_ids: Sequence[int], writing_ids: Sequence[int], at: datetime
) -> None:
    """Tell of what was changed before an answer or a write was recorded, in the transaction of the record."""
    by_changer: dict[int, list[tuple[Reader, ChangedDecision]]] = {}
    for found in find_outdated(project_id, briefing_ids, writing_ids):
        by_changer.setdefault(found.changer_id, []).append((found.reader, _of_outdated(found)))
    for changer_id, pairs in by_changer.items():
        _tell(project_id, changer_id, pairs, at)


def _unrecorded_authors(
    rows: Sequence[Any], readers: Sequence[Reader], changer_id: int, at: datetime
) -> list[Reader]:
    """Who wrote the versions that are replaced, in the last day, where no record tells in which session.

    A write is recorded a second later, and not at all by a process that is killed. A script, which may write
    for many agents at once, tells what is recorded alone.
    """
    if current() is None:
        return []
    recorded = {(reader.agent_id, reader.object_id): reader.at for reader in reversed(readers)}
    return [
        Reader(row.agent_id, None, "", KIND, row.id, row.updated_at)
        for row in rows
        if row.agent_id not in (None, changer_id)
        and recorded.get((row.agent_id, row.id), NEVER) < row.updated_at
        and at - row.updated_at < CURRENT_FOR
    ]


def changed_decision(change: Change[Any]) -> ChangedDecision | None:
    """The new value or the deprecation that a change is, if it is one."""
    old, new = change.old, change.new
    if not (isinstance(old, DecisionRow) and isinstance(new, DecisionRow)):
        return None
    is_deprecated = new.status == DecisionStatus.DEPRECATED != old.status
    if not is_deprecated and (old.value, old.value_type) == (new.value, new.value_type):
        return None
    return ChangedDecision(
        id=new.id,
        key=new.key,
        was=old.version,
        now=DEPRECATED if is_deprecated else new.version,
        was_value=old.value,
        now_value=new.value,
        reason=new.reason or (f"superseded by decision:{new.superseded_by}" if new.superseded_by else ""),
    )


def _of_outdated(found: Outdated) -> ChangedDecision:
    return ChangedDecision(
        id=found.reader.object_id,
        key=found.key,
        was=found.was or found.now,
        now=DEPRECATED if found.is_deprecated else found.now,
        was_value=found.was_value,
        now_value=found.now_value,
        reason=found.reason,
    )


def _tell(
    project_id: int,
    changer_id: int,
    pairs: Sequence[tuple[Reader, ChangedDecision]],
    at: datetime,
    *,
    authors: Sequence[Reader] = (),
) -> None:
    """`authors`: those of the readers that are taken as current."""
    config = config_of(project_id)
    if not (config.tell_stale and config.record_given):
        return
    told = _due(project_id, pairs, at, authors)
    if not told:
        return
    names = agent_names(project_id, [changer_id, *told])
    sender = Caller(project=_project(project_id), agent=names[changer_id], keeps_secrets=True)
    items = [_message(names[agent_id], decisions) for agent_id, decisions in told.items()]
    sent = tell_agents(caller=sender, items=items)
    notices = [
        NewNotice(agent_id, NoticeKey(KIND, decision.id, decision.notice), message_id, None)
        for (agent_id, decisions), message_id in zip(told.items(), sent, strict=True)
        for decision in decisions
    ]
    write_notices(project_id, notices, at)


def _project(project_id: int) -> Project:
    caller = current()
    return (
        caller.project if caller and caller.project_id == project_id else Project.objects.get(pk=project_id)
    )


def _due(
    project_id: int,
    pairs: Sequence[tuple[Reader, ChangedDecision]],
    at: datetime,
    authors: Sequence[Reader],
) -> Told:
    """What each agent hears that has not heard it, of those who were given it last."""
    others = [reader for reader, _ in pairs if reader not in authors]
    current = {*current_readers(project_id, others, at), *authors}
    due: dict[int, dict[NoticeKey, ChangedDecision]] = {}
    for reader, decision in pairs:
        if reader in current:
            due.setdefault(reader.agent_id, {})[NoticeKey(KIND, decision.id, decision.notice)] = decision
    if not due:
        return {}
    heard = find_notices(project_id, list(due), [key for keys in due.values() for key in keys])
    told = {
        agent_id: sorted(
            (decision for key, decision in keys.items() if (agent_id, key) not in heard),
            key=lambda decision: decision.key,
        )
        for agent_id, keys in due.items()
    }
    return dict([item for item in told.items() if item[1]][:MOST_TOLD])


def _message(name: str, decisions: Sequence[ChangedDecision]) -> dict[str, Any]:
    text, payload = message_of(decisions)
    return {"text": text, "to": [name], "type": "decision", "priority": "medium", "payload": payload}


AT_ONCE = 50
PATHS_CHARACTERS = 200
REASON_CHARACTERS = 1_000


def tell_of_release(
    *, project_id: int, agent_id: int | None, leases: Sequence[LeaseRow], reason: str
) -> None:
    """Send each holder a message from the agent who released its leases, in the same transaction."""
    name = agent_names(project_id, [agent_id]).get(agent_id or 0)
    by_holder: dict[str, list[LeaseRow]] = defaultdict(list)
    for lease in leases:
        if name and lease.folded != name.casefold():
            by_holder[lease.agent].append(lease)
    if name and by_holder:
        sender = Caller(project=_project(project_id), agent=name, keeps_secrets=True)
        items = [_release_message(holder, held, reason) for holder, held in by_holder.items()]
        for some in chunks(items, AT_ONCE):
            tell_agents(caller=sender, items=some)


def _release_message(holder: str, leases: Sequence[LeaseRow], reason: str) -> dict[str, Any]:
    refs = [f"lease:{lease.id}" for lease in leases]
    paths = _cut(", ".join(path for lease in leases for path in lease.paths), PATHS_CHARACTERS)
    why = _cut(reason, REASON_CHARACTERS).rstrip(".")
    text = f"I released your lease on {paths}{f': {why}' if why else ''}. Others can lease it now."
    return {
        "text": text,
        "to": [holder],
        "type": "warning",
        "priority": "high",
        "payload": {"refs": refs},
    }


def _cut(text: str, characters: int) -> str:
    line = in_one_line(text)
    return line if len(line) <= characters else shortened(line, characters)
