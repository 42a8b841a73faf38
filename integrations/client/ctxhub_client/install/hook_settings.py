"""The hooks in the settings of Claude Code and Codex."""

from __future__ import annotations

import os
import re

from ctxhub_client.hooks.tools import HUB_TOOLS
from ctxhub_client.install.files import Refused, read_file, read_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable

    from ctxhub_client.values import Json

EDITS = "Edit|Write|MultiEdit|NotebookEdit"
SHELLS = "Bash|PowerShell"

CLAUDE_EVENTS = (
    ("SessionStart", "startup|resume|clear|compact", 5),
    ("UserPromptSubmit", "", 5),
    ("PreToolUse", "{}|{}|{}.*".format(EDITS, SHELLS, HUB_TOOLS), 5),
    ("PostToolUse", "{}|{}".format(EDITS, SHELLS), 5),
    ("PreCompact", "", 5),
    ("Stop", "", 5),
    ("SubagentStop", "", 5),
    ("SessionEnd", "", 5),
)

# Codex allows a SessionEnd hook 3 seconds.
CODEX_EVENTS = tuple(
    (
        name,
        "apply_patch|Bash" if matcher.startswith(EDITS) else matcher,
        3 if name == "SessionEnd" else seconds,
    )
    for name, matcher, seconds in CLAUDE_EVENTS
)

# Each way in which hooks run this program, or ran the single file that it was.
OWN_COMMAND = re.compile(
    r"ctxhub_hook\.py|\bctxhub(?:\.pyz|\.py|\.exe)?[\"']? hook\b|\bctxhub_client[\\/]__main__\.py\b"
)


def groups_of(events: Iterable[tuple[str, str, int]], command: str) -> Json:
    """The hooks of a client, by event."""
    return {
        name: {
            **({"matcher": matcher} if matcher else {}),
            "hooks": [{"type": "command", "command": command, "timeout": seconds}],
        }
        for name, matcher, seconds in events
    }


def without_own(hooks: object, path: str) -> Json:
    """The hooks of others, in their order."""
    if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
        raise Refused("The hooks in {} are not of the form that is known; they stay.".format(path))
    kept = {name: [group for group in map(others_of, groups) if group] for name, groups in hooks.items()}
    return {name: groups for name, groups in kept.items() if groups or not hooks[name]}


def has_own_hooks(path: str) -> bool:
    """Whether a file of settings has hooks of ours; False if it is of another form."""
    try:
        hooks = read_settings(read_file(path), path).get("hooks", {})
        return bool(hooks != without_own(hooks, path))
    except Refused:
        return False


def others_of(group: Any) -> Any:
    """A group of hooks without ours; None if it had only those."""
    if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
        return group
    others = [hook for hook in group["hooks"] if not is_own(hook)]
    if len(others) == len(group["hooks"]):
        return group
    return dict(group, hooks=others) if others else None


def is_own(hook: object) -> bool:
    return isinstance(hook, dict) and OWN_COMMAND.search(str(hook.get("command", ""))) is not None


def told_of_shared(top: str, path: str, is_removing: bool) -> str:
    """A line if the settings that the repository shares have our hooks besides those in `path`."""
    shared = os.path.join(top, ".claude", "settings.json")
    if path == shared or not has_own_hooks(shared):
        return ""
    if is_removing:
        told = (
            "\n{} has hooks of ctxhub as well, for all who have the repository; they stay. To remove them,"
            " run `uninstall` with the program in the repository."
        )
    else:
        told = (
            "\n{} has hooks of ctxhub as well, and both would run: take them out there, or uninstall these."
        )
    return told.format(shared)
