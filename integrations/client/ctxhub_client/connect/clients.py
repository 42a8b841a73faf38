"""Connects coding clients with the hub, and disconnects them."""

from __future__ import annotations

import os

from ctxhub_client.connect.block_part import BlockPart
from ctxhub_client.connect.edit import REMOVED, UNCHANGED, WRITTEN, add, take
from ctxhub_client.connect.entries import entry_of
from ctxhub_client.connect.json_parts import HooksPart, ServerPart
from ctxhub_client.connect.places import all_places, hooks_file, rules_head, rules_places, server_places
from ctxhub_client.connect.toml_part import TablePart
from ctxhub_client.install.files import Refused
from ctxhub_client.install.hook_settings import CLAUDE_EVENTS, CODEX_EVENTS, has_own_hooks
from ctxhub_client.paths import path_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.connect.line import Line, Scope
    from ctxhub_client.connect.part import Part
    from ctxhub_client.connect.places import Place
    from ctxhub_client.values import Json

HOOKS = {"claude-code": ("claude", CLAUDE_EVENTS), "codex": ("codex", CODEX_EVENTS)}
# What to do in the client.
HINTS = {
    "claude-code": "Claude Code: start it anew.",
    "codex": "Codex: start it anew in a folder that it trusts, and trust the hooks with /hooks.",
    "cursor": "Cursor: switch the server on in its settings. It can run the hooks of Claude Code, too.",
    "vscode": "VS Code: start the server with *MCP: List Servers*, and trust it.",
    "copilot-cli": "Copilot CLI: start it anew, in a folder that it trusts.",
    "opencode": "opencode: start it anew.",
    "antigravity": "Antigravity: start it anew.",
}
OF_THIS_MACHINE = "{} names paths of this machine: keep it out of commits."
TWICE = "{} has hooks of ctxhub as well, and both would run: take them out there, or connect with --no-hooks."


class Report:
    """What to say, a line for each file. `is_whole` unless a file was not understood or not writable."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.is_changed = False
        self.is_whole = True

    def tell(self, path: str, done: str) -> None:
        self.lines.append("{}: {}.".format(path, done))

    def refuse(self, text: str) -> None:
        self.lines.append(text)
        self.is_whole = False


def connect_client(
    client: str, line: Line, scope: Scope, *, hooks: bool = True, rules: bool = True, dry_run: bool = False
) -> Report:
    """Write what a client needs. A file that is not understood stays; the report has what to paste."""
    report = Report()
    for path, part in [*servers(client, line, scope, report), *others(client, line, scope, hooks, rules)]:
        try:
            is_private = path_below(scope.top, path) == ""
            done = add(path, part, client, is_private=is_private, dry_run=dry_run)
        except (Refused, OSError) as error:
            report.refuse("{}: {}. Put this into it:\n{}".format(path, reason(error, path), part.lines()))
            continue
        report.is_changed = report.is_changed or done == WRITTEN
        report.tell(path, "would be written" if dry_run and done == WRITTEN else done)
        names_paths = isinstance(part, HooksPart) or (not line.url and not isinstance(part, BlockPart))
        if done == WRITTEN and names_paths and not (scope.is_user or is_private):
            report.lines.append(OF_THIS_MACHINE.format(path))
    if hooks:
        report.lines += [TWICE.format(path) for path in other_hooks(client, scope) if has_own_hooks(path)]
    if report.is_changed and not dry_run:
        report.lines.append(HINTS[client])
    return report


def disconnect_client(client: str, scope: Scope, *, dry_run: bool = False) -> Report:
    """Take out what connecting wrote: a file that nobody else wrote since is what it was before."""
    report = Report()
    parts = [(place.file, server_part(place)) for place in all_places(client, scope)]
    if path := hooks_file(client, scope):
        parts.append((path, HooksPart()))
    parts += [(path, BlockPart(rules_head(path))) for path in rules_places(client, scope)]
    told: dict[str, str] = {}
    for path, part in parts:
        try:
            done = take(path, part, client, dry_run=dry_run)
        except (Refused, OSError) as error:
            report.refuse("{}: {}. Take {} out of it yourself.".format(path, reason(error, path), part.key))
            continue
        report.is_changed = report.is_changed or done == REMOVED
        if done != UNCHANGED:
            told[path] = done
        elif os.path.exists(path):
            told.setdefault(path, "nothing to remove")
    for path, done in told.items():
        report.tell(path, "would be removed" if dry_run and done == REMOVED else done)
    if not report.lines:
        report.tell(client, "nothing to remove")
    return report


def servers(client: str, line: Line, scope: Scope, report: Report) -> list[tuple[str, Part]]:
    try:
        return [
            (place.file, server_part(place, entry_of(client, line, place.keys)))
            for place in server_places(client, scope)
        ]
    except Refused as error:
        report.refuse("{}: {}.".format(client, error))
        return []


def server_part(place: Place, entry: Json | None = None) -> Part:
    return ServerPart(place.keys, entry) if place.keys else TablePart(entry)


def others(client: str, line: Line, scope: Scope, hooks: bool, rules: bool) -> list[tuple[str, Part]]:
    parts: list[tuple[str, Part]] = []
    path = hooks_file(client, scope)
    if hooks and path:
        name, events = HOOKS[client]
        parts.append((path, HooksPart(events, line.hook(name))))
    if rules:
        parts += [(path, BlockPart(rules_head(path))) for path in rules_places(client, scope)[:1]]
    return parts


def other_hooks(client: str, scope: Scope) -> list[str]:
    """The other files from which a client runs hooks."""
    paths = [hooks_file(client, scope, is_user=not scope.is_user)]
    if client == "claude-code":
        paths.append(os.path.join(scope.top, ".claude", "settings.json"))
    return list(dict.fromkeys(path for path in paths if path and path != hooks_file(client, scope)))


def reason(error: Exception, path: str) -> str:
    """Why a file stays as it is."""
    why = str(error)
    if isinstance(error, OSError):
        other = os.fsdecode(error.filename or path)
        why = (error.strerror or why) + (" at {}".format(other) if other != path else "")
    return "{}, and it stays as it is".format(why)
