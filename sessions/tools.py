"""Registers the tools of all families, in the order in which help lists their actions."""

# ruff: noqa: I001
from sessions.sittings.tools import sessions
from sessions.sittings.tools import prioritize

__all__ = ["prioritize", "sessions"]
