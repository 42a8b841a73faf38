"""Adds to the files of clients, or takes that away again."""

from __future__ import annotations

import json
import os
import re

from ctxhub_client.install.blocks import (
    BLOCK,
    MARKDOWN_MARKS,
    SHELL_MARKS,
    after_first_line,
    at_end,
    at_start,
    block_of,
    trimmed,
)
from ctxhub_client.install.codex_config import (
    CODEX_OWN,
    CODEX_SETTINGS,
    refuse_other_toml,
    with_server_lines,
)
from ctxhub_client.install.files import Refused, indent_of, read_file, read_settings
from ctxhub_client.install.git_hooks import (
    hook_file,
    only_where_it_is,
    refuse_other_language,
    replaced_file,
    warning,
)
from ctxhub_client.install.hook_settings import (
    CLAUDE_EVENTS,
    CODEX_EVENTS,
    groups_of,
    told_of_shared,
    without_own,
)
from ctxhub_client.install.program import Program
from ctxhub_client.install.rules import CURSOR_HEAD, RULES
from ctxhub_client.paths import Project, path_below
from ctxhub_client.pre_commit import REFUSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable

    from ctxhub_client.values import Json

# Claude Code's name for all tools of the MCP server that the ready lines add.
PERMISSION = "mcp__ctxhub"


