"""Old messages become messages, where they are young enough to stay."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ctxhub.core.accounts.selectors.config import config_of
from ctxhub.core.events.working_time import moment_before
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.priority import Priority
from ctxhub.importers.shared.batching import batches
from ctxhub.importers.shared.normalising import Fitting
from ctxhub.importers.shared.report import Report
from ctxhub.importers.shared.vocabulary import Vocabulary, Wanted
from ctxhub.importers.sqlew.rows import OldMessage
from messaging.history import Sent, record_sent
from messaging.inputs import MessageFields, clean_message
from messaging.models import Delivery, Message, MessageType, RequestState
from messaging.rows import MessageRow, read_messages
from messaging.services.retention import UNREAD_LAST
from messaging.sql.deliveries import deliver_to, deliver_to_everyone, known_names
from messaging.sql.message_writes import NewMessage as Written
from messaging.sql.message_writes import insert_messages

Sameness = tuple[str, datetime, str, int, str | None]
"""Sender and recipient case-folded (None: everyone), time, text and type: sqlew's ids are not kept."""


@dataclass(frozen=True, slots=True)
class NewMessage:
    """`to` None: everyone."""

    sender: str
    to: str | None
    fields: MessageFields
    is_read: bool
    at: datetime

    @property
    def sameness(self) -> Sameness:
        to = self.to and self.to.casefold()
        return self.sender.casefold(), self.at, self.fields.text, self.fields.type, to

    @property
    def state(self) -> RequestState:
        return RequestState.OPEN if self.fields.type == MessageType.REQUEST else RequestState.NONE


def clean_messages(caller: Caller, olds: Iterable[OldMessage], fit: Fitting) -> list[NewMessage]:
    """Check by the rules of `send`. Version 2 dropped every message's text: there its payload speaks."""
    new = []
    for old in olds:
        try:
            new.append(_cleaned(caller, old, fit))
        except InvalidInput as error:
            fit.leave("messages", f"from {old.sender} to {old.to or 'everyone'}", error)
    return new


def _cleaned(caller: Caller, old: OldMessage, fit: Fitting) -> NewMessage:
    sender = fit.agent(old.sender)
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
        priority=Priority.MEDIUM if old.priority is None else old.priority,
        payload=old.payload if has_text else None,
    )
    return NewMessage(sender, fields.to[0] if fields.to else None, fields, old.is_read, old.at)


def _as_text(payload: Any) -> str:
    return payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)


def choose_messages(
    project_id: int, cleaned: Sequence[NewMessage], report: Report, at: datetime
) -> list[NewMessage]:
    """Those that are not here and would not be removed at once."""
    config = config_of(project_id)
    due = moment_before(at, config.messages_last, config)
    kept = [new for new in cleaned if new.at >= due or _is_spared(new, at)]
    if too_old := len(cleaned) - len(kept):
        why = f"older than message_hours ({config.message_hours}), they would be removed at once"
        report.left_many("messages", too_old, why)
    chosen = []
    for batch in batches(kept):
        here = _here(project_id, batch)
        for new in batch:
            if here[new.sameness]:
                here[new.sameness] -= 1
                report.found("messages")
            else:
                chosen.append(new)
                report.took("messages")
    return chosen


def _is_spared(new: NewMessage, at: datetime) -> bool:
    """What a named recipient has not read stays longer."""
    return new.to is not None and not new.is_read and new.at >= at - UNREAD_LAST


def _here(project_id: int, batch: Sequence[NewMessage]) -> Counter[Sameness]:
    """How many messages of these moments there are, by what makes them the same."""
    moments = {new.at for new in batch}
    ids = Message.objects.in_project(project_id).filter(created_at__in=moments).values_list("pk", flat=True)
    return Counter(map(_sameness, read_messages(project_id, list(ids)).values()))


def _sameness(row: MessageRow) -> Sameness:
    to = row.to[0].casefold() if row.to else None
    return row.sender.casefold(), row.at, row.text, row.type, to


def note_messages(chosen: Iterable[NewMessage], wanted: Wanted) -> None:
    """Who is addressed becomes no agent: it has said nothing."""
    for new in chosen:
        wanted.note(new.sender, new.at)


def write_messages(
    project_id: int, chosen: Sequence[NewMessage], vocabulary: Vocabulary, at: datetime
) -> None:
    for batch in batches(chosen):
        written = [_written(new, vocabulary) for new in batch]
        ids = insert_messages(project_id, written)
        spelled = known_names(project_id, [new.to for new in batch if new.to])
        _deliver(project_id, list(zip(ids, batch, strict=True)), spelled, at)
        sent = [
            Sent(
                id=row_id,
                sender=vocabulary.spelled("agents", new.sender),
                sender_id=message.sender_id,
                to=None if new.to is None else [spelled.get(new.to.casefold(), new.to)],
                text=message.text,
                payload=message.payload,
                at=new.at,
                type=message.type,
                priority=message.priority,
                recorded_at=at,
            )
            for row_id, new, message in zip(ids, batch, written, strict=True)
        ]
        record_sent(project_id=project_id, agent_id=None, messages=sent, at=at)


def _written(new: NewMessage, vocabulary: Vocabulary) -> Written:
    sender_id = vocabulary.agent_id(new.sender)
    assert sender_id is not None
    return Written(
        sender_id=sender_id,
        type=new.fields.type,
        state=new.state,
        priority=new.fields.priority,
        text=new.fields.text,
        payload=new.fields.payload,
        thread_id=None,
        reply_to_id=None,
        to_everyone=new.to is None,
        ack=False,
        ack_due_at=None,
        at=new.at,
    )


def _deliver(
    project_id: int, together: Sequence[tuple[int, NewMessage]], spelled: Mapping[str, str], at: datetime
) -> None:
    """sqlew's one flag for all readers: what is read is read by everyone known here."""
    deliver_to(
        project_id,
        [
            (
                row_id,
                spelled.get(new.to.casefold(), new.to),
                new.fields.type,
                new.state,
                new.fields.priority,
                new.at,
            )
            for row_id, new in together
            if new.to
        ],
    )
    if everyone := [row_id for row_id, new in together if new.to is None]:
        deliver_to_everyone(everyone)
    read = [row_id for row_id, new in together if new.is_read]
    Delivery.objects.in_project(project_id).filter(message__in=read).update(read_at=at)
