"""Stores what agents say about files: contents, hashes, sizes, accesses, and marks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import NotFound
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.search.documents import Document
from ctxhub.core.vocabulary.names import register_agent
from tracking.files.history import record_files, record_marks, resource_document
from tracking.files.inputs import Access, FileFacts, clean_facts
from tracking.files.models import type_of_path
from tracking.files.paths import clean_file
from tracking.files.rows import (
    FileRow,
    StoredContent,
    count_access,
    delete_unused_contents,
    indexed_at,
    read_files,
    write_contents,
    write_files,
    write_mark,
)


def store_access(project_id: int, path: str, facts: FileFacts, access: Access) -> FileRow:
    """Store facts about one file and count an access to it. Runs inside the project's write transaction."""
    if facts != FileFacts():
        return _store(project_id, {path: facts}, read_files(project_id, [path]), access.at, access)[path]
    # If there was nothing to count, the file is new.
    known = count_access(project_id, path, access)
    return known or _store(project_id, {path: facts}, {}, access.at, access)[path]


def store_files(project_id: int, files: Mapping[str, FileFacts], at: datetime) -> dict[str, FileRow]:
    """Store facts by path, and make unknown files; returns the files by path.

    Runs inside the project's write transaction, with a fixed number of statements. Contents of up to 1 MiB
    are kept once for all files that have them. A hash that differs from the known one comes with a new
    content, or else the old content is dropped: it is of another version of the file.
    """
    return _store(project_id, files, read_files(project_id, list(files)), at)


def _store(
    project_id: int,
    files: Mapping[str, FileFacts],
    known: Mapping[str, FileRow],
    at: datetime,
    access: Access | None = None,
) -> dict[str, FileRow]:
    """Store facts, and count an access to each file. `known`: those of the files that exist."""
    contents = _store_contents(project_id, files, known, at)
    rows = {}
    for path, facts in files.items():
        old = known.get(path) or FileRow(path=path, type=type_of_path(path).value, created_at=at)
        rows[path] = _accessed(_merged(old, facts, contents), access)
    ids = write_files(project_id, list(rows.values()), accesses=1 if access else 0)
    rows = {path: replace(row, id=ids[path]) for path, row in rows.items()}
    lost = {old.content_id for path, old in known.items() if old.content_id != rows[path].content_id}
    if unused := [content_id for content_id in lost if content_id]:
        delete_unused_contents(project_id, unused)
    _record(project_id, files, known, rows)
    return rows


def _store_contents(
    project_id: int, files: Mapping[str, FileFacts], known: Mapping[str, FileRow], at: datetime
) -> dict[str, StoredContent]:
    """Store the contents that their files do not have yet; returns them by the hashes of their texts."""
    new = {
        facts.content.text_hash: (facts.content.text, facts.content.tokens)
        for path, facts in files.items()
        if facts.content
        and facts.content.text is not None
        and (path not in known or known[path].content_hash != facts.content.text_hash)
    }
    return write_contents(project_id, new, at) if new else {}


def _merged(old: FileRow, facts: FileFacts, contents: Mapping[str, StoredContent]) -> FileRow:
    """The file after the caller's words: what they leave out stays."""
    content = facts.content
    row = replace(
        old,
        type=old.type if facts.type is None else facts.type.value,
        size=_first(facts.size, content.size if content else None, old.size),
        tokens=_first(facts.tokens, content.tokens if content else None, old.tokens),
        hash=facts.hash or (content.hash if content else old.hash),
        mark=_first(facts.mark, old.mark),
    )
    if content and content.text_hash in contents:
        stored = contents[content.text_hash]
        return replace(row, content_id=stored.id, content_hash=content.text_hash, content_at=stored.at)
    if (content and content.text is None) or (content is None and row.hash != old.hash):
        return replace(row, content_id=None, content_hash=None, content_at=None)
    return row


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)


def _accessed(row: FileRow, access: Access | None) -> FileRow:
    if access is None:
        return row
    return replace(
        row,
        access_count=row.access_count + 1,
        last_accessed=max(access.at, row.last_accessed or access.at),
        best_access=max(access.kind.value, row.best_access or 0),
    )


def _record(
    project_id: int, files: Mapping[str, FileFacts], known: Mapping[str, FileRow], rows: Mapping[str, FileRow]
) -> None:
    new = [_document(row, files[path]) for path, row in rows.items() if path not in known]
    changed = [
        _document(row, files[path])
        for path, row in rows.items()
        if path in known and known[path].content_id != row.content_id
    ]
    if new or changed:
        record_files(project_id, new=new, changed=changed)


def _document(row: FileRow, facts: FileFacts) -> Document:
    text = facts.content.text if facts.content and row.content_id else None
    return resource_document(row.id, row.path, indexed_at(row.created_at, row.content_at), text or "")


def mark_files(*, caller: Caller, paths: Sequence[str], importance: int | None) -> int:
    """Set the importance of files, 0 to 100; None: it is computed again. Returns how many it changed.

    Raises NotFound, and changes nothing, if no agent has touched one of the files.
    """
    files = list(dict.fromkeys(map(clean_file, paths)))
    mark = clean_facts(importance=importance).mark
    with write_transaction(caller.project_id):
        known = read_files(caller.project_id, files)
        if unknown := [file for file in files if file not in known]:
            raise NotFound(f"No agent has touched the file {unknown[0]}.")
        changed = [known[file] for file in files if known[file].mark != mark]
        if not changed:
            return 0
        at = clock.now()
        agent_id = register_agent(caller, at)
        write_mark(caller.project_id, [file.id for file in changed], mark)
        record_marks(caller.project_id, agent_id, paths=[file.path for file in changed], mark=mark, at=at)
    return len(changed)
