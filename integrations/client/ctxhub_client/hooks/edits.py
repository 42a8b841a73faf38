"""Edits: checked before, recorded after."""

from __future__ import annotations

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
    paths = [path for path, _ in edited_files(event)]
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
    note_written(event, [path for path, _ in edited])
    if len(edited) == 1:
        path, change = edited[0]
        event.hub.post("changes/", dict(EXACT, path=path, change=change))
    elif edited:
        items = [{"path": path, "change": change} for path, change in edited]
        event.hub.post("changes/batch/", dict(EXACT, items=items))
    for path, _ in edited:
        event.hub.post("accesses/", dict(EXACT, path=path, access="edited"))


def note_written(event: Event, paths: list[str]) -> None:
    """So that no look at what commands wrote finds them again, in this window or another one."""
    repository = event.project.repository
    if repository is not None and paths and shell_mode() != "off":
        from ctxhub_client.shell.claims import claim

        claim(repository.top, paths)


def edited_files(event: Event) -> list[tuple[str, str]]:
    """The files that a tool edits, as path and change."""
    asked = dict_of(event.values, "tool_input")
    command = text_of(asked, "command", "input", "patch", "cmd")
    if text_of(event.values, "tool_name") == "apply_patch" or command.lstrip().startswith("apply_patch"):
        from ctxhub_client.hooks.patches import patched_files

        found = patched_files(command)
    else:
        created = text_of(dict_of(event.values, "tool_response"), "type") == "create"
        found = [(text_of(asked, "file_path", "path", "notebook_path"), "created" if created else "modified")]
    edited = {event.project.relative(name): change for name, change in found if name}
    return [(path, change) for path, change in edited.items() if path][:MOST_PATHS]
