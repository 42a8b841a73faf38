"""Commands of a shell: what they wrote is recorded, and what it touched is told at once."""

from __future__ import annotations

import os
import re
import time

from ctxhub_client.hooks.event import context
from ctxhub_client.hub import EXACT, MOST_PATHS
from ctxhub_client.settings import enforcement, shell_mode
from ctxhub_client.shell.worktree import Worktree, look_at
from ctxhub_client.store import digest
from ctxhub_client.texts import NOTE, one_line
from ctxhub_client.values import dict_of, number_of, rows_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.hooks.event import Event
    from ctxhub_client.values import Json

SHELLS = ("Bash", "PowerShell", "Shell", "shell", "exec", "exec_command", "local_shell", "run_terminal_cmd")
MOST_FILES = 500
MOST_TRACKED = 10
MOST_LINES = 5
# Longer looks at commands are too long: after some of them only Stop looks.
SLOW_SECONDS = 0.25
MOST_SLOW = 3
# What Claude Code itself says in the middle of a turn, when something in the background has ended.
NOTIFICATION = "<task-notification>"
PATCH = re.compile(r"\s*apply_patch\b")


def is_shell(event: Event) -> bool:
    return text_of(event.values, "tool_name") in SHELLS


def command_of(event: Event) -> str:
    asked = dict_of(event.values, "tool_input")
    command = asked.get("command", asked.get("cmd"))
    if isinstance(command, list):
        return " ".join(part for part in command if isinstance(part, str))
    return command if isinstance(command, str) else ""


def before_command(event: Event) -> Json | None:
    """Look at the worktree; a patch that the command applies is checked as an edit is."""
    command = command_of(event)
    if looks_at(event) == "each":
        begin_call(event)
        if dict_of(event.values, "tool_input").get("run_in_background") or command.rstrip().endswith("&"):
            keep(event, background=True)
    if PATCH.match(command):
        from ctxhub_client.hooks.edits import before_edit

        return before_edit(event)
    return None


def after_command(event: Event) -> Json | None:
    name = call_file(event)
    before = event.hub.store.read(name)
    if not before:
        return None
    event.hub.store.remove(name)
    still_open = [each for each in open_calls(event.hub.store.read(turn_file(event))) if each != name]
    keep(event, open=still_open)
    return tell_written(event, before)


def begin_turn(event: Event) -> None:
    """What a person wrote before the prompt is no command's: the first one of a turn looks at all files."""
    if text_of(event.values, "prompt").startswith(NOTIFICATION):
        return
    if looks_at(event) == "stop":
        look(event, turn_file(event))
    elif event.hub.store.read(turn_file(event)).get("worktree"):
        keep(event, worktree=None, open=[])


def end_turn(event: Event) -> None:
    """Record what ran in the background or has no told end, or every command if they are looked at now."""
    turn = event.hub.store.read(turn_file(event))
    if looks_at(event) == "stop" or is_running(turn):
        tell_written(event, turn)
        keep(event, background=False, open=[])


# -- Looking -----------------------------------------------------------------------------------------------


def looks_at(event: Event) -> str:
    """`each` command, all of a turn at Stop (`stop`), or nothing (`off`)."""
    if event.hub.is_down or event.project.repository is None:
        return "off"
    mode = shell_mode()
    is_slow = mode == "each" and number_of(event.hub.store.read(turn_file(event)), "slow") >= MOST_SLOW
    return "stop" if is_slow else mode


def turn_file(event: Event) -> str:
    return "turn-{}.json".format(digest(event.window, event.project.folder))


def call_file(event: Event) -> str:
    """Commands of subagents run side by side: each is compared with what was there before it."""
    tool_use = text_of(event.values, "tool_use_id") or event.session
    return "call-{}.json".format(digest(event.window, event.project.folder, tool_use))


def keep(event: Event, **values: object) -> None:
    name = turn_file(event)
    event.hub.store.write(name, dict(event.hub.store.read(name), **values))


