"""Indexes a session again when its conversations, items or states are written through the ORM."""

from typing import Any

from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.search.services.index import index_again
from sessions.sittings.models.session import AgentSession, ContextItem, Conversation, WorkspaceState


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
