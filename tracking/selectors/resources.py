"""Reads files that agents have touched: lists by path, and recent changes and leases of each."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from ctxhub.core.kit import clock
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.inputs import clean_limit
from ctxhub.core.kit.listing import Listing, make_cursor, read_cursor
from ctxhub.core.text.globs import matches
from tracking.models import ChangeKind
from tracking.selectors.changes import change_item
from tracking.selectors.leases import lease_item
from tracking.selectors.paths import clean_file, clean_pattern
from tracking.sql import resources as rows
from tracking.sql.changes import last_changes
from tracking.sql.leases import held_paths, read_leases

COLUMNS = ("path", "change", "by", "at")
CHANGES_SHOWN = 5


def list_resources(
    project_id: int, *, path: str | None = None, limit: int = 20, cursor: str | None = None
) -> Listing:
    """Files by path: rows path, change, by, at (of the last change). `path` may be a glob."""
    limit = clean_limit(limit)
    after = read_cursor(cursor, str)[0] if cursor else None
    found = rows.list_resources(project_id, clean_pattern(path) if path else None, limit + 1, after)
    return Listing(
        columns=COLUMNS,
        rows=[
            [file, change and str(ChangeKind(change).label), by, at and format_time(at)]
            for file, change, by, at in found[:limit]
        ],
        next=make_cursor(found[limit - 1][0]) if len(found) > limit else None,
        cursor_after=lambda count: make_cursor(found[count - 1][0]),
    )


def open_resources(project_id: int, names: Sequence[str], full: bool) -> dict[str, dict[str, Any]]:
    """Items by name (the path in `resource:src/app.py`): last changes and, if `full`, live leases."""
    files = {name: file for name in names if (file := _file(name))}
    known = rows.find_resources(project_id, list(files.values())) if files else {}
    shown = CHANGES_SHOWN if full else 1
    changes = defaultdict(list)
    for row in last_changes(list(known.values()), shown) if known else ():
        changes[row.path].append({k: v for k, v in change_item(row, full=False).items() if v and k != "path"})
    leases = _leases(project_id, list(known)) if known and full else {}
    return {
        name: {"path": file, "changes": changes[file], **({"leases": leases[file]} if file in leases else {})}
        for name, file in files.items()
        if file in known
    }


def ids_of_files(project_id: int, names: Sequence[str]) -> dict[str, int]:
    files = {name: file for name in names if (file := _file(name))}
    known = rows.find_resources(project_id, list(files.values())) if files else {}
    return {name: known[file] for name, file in files.items() if file in known}


def leases_on(project_id: int, file: str) -> list[dict[str, Any]]:
    """The live leases that match the file."""
    return _leases(project_id, [file]).get(file, [])


def _file(name: str) -> str | None:
    try:
        return clean_file(name)
    except CtxhubError:
        return None


def _leases(project_id: int, files: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    held = held_paths(project_id, files, clock.now())
    ids = {file: [each.lease_id for each in held if matches(each.pattern, file)] for file in files}
    wanted = sorted({lease_id for found in ids.values() for lease_id in found})
    items = {row.id: lease_item(row) for row in read_leases(project_id, wanted)} if wanted else {}
    return {
        file: [items[i] for i in dict.fromkeys(found) if i in items] for file, found in ids.items() if found
    }
