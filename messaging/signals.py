"""Signal receivers of messages: deliver to new agents, and record deliveries written through the ORM."""

from typing import Any

from django.db.models.signals import post_save, pre_save
from django.dispatch import receiver

from ctxhub.core.accounts.people import broadcasts_declined, person_renamed
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller, current
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Agent, Project
from ctxhub.core.search.index import index_again
from ctxhub.core.vocabulary.names import agent_registered, register_agent
from messaging.messages.deliveries import decline_broadcasts, deliver_standing, rename_recipient
from messaging.messages.history import done_by_orm, record_changes
from messaging.messages.requests import tell_asker
from messaging.messages.rows import MessageRow
from messaging.models import Delivery, Message

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


@receiver(broadcasts_declined)
def owe_no_broadcasts(name: str, **_: Any) -> None:
    decline_broadcasts(name)


# -- Requests --------------------------------------------------------------------------------------


@receiver(done_by_orm)
def tell_who_asked(project_id: int, request: MessageRow, **_: Any) -> None:
    """As the agent that has done the request, unless that is who asked, or nobody is named."""
    if request.claimed_by and request.claimed_by_id != request.sender_id:
        speaker = Caller(project=Project.objects.get(pk=project_id), agent=request.claimed_by)
        tell_asker(speaker, request, request.result_refs)


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


def _record(message: Message, verb: str, data: dict[str, Any]) -> None:
    at, caller = clock.now(), current()
    agent_id = register_agent(caller, at) if caller else None
    changes = [(message.pk, verb, data)]
    record_changes(project_id=message.project_id, agent_id=agent_id, changes=changes, at=at)
