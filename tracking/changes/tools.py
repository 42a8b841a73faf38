"""The tool `file`, first part: file changes."""

from typing import Annotated, Unpack

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.limits import PATH
from ctxhub.core.kit.listing import Listing
from ctxhub.toolbox.actions import action, tool
from ctxhub.toolbox.argument_types import (
    NAMES_FILES,
    About,
    Items,
    Number,
    OptionalWord,
    Says,
    Word,
)
from ctxhub.toolbox.batch_writes import BatchAnswer
from ctxhub.toolbox.batches import checked_items
from tracking.changes import locks, services
from tracking.changes.queries import GLOB, ChangeFilters, list_changes

tool(
    "file",
    "Lease files before editing; record changes.",
    otherwise=[({"path", "change"}, "record"), ({"paths"}, "lease"), (set(), "changes")],
)


ChangeWord = Annotated[Word, Says("created|modified|deleted")]
WithinSeconds = Annotated[
    Number,
    About("How long a change locks; left out: 300.", {"minimum": 1, "maximum": locks.LONGEST}),
]


@action(
    "file",
    "record",
    writes=True,
    example={"path": "src/api/auth.py", "change": "modified", "layer": "business", "description": "Rotate."},
    also_known_as=("record_file_change", "file_record"),
)
def record(
    caller: Caller,
    path: Annotated[str, NAMES_FILES, About("Relative to the repository.", PATH)],
    change: ChangeWord,
    layer: OptionalWord | None = None,
    description: str | None = None,
) -> services.RecordAnswer:
    """Tell the others that you changed a file.

    The path is relative to the repository. To lease a file before you edit it, see `lease`.
    """
    return services.record_change(
        caller=caller, path=path, change=change, layer=layer, description=description
    )


@action(
    "file",
    "record_batch",
    quiet=True,
    writes=True,
    example={
        "items": [{"path": "src/a.py", "change": "created"}, {"path": "src/old.py", "change": "deleted"}]
    },
)
def record_batch(
    caller: Caller,
    items: Annotated[Items, NAMES_FILES, About("Up to 50.")],
    atomic: Annotated[bool, About("All or nothing: the default.")] = True,
) -> BatchAnswer:
    """Record up to 50 changes; each item takes what `record` takes.

    atomic: all or nothing, the error names the `index`. Otherwise each result tells how its item went.
    """
    return services.record_change_batch(
        caller=caller, items=checked_items(items, "file", "record"), atomic=atomic
    )


@action(
    "file",
    "changes",
    example={"path": "src/api/*", "since": "2h"},
    also_known_as=("get_file_changes", "get", "list", "history", "recent_file_changes"),
)
def changes(caller: Caller, **filters: Unpack[ChangeFilters]) -> Listing:
    """Changes that pass every filter, newest first; without a filter those of the last hour.

    `path` may be a glob (src/api/*, src/**, src/ for everything below); `change` is created, modified or
    deleted; `since`: a time, a time ago ("7d") or an event cursor.
    """
    return list_changes(caller.project_id, **filters)


@action(
    "file",
    "check_lock",
    quiet=True,
    example={"path": "src/api/auth.py", "within_seconds": 600},
    also_known_as=("check_file_lock", "is_locked"),
)
def check_lock(
    caller: Caller, path: Annotated[str, NAMES_FILES, About(GLOB, PATH)], within_seconds: WithinSeconds = 300
) -> locks.Lock:
    """Whether somebody else is at a file: changed it within that time, or holds a lease on it.

    `path` may be a glob (src/api/**): then whether somebody is at any file that it matches. What you changed
    or leased yourself never locks you. With a lease `expires` says until when.
    """
    return locks.check_lock(caller, path=path, within_seconds=within_seconds)
