#!/usr/bin/env python3
"""The old path of the client: runs the package beside it, for settings that name this file.

    python3 ctxhub_hook.py              as `ctxhub hook claude`
    python3 ctxhub_hook.py codex        as `ctxhub hook codex`
    python3 ctxhub_hook.py COMMAND      as `ctxhub COMMAND`

A copy of this file alone can only say that it is not the program: each hub serves that at /connect/.
"""

from __future__ import annotations

import json
import os
import sys

COMMANDS = (
    *("hook", "codex-notify", "pre-commit", "install", "uninstall", "upgrade"),
    *("--version", "-h", "--help", "help"),
)
ALONE = (
    "ctxhub_hook.py is no longer the whole program. Get ctxhub.pyz from the page /connect/ of your hub, "
    "and run: python3 ctxhub.pyz install"
)


def main(arguments: list[str]) -> None:
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path.insert(0, os.path.join(here, "client"))
    command = arguments[:1]
    if not command or command[0] not in COMMANDS:
        arguments = ["hook", *arguments]
    try:
        from ctxhub_client import commands
    except ImportError:
        sys.exit(say_alone(arguments[0]))
    commands.main(arguments)


def say_alone(command: str) -> int:
    """Say what to do, once a session, and let everything pass."""
    if command == "hook":
        told = "ctxhub: " + ALONE
        if is_start(sys.stdin.buffer.read()):
            output = {"hookEventName": "SessionStart", "additionalContext": told}
            sys.stdout.write(json.dumps({"systemMessage": told, "hookSpecificOutput": output}))
    elif command != "codex-notify":
        sys.stderr.write("ctxhub: {}\n".format(ALONE))
    return int(command not in ("hook", "codex-notify", "pre-commit"))


def is_start(data: bytes) -> bool:
    try:
        event = json.loads(data.decode("utf-8", "replace"))
    except ValueError:
        return False
    return isinstance(event, dict) and event.get("hook_event_name") in ("SessionStart", "sessionStart")


if __name__ == "__main__":
    main(sys.argv[1:])
