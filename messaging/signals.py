"""Signal receivers of messages: deliver to new agents, and record writes made through the ORM."""

from typing import Any

from django.db.models import QuerySet
from django.db.models.signals import post_delete, post_save, pre_delete, pre_save
from django.dispatch import receiver

from ctxhub.core.accounts.services.people import person_renamed
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller, current
from ctxhub.core.kit.transactions import acquire_write_lock, write_transaction
from ctxhub.core.models import Agent
from ctxhub.core.search.services.index import index_again
from ctxhub.core.vocabulary.services.names import agent_registered, register_agent
from messaging.history import Sent, claim_data, done_data, record_changes, record_deleted, record_sent
from messaging.models import Delivery, Message, MessageType, RequestState
from messaging.selectors.messages import get_message
from messaging.services.completion import tell_asker
from messaging.sql.deliveries import deliver_standing, deliver_to_everyone, mark_read, rename_recipient
from messaging.sql.message_writes import copy_to_deliveries
from messaging.sql.results import insert_results, replace_results

# Fields whose change is recorded.
SAVED = (
    *("type", "priority", "text", "payload", "to_everyone", "ack", "ack_due_at", "ack_overdue", "state"),
    *("escalated", "claimed_by_id", "claimed_until", "done_at", "result_refs"),
)

HANDLED_STATES = (RequestState.CLAIMED, RequestState.DONE)

# Fields in the search document, besides the names of recipients.
SHOWN = ("sender_id", "text", "payload", "to_everyone", "created_at")

# -- Agents ----------------------------------------------------------------------------------------


@receiver(agent_registered)
def deliver_to_registered_agent(project_id: int, agent_id: int, **_: Any) -> None:
    deliver_standing(project_id, agent_id)


@receiver(post_save, sender=Agent)
def deliver_to_new_agent(instance: Agent, created: bool, raw: bool = False, **_: Any) -> None:
    if created and not raw:
        with write_transaction(instance.project_id):
            deliver_standing(instance.project_id, instance.pk)


@receiver(person_renamed)
def deliver_under_new_name(project_id: int, was: str, name: str, **_: Any) -> None:
    """What a person was sent follows them."""
    if renamed := rename_recipient(project_id, was, name):
        index_again(project_id, "message", renamed)


# -- Messages --------------------------------------------------------------------------------------


@receiver(pre_save, sender=Message)
def snapshot_before_save(instance: Message, raw: bool = False, **_: Any) -> None:
    """Keep the stored row for record_save. A request without a state becomes open."""
    if raw:
        return
    acquire_write_lock(instance.project_id)
    if instance.type == MessageType.REQUEST and instance.state == RequestState.NONE:
        instance.state = RequestState.OPEN
    instance._ctxhub_was = _stored(instance)  # type: ignore[attr-defined]


@receiver(post_save, sender=Message)
def record_save(instance: Message, created: bool, raw: bool = False, **_: Any) -> None:
    """Record a saved message. Named recipients are added after it, each as a delivery."""
    if raw:
        return
    with write_transaction(instance.project_id):
        if created:
            insert_results(instance.project_id, {instance.pk: instance.result_refs})
            _record_new(instance)
            return
        old, new = instance._ctxhub_was, _stored(instance)  # type: ignore[attr-defined]
        if old and new and any(old[name] != new[name] for name in SHOWN):
            index_again(instance.project_id, "message", [instance.pk])
        if changed := [name for name in SAVED if old and new and old[name] != new[name]]:
            if "result_refs" in changed:
                replace_results(instance.project_id, instance.pk, new["result_refs"] if new else ())
            copy_to_deliveries(instance.pk)
            deliver_to_everyone([instance.pk])
            _record_change(instance, changed)


@receiver(pre_delete, sender=Message)
def lock_before_delete(instance: Message, origin: Any = None, **_: Any) -> None:
    if _is_explicit_delete(origin):
        acquire_write_lock(instance.project_id)


