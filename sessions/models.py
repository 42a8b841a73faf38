"""Imports the models of all nouns, so that Django finds them."""

from sessions.accesses.models import Access, Mode, ResourceDependency, SessionResource
from sessions.given.models import Briefing, BriefingItem, Presence, Writing
from sessions.nudges.models import Notice
from sessions.sittings.models import AgentSession, ContextItem, Conversation, WorkspaceState
