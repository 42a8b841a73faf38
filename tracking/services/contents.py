"""Stores what agents say about files: contents, hashes and sizes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from tracking.history.changes import record_changes
from tracking.inputs.contents import FileFacts
from tracking.sql.resources import find_resources, make_resources


@dataclass(frozen=True, slots=True)
class StoredFile:
    id: int
    path: str


def store_files(project_id: int, files: Mapping[str, FileFacts], at: datetime) -> dict[str, StoredFile]:
    """Store facts by path, and make unknown files; returns the files by path.

    Runs inside the project's write transaction. Contents are kept once for all files that have them.
    """
    found = find_resources(project_id, list(files))
    missing = [path for path in files if path not in found]
    new = make_resources(project_id, missing, at) if missing else {}
    contents = _store_contents(project_id, list(files.values()), at)
    for path, facts in files.items():
        _update(({**found, **new})[path], facts, contents)
    record_changes(project_id=project_id, agent_id=None, changes=[], at=at, new_files=new)
    return {path: StoredFile(row_id, path) for path, row_id in {**found, **new}.items()}


def _store_contents(project_id: int, files: Sequence[FileFacts], at: datetime) -> dict[str, int]:
    """The ids of contents by the hash of their text."""
    texts = {f.content.text_hash: f.content for f in files if f.content and f.content.text is not None}
    records = [(project_id, key, c.text, c.tokens, "", "", sql.stored_time(at)) for key, c in texts.items()]
    if not records:
        return {}
    columns = ("project_id", "hash", "text", "tokens", "compressed", "digest", "created_at")
    then = "ON CONFLICT (project_id, hash) DO UPDATE SET hash = excluded.hash RETURNING hash, id"
    return dict(sql.insert("tracking_filecontent", columns, records, then))


def _update(row_id: int, facts: FileFacts, contents: Mapping[str, int]) -> None:
    content = facts.content
    values: dict[str, Any] = {"hash": facts.hash or (content.hash if content else None)}
    if content:
        values |= {"size": content.size, "tokens": content.tokens}
        values["content_id"] = contents.get(content.text_hash)
    given = {column: value for column, value in values.items() if value is not None}
    if given:
        changes = ", ".join(f"{column} = %s" for column in given)
        sql.execute(f"UPDATE tracking_resource SET {changes} WHERE id = %s", [*given.values(), row_id])
