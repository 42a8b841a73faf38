"""Imports messages that are recent enough for retention to keep."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.accounts.config import config_of
from ctxhub.core.events.working_time import moment_before
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen
from ctxhub.importers.shared.batching import batches
from ctxhub.importers.shared.normalising import Normaliser
from ctxhub.importers.shared.report import Report
from ctxhub.importers.shared.vocabulary import Vocabulary, Wanted
from ctxhub.importers.sqlew.rows import OldMessage
from messaging.messages.deliveries import known_agents
from messaging.messages.history import HISTORY
from messaging.messages.inputs import MessageFields, clean_message
from messaging.messages.rows import MESSAGES, MessageRow
from messaging.models import Delivery, Message, MessageType, RequestState
from messaging.retention import UNREAD_LAST

Identity = tuple[str, datetime, str, int, str | None]
"""Case-folded sender, time, text, type, case-folded recipient (None: everyone): sqlew's ids are not kept."""


@frozen
class NewMessage:
    """A message to import. `to`: None for everyone."""

    sender: str
    to: str | None
    fields: MessageFields
    is_read: bool
    at: datetime

    @property
    def identity(self) -> Identity:
        to = self.to and self.to.casefold()
        return self.sender.casefold(), self.at, self.fields.text, self.fields.type, to

    @property
    def state(self) -> RequestState:
        return RequestState.OPEN if self.fields.type == MessageType.REQUEST else RequestState.NONE


def clean_messages(
    caller: Caller, old_messages: Iterable[OldMessage], normaliser: Normaliser
) -> list[NewMessage]:
    """Validate by the rules of `send`. Version 2 dropped the texts: there the payload becomes the text."""
    new = []
    for old in old_messages:
        try:
            new.append(_cleaned(caller, old, normaliser))
        except InvalidInput as error:
            normaliser.leave("messages", f"from {old.sender} to {old.to or 'everyone'}", error)
    return new


def _cleaned(caller: Caller, old: OldMessage, normaliser: Normaliser) -> NewMessage:
    sender = normaliser.agent(old.sender)
    if sender is None:
        raise InvalidInput("its sender is not known.")
    if old.at is None:
        raise InvalidInput("its time is not known.")
    has_text = bool(old.text and old.text.strip())
    if not has_text and old.payload is None:
        raise InvalidInput("it has neither text nor payload.")
    fields = clean_message(
        Caller(project=caller.project, agent=sender),
        text=str(old.text) if has_text else _as_text(old.payload),
        to=None if old.to is None else [old.to],
        type=old.type,
        priority="medium" if old.priority is None else old.priority,
        payload=old.payload if has_text else None,
    )
    return NewMessage(sender, fields.to[0] if fields.to else None, fields, old.is_read, old.at)


def _as_text(payload: Any) -> str:
    return payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)


def choose_messages(
    project_id: int, cleaned: Sequence[NewMessage], report: Report, at: datetime
) -> list[NewMessage]:
    """Select messages that are not stored yet and that retention would keep."""
    config = config_of(project_id)
    due = moment_before(at, config.messages_last, config)
    kept = [new for new in cleaned if new.at >= due or _is_kept_longer(new, at)]
    if too_old := len(cleaned) - len(kept):
        why = f"older than message_hours ({config.message_hours}), they would be removed at once"
        report.left_many("messages", too_old, why)
    chosen = []
    for batch in batches(kept):
        existing = _stored_identities(project_id, batch)
        for new in batch:
            if existing[new.identity]:
                existing[new.identity] -= 1
                report.found("messages")
            else:
                chosen.append(new)
                report.took("messages")
    return chosen


def _is_kept_longer(new: NewMessage, at: datetime) -> bool:
    """Whether retention keeps it longer: a named recipient has not read it."""
    return new.to is not None and not new.is_read and new.at >= at - UNREAD_LAST


def _stored_identities(project_id: int, batch: Sequence[NewMessage]) -> Counter[Identity]:
    """Number of stored messages with these times, by identity."""
    moments = {new.at for new in batch}
    ids = Message.objects.in_project(project_id).filter(created_at__in=moments).values_list("pk", flat=True)
    return Counter(map(_identity, MESSAGES.read(project_id, list(ids)).values()))


def _identity(row: MessageRow) -> Identity:
    to = row.to[0].casefold() if row.to else None
    return row.sender.casefold(), row.created_at, row.text, row.type, to


def note_messages(chosen: Iterable[NewMessage], wanted: Wanted) -> None:
    """Collect the senders' names. Recipients are not registered as agents."""
    for new in chosen:
        wanted.note(new.sender, new.at)


def write_messages(
    project_id: int, chosen: Sequence[NewMessage], vocabulary: Vocabulary, at: datetime
) -> None:
    """Store and deliver the messages. sqlew has one read flag: if set, all recipients have read it."""
    for batch in batches(chosen):
        known = known_agents(project_id, [new.to for new in batch if new.to])
        spellings = {folded: name for folded, (_, name) in known.items()}
        rows = MESSAGES.insert(project_id, [_as_row(new, vocabulary, spellings) for new in batch])
        changes = [HISTORY.change(None, row, detail=at) for row in rows]
        HISTORY.record(project_id=project_id, agent_id=None, changes=changes, at=at)
        read = [row.id for row, new in zip(rows, batch, strict=True) if new.is_read]
        Delivery.objects.in_project(project_id).filter(message__in=read).update(read_at=at)


def _as_row(new: NewMessage, vocabulary: Vocabulary, spellings: Mapping[str, str]) -> MessageRow:
    sender_id = vocabulary.agent_id(new.sender)
    assert sender_id is not None
    return MessageRow(
        sender=vocabulary.spelled("agents", new.sender),
        sender_id=sender_id,
        to=None if new.to is None else [spellings.get(new.to.casefold(), new.to)],
        to_everyone=new.to is None,
        type=new.fields.type,
        state=new.state,
        priority=new.fields.priority,
        text=new.fields.text,
        payload=new.fields.payload,
        created_at=new.at,
    )
