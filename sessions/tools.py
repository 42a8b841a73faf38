"""Registers the tools `brief`, `check` and `session`, with their actions in the order of help."""

# ruff: noqa: I001
import sessions.briefings.tools.briefings
import sessions.sittings.tools.sessions
import sessions.sittings.tools.resources
import sessions.sittings.tools.prioritize
import sessions.sittings.tools.beginning
