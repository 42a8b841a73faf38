"""Registers the tools `brief`, `check` and `session`, with their actions in the order of help."""

# ruff: noqa: I001
import sessions.briefs.tools
import sessions.sittings.tools
import sessions.accesses.tools
import sessions.prioritize.tools
import sessions.windows.tools
