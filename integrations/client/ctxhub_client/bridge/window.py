"""The name of the window's session."""

from __future__ import annotations

import os

from ctxhub_client.sessions import session_name


def window_name() -> str:
    """As the hooks of the same window name it; "" if the client tells nothing of its session."""
    named = os.environ.get("CTXHUB_SESSION", "").strip()
    return named or session_name("claude", os.environ.get("CLAUDE_CODE_SESSION_ID", ""))
