"""Registers the admin pages of the sessions app."""

from sessions.briefings.admin import briefings, readers
from sessions.sittings.admin import accesses, file_panels, sessions

__all__ = ["accesses", "briefings", "file_panels", "readers", "sessions"]
