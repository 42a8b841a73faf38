"""Registers the tools `brief`, `check` and `session`, with their actions in the order of help."""

# ruff: noqa: I001
from sessions.briefings.tools import briefings
from sessions.sittings.tools import sessions
from sessions.sittings.tools import resources
from sessions.sittings.tools import prioritize
from sessions.sittings.tools import beginning

__all__ = ["beginning", "briefings", "prioritize", "resources", "sessions"]
