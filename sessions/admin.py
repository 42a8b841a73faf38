"""Registers the admin pages of the sessions app."""

from sessions.sittings.admin import accesses, file_panels, sessions

__all__ = ["accesses", "file_panels", "sessions"]
