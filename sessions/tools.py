"""Registers the tool `session` with all its actions, in the order in which help lists them."""

# ruff: noqa: I001
from sessions.sittings.tools import sessions
from sessions.sittings.tools import resources
from sessions.sittings.tools import prioritize

__all__ = ["prioritize", "resources", "sessions"]