class Installer:
    """Adds to the files of clients, or takes that away again. What others wrote there stays."""

    def __init__(self, options: Any, is_removing: bool) -> None:
        self.options = options
        self.is_removing = is_removing
        self.project = Project("")
        self.top = self.project.repository.top if self.project.repository else self.project.folder
        self.program = Program()
        self.inside = path_below(self.top, self.program.path) if self.program.is_python else ""

    def run(self) -> str:
        said = [self.program.unpack()] if self._moves() else []
        return "\n".join([*said, getattr(self, self.options.what.replace("-", "_"))()])

    def _moves(self) -> bool:
        """Whether clients are to run an archive that may lie anywhere, and is compiled at each run."""
        is_run = self.options.what in ("claude-code", "codex", "pre-commit")
        is_shared = self.inside and not self.options.user
        return self.program.is_archive and is_run and not (is_shared or self.is_removing)

    def claude_code(self) -> str:
        if self.options.user:
            folder = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser(os.path.join("~", ".claude"))
            path = os.path.join(folder, "settings.json")
        else:
            # A path of this machine is not for the file that a team shares.
            name = "settings.json" if self.inside else "settings.local.json"
            path = os.path.join(self.top, ".claude", name)
        said = self._hooks(
            path, CLAUDE_EVENTS, self._command("${CLAUDE_PROJECT_DIR}") + " hook claude", self._permit
        )
        said += told_of_shared(self.top, path, self.is_removing)
        is_offered = not (self.is_removing or self.options.approve)
        return said + "\nWith --approve it uses the hub's tools unasked." if is_offered else said

    def codex(self) -> str:
        home = os.environ.get("CODEX_HOME") or os.path.expanduser(os.path.join("~", ".codex"))
        config = os.path.join(home, "config.toml")
        # First: it refuses what is not of the known form, before anything is written.
        said = self._codex_server(config)
        if self.options.notify:
            return "\n".join([*said, self._notify(config)])
        path = os.path.join(home if self.options.user else os.path.join(self.top, ".codex"), "hooks.json")
        command = self._command("$(git rev-parse --show-toplevel)") + " hook codex"
        said.append(self._hooks(path, CODEX_EVENTS, command))
        if not self.is_removing:
            said.append("Review and trust them with /hooks in Codex.")
            if not self.options.approve:
                said.append("With --approve it uses the hub's tools unasked.")
        return "\n".join(said)

    def cursor(self) -> str:
        path = os.path.join(self.top, ".cursor", "rules", "ctxhub.mdc")
        return self._block(path, block_of(MARKDOWN_MARKS, RULES), at_end, head=CURSOR_HEAD)

    def agents_md(self) -> str:
        return self._block(os.path.join(self.top, self.options.file), block_of(MARKDOWN_MARKS, RULES), at_end)

    def pre_commit(self) -> str:
        path = hook_file(self.top)
        before = read_file(path)
        refuse_other_language(path, before, self._command(self.top))
        command = self._command("$(git rev-parse --show-toplevel)")
        line = "{} pre-commit || [ $? -ne {} ] || exit 1\n".format(command, REFUSED)
        replaced = replaced_file(path)
        if replaced:
            self._taken_out(replaced)
        is_committed = path_below(self.top, path) != ""
        if is_committed and not self.inside:
            line = only_where_it_is(self.program.path, line)
        said = self._block(path, block_of(SHELL_MARKS, line), after_first_line, head="#!/bin/sh\n")
        if os.path.exists(path):
            os.chmod(path, os.stat(path).st_mode | 0o111)  # noqa: S103 (git runs it)
        return said if self.is_removing else said + warning(before, command)

    def _command(self, top: str) -> str:
        """The command of a shell that runs this file: below `top` if the repository contains it."""
        is_shared = self.inside and not (self.options.user or (os.name == "nt" and top.startswith("$(")))
        inside = "{}/{}".format(top, self.inside) if is_shared else ""
        return self.program.command(self.options.python, inside)

    def _permit(self, settings: Json, path: str) -> None:
        """Allow the hub's tools in settings of Claude Code; when removing, no more."""
        permissions = settings.get("permissions", {})
        allowed = permissions.get("allow", []) if isinstance(permissions, dict) else None
        if self.is_removing and isinstance(allowed, list) and PERMISSION in allowed:
            permissions["allow"] = [one for one in allowed if one != PERMISSION]
            if not permissions["allow"]:
                del permissions["allow"]
            if not permissions:
                del settings["permissions"]
        elif self.options.approve and not self.is_removing:
            if not isinstance(allowed, list):
                raise Refused("The permissions in {} are of an unknown form; it stays as it is.".format(path))
            if PERMISSION not in allowed:
                settings["permissions"] = dict(permissions, allow=[*allowed, PERMISSION])

    def _codex_server(self, path: str) -> list[str]:
        """Put the settings asked for to the MCP server in Codex' configuration; says nothing if none are."""
        asked = (('"approve"', self.options.approve), ("true", self.options.wait))
        lines = [
            "{} = {}".format(name, value)
            for name, (value, is_asked) in zip(CODEX_SETTINGS, asked)
            if is_asked and not self.is_removing
        ]
        old = read_file(path)
        text = old.replace("\r\n", "\n")
        new = CODEX_OWN.sub("", text) if self.is_removing else with_server_lines(text, lines, path)
        if new == text and not lines:
            return []
        refuse_other_toml(text, new, path)
        return [self._written(path, old, new.replace("\n", "\r\n" if "\r\n" in old else "\n"))]

    def _hooks(
        self,
        path: str,
        events: Iterable[tuple[str, str, int]],
        command: str,
        change: Callable[[Json, str], None] | None = None,
    ) -> str:
        old = read_file(path)
        settings = read_settings(old, path)
        hooks = without_own(settings.get("hooks", {}), path)
        if not self.is_removing:
            for name, group in groups_of(events, command).items():
                hooks.setdefault(name, []).append(group)
        if hooks or "hooks" in settings:
            settings["hooks"] = hooks
        if self.is_removing and not hooks:
            settings.pop("hooks", None)
        if change:
            change(settings, path)
        if self.is_removing and not settings:
            return self._written(path, old, "")
        end = "\r\n" if "\r\n" in old else "\n"
        new = json.dumps(settings, indent=indent_of(old), ensure_ascii=False) + "\n"
        return self._written(
            path, old, old if read_settings(old, path) == settings else new.replace("\n", end)
        )

    def _notify(self, path: str) -> str:
        old = read_file(path)
        rest = BLOCK.sub("", old)
        if not self.is_removing and re.search(r"^\s*notify\s*=", rest.split("\n[")[0], re.MULTILINE):
            raise Refused("{} has a notify program already; Codex runs one only.".format(path))
        words = [*self.program.words(self.options.python), "codex-notify"]
        line = "notify = {}\n".format(json.dumps(words, ensure_ascii=False))
        return self._block(path, block_of(SHELL_MARKS, line), at_start)

    def _taken_out(self, path: str) -> None:
        old = read_file(path)
        if BLOCK.search(old):
            self._written(path, old, BLOCK.sub("", old))

    def _block(self, path: str, block: str, place: Callable[[str, str], str], head: str = "") -> str:
        """Put a block into a text file, or take it out; a file that only had the block is deleted."""
        old = read_file(path)
        end = "\r\n" if "\r\n" in old else "\n"
        text = old.replace("\r\n", "\n")
        if self.is_removing:
            rest = BLOCK.sub("", text)
            new = "" if rest.strip() in ("", head.strip()) and BLOCK.search(text) else trimmed(rest, text)
        elif BLOCK.search(text):
            new = BLOCK.sub(lambda _: block, text, count=1)
        else:
            new = place(text or head, block)
        return self._written(path, old, old if new == text else new.replace("\n", end))

    def _written(self, path: str, old: str, new: str) -> str:
        """Write a file at once; delete it if nothing is left."""
        if new == old:
            return "{}: nothing to {}.".format(path, "remove" if self.is_removing else "change")
        path = os.path.realpath(path)
        if not new:
            os.unlink(path)
            return "{}: removed.".format(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        temporary = "{}.ctxhub-{}".format(path, os.getpid())
        with open(temporary, "wb") as file:
            file.write(new.encode("utf-8", "surrogateescape"))
        if os.path.exists(path):
            os.chmod(temporary, os.stat(path).st_mode)
        os.replace(temporary, path)
        return "{}: {}.".format(path, "removed" if self.is_removing else "written")
