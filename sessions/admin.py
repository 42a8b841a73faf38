"""Registers the admin pages of the sessions app."""

from sessions.briefings.admin import agent_panel as given_panel
from sessions.briefings.admin import briefings, never_given, readers
from sessions.sittings.admin import accesses, agent_panel, file_panels, sessions

__all__ = [
    "accesses",
    "agent_panel",
    "briefings",
    "file_panels",
    "given_panel",
    "never_given",
    "readers",
    "sessions",
]
