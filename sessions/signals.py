"""Connects the signal receivers of all families."""

from sessions.sittings import signals as sittings

__all__ = ["sittings"]
