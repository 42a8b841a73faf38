"""Registers the tools of all families, in the order in which help lists their actions."""

from sessions.sittings.tools import sessions

__all__ = ["sessions"]
