"""The hub's names of the sessions of clients."""

from __future__ import annotations

import os
import re

# What clients set for the commands that they run, and where they tell their session.
CLIENT_VARIABLES = (
    ("CODEX_THREAD_ID", "codex", "CODEX_THREAD_ID"),
    ("CURSOR_AGENT", "cursor", ""),
    ("CLAUDECODE", "claude", "CLAUDE_CODE_SESSION_ID"),
)


def session_name(client: str, own: str) -> str:
    """The hub's name of a client's session; "" if the client tells none."""
    own = re.sub(r"[^\w.-]", "-", own, flags=re.ASCII)[:60]
    return "{}-{}".format(client, own) if own else ""


def with_part(window: str, own: str) -> str:
    """The session of a subagent, which is a part of its window's; that of the window if there is none."""
    part = re.sub(r"[^\w.-]", "-", own, flags=re.ASCII)[:30]
    return "{}/{}".format(window, part) if window and part else window


def committing_session() -> tuple[str, str]:
    """The client that runs `git commit`, and its session; "" for a person, who speaks as the token."""
    for name, client, own in CLIENT_VARIABLES:
        if os.environ.get(name):
            return client, session_name(client, os.environ.get(own, "") if own else "")
    return "", ""
