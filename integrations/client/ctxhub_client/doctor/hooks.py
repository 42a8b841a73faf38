"""The hooks in the files of clients: where they are, whether they are all there, and what they run."""

from __future__ import annotations

import os
import re
import shlex
import shutil

from ctxhub_client.doctor.servers import codex_home, read_config, tops_of
from ctxhub_client.install.hook_settings import CLAUDE_EVENTS, CODEX_EVENTS, is_own
from ctxhub_client.values import dict_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator

    from ctxhub_client.paths import Project
    from ctxhub_client.values import Json

PLUGIN = "ctxhub@"
EXPECTED = {"claude-code": CLAUDE_EVENTS, "codex": CODEX_EVENTS}


class Hooks:
    """Those of a file. `missing`: events that `install` would add or change; `problem`: what cannot run.

    `agent`: the one that their commands name, "" for none.
    """

    def __init__(self, client: str, file: str, own: dict[str, list[tuple[str, str]]], top: str) -> None:
        self.client = client
        self.file = file
        self.missing = [
            name
            for name, matcher, _ in EXPECTED[client]
            if matcher not in [found for found, _ in own.get(name, [])]
        ]
        commands = {command for each in own.values() for _, command in each}
        self.problem = "; ".join(sorted({told for each in commands if (told := what_is_absent(each, top))}))
        named = [found[1] for each in commands if (found := re.search(r"--agent (\S+)", each))]
        self.agent = named[0].strip("'\"") if named else ""
        self.is_of_before = any("ctxhub_hook.py" in command for command in commands)


def find_hooks(project: Project) -> list[Hooks]:
    found = []
    for client, file in hook_files(project):
        own = own_hooks(read_config(file))
        if own:
            found.append(Hooks(client, file, own, tops_of(project)[0]))
    return found


def has_plugin(project: Project) -> bool:
    """Whether Claude Code has the hooks by its plugin."""
    files = [file for client, file in hook_files(project) if client == "claude-code"]
    enabled = [dict_of(read_config(file), "enabledPlugins") for file in files]
    return any(name.startswith(PLUGIN) and value for each in enabled for name, value in each.items())


def hook_files(project: Project) -> Iterator[tuple[str, str]]:
    config = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser(os.path.join("~", ".claude"))
    yield "claude-code", os.path.join(config, "settings.json")
    yield "codex", os.path.join(codex_home(), "hooks.json")
    for top in tops_of(project):
        yield "claude-code", os.path.join(top, ".claude", "settings.json")
        yield "claude-code", os.path.join(top, ".claude", "settings.local.json")
        yield "codex", os.path.join(top, ".codex", "hooks.json")


def own_hooks(settings: Json) -> dict[str, list[tuple[str, str]]]:
    """Matcher and command of each of ours, by event."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name, groups in dict_of(settings, "hooks").items():
        for group in groups if isinstance(groups, list) else []:
            hooks = group.get("hooks") if isinstance(group, dict) else None
            for hook in hooks if isinstance(hooks, list) else []:
                if is_own(hook):
                    found.setdefault(name, []).append((text_of(group, "matcher"), text_of(hook, "command")))
    return found


def what_is_absent(command: str, top: str) -> str:
    """What a command needs and this machine does not have; "" if it can run."""
    for name in ("${CLAUDE_PROJECT_DIR}", "$CLAUDE_PROJECT_DIR", "$(git rev-parse --show-toplevel)"):
        command = command.replace(name, top)
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    if words and shutil.which(words[0]) is None:
        return "there is no {}".format(words[0])
    files = [word for word in words if word.endswith((".py", ".pyz")) and os.path.isabs(word)]
    return "; ".join("there is no {}".format(file) for file in files if not os.path.isfile(file))