@receiver(post_delete, sender=Message)
def record_delete(instance: Message, origin: Any = None, **_: Any) -> None:
    if _is_explicit_delete(origin):
        with write_transaction(instance.project_id):
            record_deleted(
                project_id=instance.project_id, agent_id=_actor(), message_id=instance.pk, at=clock.now()
            )


# -- Deliveries ------------------------------------------------------------------------------------


@receiver(pre_save, sender=Delivery)
def copy_from_message(instance: Delivery, raw: bool = False, **_: Any) -> None:
    if raw:
        return
    message = instance.message
    instance.type, instance.state = message.type, message.state
    instance.priority, instance.at = message.priority, message.created_at
    found = Delivery.unscoped.filter(pk=instance.pk).values_list("name", "acked_at")
    stored = found.first() if instance.pk else None
    instance._ctxhub_was = stored or ("", None)  # type: ignore[attr-defined]


@receiver(post_save, sender=Delivery)
def record_delivery(instance: Delivery, created: bool, raw: bool = False, **_: Any) -> None:
    if raw:
        return
    name, acked_at = instance._ctxhub_was  # type: ignore[attr-defined]
    with write_transaction(instance.project_id):
        if name != instance.name:
            index_again(instance.project_id, "message", [instance.message_id])
        if created:
            _record(instance.message, "delivered", {"to": [instance.name]})
        if instance.acked_at and not acked_at:
            _record(instance.message, "acked", {"to": [instance.message.sender.name]})


# -- Pieces ----------------------------------------------------------------------------------------


def _is_explicit_delete(origin: Any) -> bool:
    """Whether messages were deleted themselves; a project's deletion writes no event: its log goes, too."""
    return isinstance(origin, Message) or (isinstance(origin, QuerySet) and origin.model is Message)


def _stored(message: Message) -> dict[str, Any] | None:
    names = {*SAVED, *SHOWN}
    return Message.unscoped.filter(pk=message.pk).values(*names).first() if message.pk else None


def _record_new(message: Message) -> None:
    deliver_to_everyone([message.pk])
    to: list[str] | None = None if message.to_everyone else []
    sent = Sent(
        id=message.pk,
        sender=message.sender.name,
        sender_id=message.sender_id,
        to=to,
        text=message.text,
        payload=message.payload,
        at=message.created_at,
        type=message.type,
        priority=message.priority,
    )
    record_sent(
        project_id=message.project_id, agent_id=message.sender_id, messages=[sent], at=message.created_at
    )


def _record_change(message: Message, changed: list[str]) -> None:
    """Record the event of a change. The agent that claims or finishes a request has read it."""
    if "state" in changed and message.state in HANDLED_STATES and message.claimed_by:
        mark_read(message.project_id, message.claimed_by.folded, [message.pk], clock.now())
    _record(message, *_event_of(message, changed))
    if "state" in changed and message.state == RequestState.DONE:
        _tell_asker(message)


def _tell_asker(message: Message) -> None:
    """As the agent that has done the request, unless that is who asked, or nobody is named."""
    if message.claimed_by and message.claimed_by_id != message.sender_id:
        speaker = Caller(project=message.project, agent=message.claimed_by.name)
        tell_asker(speaker, get_message(message.project_id, message.pk), message.result_refs)


def _event_of(message: Message, changed: list[str]) -> tuple[str, dict[str, Any]]:
    """The verb and the data of the event."""
    if "state" in changed and message.state == RequestState.CLAIMED and message.claimed_until:
        return "claimed", claim_data(message.sender.name, message.claimed_until)
    if "state" in changed and message.state == RequestState.DONE:
        return "done", done_data(message.sender.name, message.result_refs)
    if "escalated" in changed and message.escalated:
        return "escalated", {"changed": changed}
    is_overdue = "ack_overdue" in changed and message.ack_overdue
    return "overdue" if is_overdue else "updated", {"changed": changed}


def _record(message: Message, verb: str, data: dict[str, Any]) -> None:
    record_changes(
        project_id=message.project_id,
        agent_id=_actor(),
        changes=[(message.pk, verb, data)],
        at=clock.now(),
    )


def _actor() -> int | None:
    caller = current()
    return register_agent(caller, clock.now()) if caller else None
