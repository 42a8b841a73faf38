"""Edits: checked before, recorded after."""

from __future__ import annotations

import os
import time

from ctxhub_client.hooks.event import context, specific
from ctxhub_client.hub import EXACT, MOST_PATHS
from ctxhub_client.settings import enforcement, shell_mode
from ctxhub_client.store import digest
from ctxhub_client.values import dict_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.hooks.event import Event
    from ctxhub_client.values import Json


def before_edit(event: Event) -> Json | None:
    mode = enforcement()
    paths = [name for file in edited_files(event) for name in file.names][:MOST_PATHS]
    if mode == "off" or not paths:
        return None
    check = event.hub.post("check/", dict(EXACT, paths=paths))
    # Without `check`, an earlier hub is asked for its leases.
    if check is None and event.hub.status != 404:
        return None
    from ctxhub_client.hooks.checks import check_text
    from ctxhub_client.leases import denial, exclusive_leases

    leases = exclusive_leases(event.hub, check, paths)
    if leases and mode == "deny":
        reason = denial(event.hub, paths, leases)
        return specific(event, permissionDecision="deny", permissionDecisionReason=reason)
    text = check_text(paths, leases, check or {})
    return context(event, text) if text and event.is_new("checks", digest(text)) else None


def after_edit(event: Event) -> None:
    edited = edited_files(event)
    note_written([file.place for file in edited])
    items = [{"path": file.names[0], "change": file.change} for file in edited]
    if len(items) == 1:
        event.hub.post("changes/", dict(EXACT, **items[0]))
    elif items:
        event.hub.post("changes/batch/", dict(EXACT, items=items))
    for item in items:
        event.hub.post("accesses/", dict(EXACT, path=item["path"], access="edited"))


def note_written(files: list[str]) -> None:
    """So that no look at what commands wrote finds them again, in this window or another one."""
    if files and shell_mode() != "off":
        from ctxhub_client.shell.claims import claim

        claim(files, time.time())


class Edited:
    """A file that a tool edits: its names in the project, where it lies, and its change."""

    def __init__(self, names: list[str], place: str, change: str) -> None:
        self.names = names
        self.place = place
        self.change = change


def edited_files(event: Event) -> list[Edited]:
    asked = dict_of(event.values, "tool_input")
    command = text_of(asked, "command", "input", "patch", "cmd")
    if text_of(event.values, "tool_name") == "apply_patch" or command.lstrip().startswith("apply_patch"):
        from ctxhub_client.hooks.patches import patched_files

        folder = text_of(asked, "workdir")
        found = [(os.path.join(folder, name), change) for name, change in patched_files(command)]
    else:
        created = text_of(dict_of(event.values, "tool_response"), "type") == "create"
        found = [(text_of(asked, "file_path", "path", "notebook_path"), "created" if created else "modified")]
    project = event.project
    edited = {
        names[0]: Edited(names, project.place(file), change)
        for file, change in found
        if file and (names := project.names(file))
    }
    return list(edited.values())[:MOST_PATHS]
