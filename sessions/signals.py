"""Connects the signal receivers of all families."""

from sessions.briefings import signals as briefings
from sessions.sittings import signals as sittings

__all__ = ["briefings", "sittings"]
