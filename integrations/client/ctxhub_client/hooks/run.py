"""One run of a hook: reads the event, and hands it to the module of its subject."""

from __future__ import annotations

import json

from ctxhub_client.hooks.event import Event
from ctxhub_client.process import log
from ctxhub_client.values import read_stdin, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

    from ctxhub_client.values import Json

# Cursor runs the hooks of Claude Code with input of its own form, and takes answers of Claude Code's.
CURSOR_EVENTS = {
    "sessionStart": "SessionStart",
    "beforeSubmitPrompt": "UserPromptSubmit",
    "preToolUse": "PreToolUse",
    "postToolUse": "PostToolUse",
    "preCompact": "PreCompact",
    "sessionEnd": "SessionEnd",
    "stop": "Stop",
}

# Imported when they are needed: the module of the subject, and its function.
HANDLERS = {
    "SessionStart": ("windows", "start_session"),
    "UserPromptSubmit": ("windows", "submit_prompt"),
    "PreToolUse": ("tools", "before_tool"),
    "PostToolUse": ("tools", "after_tool"),
    "PreCompact": ("conversations", "save_conversation"),
    "SessionEnd": ("windows", "end_session"),
    "Stop": ("mail", "stop"),
    "SubagentStop": ("windows", "end_subagent"),
}


def run_hook(client: str) -> bytes:
    values = read_stdin()
    if text_of(values, "cursor_version"):
        client, values = "cursor", from_cursor(values)
    event = Event(values, client)
    log("event", event.name, event.session)
    handle = handler_of(event.name)
    answer = handle(event) if handle else None
    return json.dumps(answer).encode() if answer else b""


def handler_of(name: str) -> Callable[[Event], Json | None] | None:
    if name not in HANDLERS:
        return None
    module, function = HANDLERS[name]
    found: Callable[[Event], Json | None] = getattr(
        __import__("ctxhub_client.hooks." + module, fromlist=[function]), function
    )
    return found


def from_cursor(values: Json) -> Json:
    """The input as Claude Code would give it."""
    roots = values.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    name = text_of(values, "hook_event_name")
    return dict(
        values,
        hook_event_name=CURSOR_EVENTS.get(name, name),
        cwd=text_of(values, "cwd") or root,
        session_id=text_of(values, "conversation_id", "session_id"),
        stop_hook_active=bool(values.get("loop_count")),
    )
