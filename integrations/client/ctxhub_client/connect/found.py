"""The coding clients that are known, and those that are on this machine."""

from __future__ import annotations

import os
import shutil

from ctxhub_client.connect.places import claude_folder, copilot_folder, in_home, opencode_folder
from ctxhub_client.doctor.servers import code_folder, codex_home

CLIENTS = ("claude-code", "codex", "cursor", "vscode", "copilot-cli", "opencode", "antigravity")
COMMANDS = {
    "claude-code": ("claude",),
    "codex": ("codex",),
    "cursor": ("cursor", "cursor-agent"),
    "vscode": ("code",),
    "copilot-cli": ("copilot",),
    "opencode": ("opencode",),
    "antigravity": ("agy", "antigravity"),
}


def found_clients() -> list[str]:
    """The clients that are on this machine: by their command, or by a folder of theirs."""
    return [
        client
        for client in CLIENTS
        if any(shutil.which(name) for name in COMMANDS[client]) or any(map(os.path.exists, traces(client)))
    ]


def traces(client: str) -> list[str]:
    gemini = ("config", "antigravity", "antigravity-cli", "antigravity-ide")
    return {
        "claude-code": [claude_folder(), in_home(".claude.json")],
        "codex": [codex_home()],
        "cursor": [in_home(".cursor")],
        "vscode": [code_folder()],
        "copilot-cli": [copilot_folder()],
        "opencode": [opencode_folder()],
        "antigravity": [in_home(".gemini", name) for name in gemini],
    }[client]
