"""Registers the admin pages of the sessions app."""

from sessions.briefings.admin import briefings, never_given, readers
from sessions.sittings.admin import accesses, file_panels, sessions

__all__ = ["accesses", "briefings", "file_panels", "never_given", "readers", "sessions"]
