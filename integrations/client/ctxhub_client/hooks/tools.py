"""Before a tool runs: the hub's own speak for the session, the others may edit files."""

from __future__ import annotations

import re

from ctxhub_client.values import dict_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.hooks.event import Event
    from ctxhub_client.values import Json

# The hub's tools, as Claude Code calls those of its own MCP servers and of the plugin's.
HUB_TOOLS = "mcp__(?:plugin_ctxhub_)?ctxhub__"

# Where `session` names who speaks: tool and action, on the flat surface one word.
SPEAKING = (
    *("file_lease", "file_renew", "file_release", "message_claim"),
    *("session_save", "session_track", "session_depend", "snapshot_save"),
)


def before_tool(event: Event) -> Json | None:
    called = re.match(HUB_TOOLS + r"(\w+)$", text_of(event.values, "tool_name"))
    if called:
        tell_subagent(event)
        return name_session(event, called[1])
    from ctxhub_client.hooks.commands import before_command, is_shell

    if is_shell(event):
        return before_command(event)
    from ctxhub_client.hooks.edits import before_edit

    return before_edit(event)


def after_tool(event: Event) -> Json | None:
    from ctxhub_client.hooks.commands import after_command, is_shell

    if is_shell(event):
        return after_command(event)
    from ctxhub_client.hooks.edits import after_edit

    after_edit(event)
    return None


def tell_subagent(event: Event) -> None:
    """Let a call of a subagent be that of its part of the session, whatever it asks."""
    tool_use = text_of(event.values, "tool_use_id")
    if tool_use and event.session != event.window:
        from ctxhub_client.windows.joining import name_subagent

        name_subagent(tool_use, event.session[len(event.window) + 1 :])


def name_session(event: Event, tool: str) -> Json | None:
    """Let a call of the hub's tools be that of this session, where its session is who speaks."""
    asked = dict_of(event.values, "tool_input")
    name = "{}_{}".format(tool, text_of(asked, "action")) if asked.get("action") else tool
    if name not in SPEAKING or not event.session or asked.get("session"):
        return None
    return {
        "hookSpecificOutput": {
            "hookEventName": event.name,
            "updatedInput": dict(asked, session=event.session),
        }
    }