def begin_call(event: Event) -> None:
    """Keep how the worktree is before a command: as it was after the one before, or as it is now.

    While something may run still, what it writes counts from the last look on.
    """
    turn = event.hub.store.read(turn_file(event))
    last = Worktree.of_values(dict_of(turn, "worktree"))
    if last is not None and event.project.repository is not None and not is_running(turn):
        last = last.reused(event.project.repository)
    found = last or look(event, turn_file(event))
    if found is not None:
        event.hub.store.write(call_file(event), {"worktree": found.values})
        keep(event, worktree=found.values, open=[*open_calls(turn), call_file(event)])


def is_running(turn: Json) -> bool:
    """Whether commands may still write: in the background, or as no hook was told that they have ended."""
    return bool(turn.get("background") or turn.get("open"))


def open_calls(turn: Json) -> list[str]:
    """The files of commands whose end was not told: by Claude Code of those that fail."""
    found = turn.get("open")
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def look(event: Event, file: str) -> Worktree | None:
    """The worktree as it is now, also kept in a file."""
    if event.project.repository is None:
        return None
    began = time.monotonic()
    found = look_at(event.project.repository)
    if found is None or time.monotonic() - began > SLOW_SECONDS:
        keep(event, slow=number_of(event.hub.store.read(turn_file(event)), "slow") + 1)
    if found is not None:
        event.hub.store.write(file, dict(event.hub.store.read(file), worktree=found.values))
    return found


def tell_written(event: Event, kept: Json) -> Json | None:
    """Record what was written since a look that was kept."""
    repository = event.project.repository
    before = Worktree.of_values(dict_of(kept, "worktree"))
    after = look(event, turn_file(event))
    if repository is None or before is None or after is None:
        return None
    from ctxhub_client.shell.changes import changed_files
    from ctxhub_client.shell.claims import claim

    found, why = changed_files(repository, before, after)
    if why:
        return context(event, why) if event.is_new("moved", after.head + after.stash) else None
    places = {os.path.join(repository.top, path): path for path, _ in found}
    seen_at = 0.0 if before.is_reused else before.at
    first = {places[place] for place in claim(list(places), seen_at)}
    prefix = event.project.prefix
    written = [(prefix + path, change) for path, change in found if path in first]
    record(event, written[:MOST_FILES])
    return told(event, written)


def record(event: Event, written: list[tuple[str, str]]) -> None:
    for start in range(0, len(written), MOST_PATHS):
        items = [
            {"path": path, "change": change, "description": "By a command."}
            for path, change in written[start : start + MOST_PATHS]
        ]
        event.hub.post("changes/batch/", dict(EXACT, items=items, atomic=False))
    for path, _ in written[:MOST_TRACKED]:
        event.hub.post("accesses/", dict(EXACT, path=path, access="edited"))


# -- Telling -----------------------------------------------------------------------------------------------


def told(event: Event, written: list[tuple[str, str]]) -> Json | None:
    """What bears on the files that were written, and what was not recorded."""
    lines = []
    paths = [path for path, _ in written[:MOST_PATHS]]
    check = event.hub.post("check/", dict(EXACT, paths=paths)) if paths and enforcement() != "off" else None
    if check is not None:
        from ctxhub_client.hooks.checks import check_line
        from ctxhub_client.leases import exclusive_leases

        leases = exclusive_leases(event.hub, check, paths)
        rules = [
            row for row in rows_of(check.get("constraints")) if event.is_new("rules", text_of(row, "ref"))
        ]
        lines = [check_line(row) for row in (leases + rules)[:MOST_LINES]]
    if lines:
        said = "Already changed by the command: {}.{}".format(
            one_line(", ".join(paths[:3])), " Undo it, or ask the holder." if leases else ""
        )
        lines[:0] = [NOTE, said]
    if len(written) > MOST_FILES:
        more = "{:,} files were changed; the first {} are recorded."
        lines.append(more.format(len(written), MOST_FILES))
    return context(event, "\n".join(lines)) if lines else None
