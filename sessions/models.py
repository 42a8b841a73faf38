"""Imports the models of all families, so that Django finds them."""

from sessions.sittings.models.resources import Access, Mode, ResourceDependency, SessionResource
from sessions.sittings.models.session import AgentSession, ContextItem, Conversation, WorkspaceState

__all__ = [
    "Access",
    "AgentSession",
    "ContextItem",
    "Conversation",
    "Mode",
    "ResourceDependency",
    "SessionResource",
    "WorkspaceState",
]
