"""The tool `file`, first part: file changes."""

from typing import Annotated

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.listing import Listing
from ctxhub.core.toolbox.actions import action, tool
from ctxhub.core.toolbox.argument_types import Items, Number, Says, Word
from ctxhub.core.toolbox.batch_writes import BatchAnswer
from ctxhub.core.toolbox.batches import checked_items
from tracking.selectors import locks
from tracking.selectors.changes import list_changes
from tracking.services import changes as services

tool(
    "file",
    "Who changes which files. Lease what others may edit too, record what you changed.",
    otherwise=[({"path", "change"}, "record"), ({"paths"}, "lease"), (set(), "changes")],
)

ChangeWord = Annotated[Word, Says("created|modified|deleted")]


@action(
    "file",
    "record",
    writes=True,
    example={"path": "src/api/auth.py", "change": "modified", "layer": "business", "description": "Rotate."},
    also_known_as=("record_file_change", "file_record"),
)
def record(
    caller: Caller,
    path: str,
    change: ChangeWord,
    layer: str | None = None,
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
    writes=True,
    example={
        "items": [{"path": "src/a.py", "change": "created"}, {"path": "src/old.py", "change": "deleted"}]
    },
)
def record_batch(caller: Caller, items: Items, atomic: bool = True) -> BatchAnswer:
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
def changes(
    caller: Caller,
    path: str | None = None,
    by: str | None = None,
    layer: str | None = None,
    change: Word | None = None,
    since: str | None = None,
    limit: Number = 20,
    cursor: str | None = None,
) -> Listing:
    """Changes that pass every filter, newest first; without a filter those of the last hour.

    `path` may be a glob (src/api/*, src/**, src/ for everything below); `change` is created, modified or
    deleted; `since`: a time, a time ago ("7d") or an event cursor.
    """
    return list_changes(
        caller.project_id,
        path=path,
        by=by,
        layer=layer,
        change=change,
        since=since,
        limit=limit,
        cursor=cursor,
    )


@action(
    "file",
    "check_lock",
    example={"path": "src/api/auth.py", "within_seconds": 600},
    also_known_as=("check_file_lock", "is_locked"),
)
def check_lock(caller: Caller, path: str, within_seconds: Number = 300) -> locks.Lock:
    """Whether somebody else is at a file: changed it within that time, or holds a lease on it.

    `path` may be a glob (src/api/**): then whether somebody is at any file that it matches. What you changed
    or leased yourself never locks you. With a lease `expires` says until when.
    """
    return locks.check_lock(caller, path=path, within_seconds=within_seconds)
