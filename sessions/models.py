"""Imports the models of all families, so that Django finds them."""

from sessions.accesses.models import Access, Mode, ResourceDependency, SessionResource
from sessions.briefings.models.briefing import Briefing, BriefingItem
from sessions.briefings.models.notice import Notice
from sessions.briefings.models.writing import Writing
from sessions.sittings.models import AgentSession, ContextItem, Conversation, WorkspaceState

__all__ = [
    "Access",
    "AgentSession",
    "Briefing",
    "BriefingItem",
    "ContextItem",
    "Conversation",
    "Mode",
    "Notice",
    "ResourceDependency",
    "SessionResource",
    "WorkspaceState",
    "Writing",
]
