"""Reads files that agents have touched: lists by path, and recent changes and leases of each."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any

from typing_extensions import TypedDict

from ctxhub.core.kit import clock
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.inputs import clean_limit
from ctxhub.core.kit.listing import PREVIEW_CHARACTERS, Listing
from ctxhub.core.kit.ordering import Ordering, way_of
from ctxhub.core.paths.case import as_written, compared_in
from ctxhub.core.paths.reading import reader_in
from ctxhub.core.text.globs import matches
from ctxhub.toolbox.argument_types import About, Time, one_of
from tracking.changes.queries import Kind, change_item
from tracking.changes.rows import last_changes
from tracking.files import rows
from tracking.files.importance import Importance, ImportanceFacts, importance_of
from tracking.files.paths import clean_file, clean_filter
from tracking.files.rows import FileRow
from tracking.leases.queries import lease_item
from tracking.leases.rows import held_paths, read_leases
from tracking.models import ChangeKind, ResourceType

COLUMNS = ("path", "change", "by", "at", "type", "size", "tokens", "hash", "importance")
CHANGES_SHOWN = 5

# The strengths of all dependencies on some files, by row id. The sessions app, which has them, adds itself.
strengths_of_incoming: list[Callable[[int, Sequence[int]], Mapping[int, int]]] = []

TypeLabel = Annotated[str, one_of(*ResourceType.labels)]


class Resource(TypedDict):
    path: str
    change: Annotated[Kind | None, About("The last one, while it is kept.")]
    by: str | None
    at: Time | None
    type: TypeLabel
    size: Annotated[int | None, About("In bytes.")]
    tokens: int | None
    hash: str
    importance: Annotated[int, About("0 to 100.")]


def list_resources(
    project_id: int,
    *,
    path: str | None = None,
    limit: int = 20,
    cursor: str | None = None,
    ordering: Ordering = None,
) -> Listing:
    """Files by path: rows path; change, by, at of the last change; type, size, tokens, hash, importance.

    `path` may be a glob.
    """
    limit, way = clean_limit(limit), way_of(ordering, "path")
    after = way.read(cursor, str)[0] if cursor else None
    globs = clean_filter(path, reader=reader_in(project_id)) if path else ()
    compared = compared_in(project_id) if globs else as_written
    found = rows.list_resources(
        project_id, list(map(compared, globs)), limit + 1, after, rows.column_of(compared), way
    )
    importances = find_importances(project_id, [each.file for each in found[:limit]])
    return Listing(
        columns=COLUMNS,
        rows=[list(_listed(each, importances[each.file.id].total).values()) for each in found[:limit]],
        next=way.cursor(found[limit - 1].file.path) if len(found) > limit else None,
        cursor_after=lambda count: way.cursor(found[count - 1].file.path),
    )


def open_resources(project_id: int, names: Sequence[str], full: bool) -> dict[str, dict[str, Any]]:
    """Items by name (the path in `resource:src/app.py`): facts and last changes; if `full` also the parts of
    the importance, live leases and the content.
    """
    files = _files(project_id, names)
    known = rows.read_files(project_id, list(files.values()))
    if not known:
        return {}
    changes = _changes(known, CHANGES_SHOWN if full else 1)
    importances = find_importances(project_id, list(known.values()))
    leases = _leases(project_id, list(known)) if full else {}
    texts = rows.read_texts(project_id, [r.content_id for r in known.values() if r.content_id and full])
    items: dict[str, dict[str, Any]] = {}
    for file, row in known.items():
        content = {"content": texts[row.content_id]} if row.content_id in texts else {}
        shown = _facts(row, importances[row.id], full=full)
        items[file] = {**shown, "changes": changes[file], "leases": leases.get(file), **content}
    return {
        name: {
            field: value for field, value in items[file].items() if value not in (None, []) and value != ""
        }
        for name, file in files.items()
        if file in items
    }


def find_importances(project_id: int, files: Sequence[FileRow]) -> dict[int, Importance]:
    """The importance of each file now, by row id, whatever the session: nothing counts as edited in it."""
    now, ids = clock.now(), [row.id for row in files]
    strengths: dict[int, int] = {}
    for find in strengths_of_incoming if ids else ():
        strengths |= find(project_id, ids)
    return {row.id: importance_of(facts_of(row, strengths.get(row.id, 0)), now) for row in files}


def facts_of(row: FileRow, incoming_strength: int, *, is_modified: bool = False) -> ImportanceFacts:
    return ImportanceFacts(
        last_accessed=row.last_accessed,
        access_count=row.access_count,
        best_access=row.best_access,
        is_modified=is_modified,
        incoming_strength=incoming_strength,
        type=row.type,
        mark=row.mark,
    )


def ids_of_files(project_id: int, names: Sequence[str]) -> dict[str, int]:
    files = _files(project_id, names)
    known = rows.find_resources(project_id, list(files.values())) if files else {}
    return {name: known[file] for name, file in files.items() if file in known}


def _files(project_id: int, names: Sequence[str]) -> dict[str, str]:
    """The files that names in refs mean; those that can be no path are left out."""
    reader = reader_in(project_id)
    reader.learn(names)
    files = {}
    for name in names:
        with suppress(CtxhubError):
            files[name] = clean_file(name, reader=reader)
    return files


def _listed(found: rows.ChangedFile, importance: int) -> Resource:
    file = found.file
    return Resource(
        path=file.path,
        change=str(ChangeKind(found.change).label) if found.change else None,
        by=found.by,
        at=format_time(found.at) if found.at else None,
        type=str(ResourceType(file.type).label),
        size=file.size,
        tokens=file.tokens,
        hash=file.hash,
        importance=importance,
    )


def _facts(row: FileRow, importance: Importance, *, full: bool) -> dict[str, Any]:
    """What is known of a file; unless `full` only what helps to decide whether to open it."""
    more = {
        "size": row.size,
        "hash": row.hash,
        "importance_parts": {name: round(points, 2) for name, points in importance.parts.items() if points},
    }
    return {
        "path": row.path,
        "type": str(ResourceType(row.type).label),
        "tokens": row.tokens,
        "importance": importance.total,
        **(more if full else {}),
    }


def _changes(known: Mapping[str, FileRow], shown: int) -> dict[str, list[dict[str, Any]]]:
    """The last changes of each file, by path."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in last_changes([file.id for file in known.values()], shown):
        row = replace(row, beginning=row.beginning[:PREVIEW_CHARACTERS])
        found[row.path].append({k: v for k, v in change_item(row, full=False).items() if v and k != "path"})
    return found


def _leases(project_id: int, files: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    held, compared = held_paths(project_id, files, clock.now()), compared_in(project_id)
    ids = {
        file: [each.lease_id for each in held if matches(compared(each.pattern), compared(file))]
        for file in files
    }
    wanted = sorted({lease_id for found in ids.values() for lease_id in found})
    items = {row.id: lease_item(row) for row in read_leases(project_id, wanted)} if wanted else {}
    return {
        file: [items[i] for i in dict.fromkeys(found) if i in items] for file, found in ids.items() if found
    }
