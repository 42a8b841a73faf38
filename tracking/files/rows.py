"""SQL of files: find, create and update by path, match by glob."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from posixpath import commonpath
from typing import Any

from django.db import connection

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.ordering import IN_SEQUENCE, Way
from ctxhub.core.kit.pages import Condition
from ctxhub.core.paths.case import Compared, as_written
from ctxhub.core.text.glob_parts import LAST_CHARACTER
from ctxhub.core.text.globs import as_regex, literal_start
from ctxhub.core.text.path_case import fold_path
from tracking.files.inputs import Access
from tracking.files.models import type_of_path

COLUMNS = (
    *("project_id", "path", "folded", "type", "size", "tokens", "hash", "content_id", "mark"),
    *("access_count", "last_accessed", "best_access", "created_at"),
)
GIVEN = ("type", "size", "tokens", "hash", "content_id", "mark", "last_accessed", "best_access")
SELECTED = """
    r.id, r.path, r.type, r.size, r.tokens, r.hash, r.content_id, f.hash, f.created_at, r.mark,
    r.access_count, r.last_accessed, r.best_access, r.created_at"""
ROWS_AT_ONCE = 30_000 // len(COLUMNS)


@frozen(kw_only=True)
class FileRow:
    """A file. `content_hash` and `content_at`: of its content, if that is kept."""

    id: int = 0
    path: str
    type: int
    size: int | None = None
    tokens: int | None = None
    hash: str = ""
    content_id: int | None = None
    content_hash: str | None = None
    content_at: datetime | None = None
    mark: int | None = None
    access_count: int = 0
    last_accessed: datetime | None = None
    best_access: int | None = None
    created_at: datetime


@frozen
class StoredContent:
    id: int
    at: datetime


def read_files(project_id: int, paths: Sequence[str]) -> dict[str, FileRow]:
    """Files by path; unknown paths are left out."""
    if not paths:
        return {}
    among, values = sql.among("r.path", paths)
    statement = f"""
        SELECT {SELECTED}
        FROM tracking_resource r LEFT JOIN tracking_filecontent f ON f.id = r.content_id
        WHERE r.project_id = %s AND {among}"""
    return {row.path: row for row in map(_file_row, sql.rows(statement, [project_id, *values]))}


def read_texts(project_id: int, content_ids: Sequence[int]) -> dict[int, str]:
    """Contents by their ids."""
    if not content_ids:
        return {}
    condition, values = sql.by_ids("f", project_id, content_ids)
    return dict(sql.rows(f"SELECT f.id, f.text FROM tracking_filecontent f WHERE {condition}", values))


def write_files(project_id: int, rows: Sequence[FileRow], accesses: int) -> dict[str, int]:
    """Insert or update files; returns their ids by path. `accesses`: how many each of them gets."""
    changes = ", ".join(f"{column} = excluded.{column}" for column in GIVEN)
    then = f"""
        ON CONFLICT (project_id, path) DO UPDATE
        SET {changes}, access_count = tracking_resource.access_count + excluded.access_count
        RETURNING path, id"""
    ids: dict[str, int] = {}
    for some in sql.chunks(rows, ROWS_AT_ONCE):
        records = [_record(project_id, row, accesses) for row in some]
        ids |= dict(sql.insert("tracking_resource", COLUMNS, records, then))
    return ids


def count_access(project_id: int, path: str, access: Access) -> FileRow | None:
    """Count an access to a known file, and return it without its content's hash and time; None: unknown."""
    found = sql.rows(
        """
        UPDATE tracking_resource SET access_count = access_count + 1, last_accessed = %s,
            best_access = CASE WHEN best_access > %s THEN best_access ELSE %s END
        WHERE project_id = %s AND path = %s
        RETURNING id, path, type, size, tokens, hash, content_id, NULL, NULL, mark,
            access_count, last_accessed, best_access, created_at""",
        [sql.stored_time(access.at), access.kind.value, access.kind.value, project_id, path],
    )
    return _file_row(found[0]) if found else None


def write_mark(project_id: int, ids: Sequence[int], mark: int | None) -> None:
    among, values = sql.among("id", ids)
    sql.execute(
        f"UPDATE tracking_resource SET mark = %s WHERE project_id = %s AND {among}",
        [mark, project_id, *values],
    )


def write_contents(
    project_id: int, contents: Mapping[str, tuple[str, int]], at: datetime
) -> dict[str, StoredContent]:
    """Insert contents, given as text and tokens by the hash of the text; those that are known stay."""
    moment = sql.stored_time(at)
    columns = ("project_id", "hash", "text", "tokens", "compressed", "digest", "created_at")
    records = [(project_id, key, text, tokens, "", "", moment) for key, (text, tokens) in contents.items()]
    found = sql.insert(
        "tracking_filecontent",
        columns,
        records,
        "ON CONFLICT (project_id, hash) DO UPDATE SET hash = excluded.hash RETURNING hash, id, created_at",
    )
    return {key: StoredContent(row_id, sql.read_time(created_at)) for key, row_id, created_at in found}


def delete_unused_contents(project_id: int, ids: Sequence[int]) -> None:
    """Remove those of the contents that no file has."""
    among, values = sql.among("id", ids)
    sql.execute(
        f"""
        DELETE FROM tracking_filecontent WHERE project_id = %s AND {among} AND NOT EXISTS (
            SELECT 1 FROM tracking_resource r WHERE r.content_id = tracking_filecontent.id)""",
        [project_id, *values],
    )


def _file_row(found: Sequence[Any]) -> FileRow:
    row_id, path, kind, size, tokens, hash_, content_id, content_hash, content_at, mark, *rest = found
    access_count, last_accessed, best_access, created_at = rest
    return FileRow(
        id=row_id,
        path=path,
        type=kind,
        size=size,
        tokens=tokens,
        hash=hash_,
        content_id=content_id,
        content_hash=content_hash,
        content_at=content_at and sql.read_time(content_at),
        mark=mark,
        access_count=access_count,
        last_accessed=last_accessed and sql.read_time(last_accessed),
        best_access=best_access,
        created_at=sql.read_time(created_at),
    )


def _record(project_id: int, row: FileRow, accesses: int) -> Sequence[Any]:
    accessed = row.last_accessed and sql.stored_time(row.last_accessed)
    return (
        *(project_id, row.path, fold_path(row.path), row.type, row.size, row.tokens, row.hash),
        *(row.content_id, row.mark),
        *(accesses, accessed, row.best_access, sql.stored_time(row.created_at)),
    )


def find_resources(project_id: int, paths: Sequence[str]) -> dict[str, int]:
    """Ids by path; unknown paths are left out."""
    among, values = sql.among("path", paths)
    return dict(
        sql.rows(
            f"SELECT path, id FROM tracking_resource WHERE project_id = %s AND {among}",
            [project_id, *values],
        )
    )


def read_paths(project_id: int, ids: Sequence[int]) -> dict[int, str]:
    """The paths of files by id."""
    where, values = sql.by_ids("r", project_id, ids)
    return (
        dict(sql.rows(f"SELECT r.id, r.path FROM tracking_resource r WHERE {where}", values)) if ids else {}
    )


def find_spellings(project_id: int, paths: Sequence[str]) -> dict[str, str]:
    """The stored files that differ from these at most in case, by these: the very one, else the oldest."""
    among, values = sql.among("folded", sorted(set(map(fold_path, paths))))
    found = sql.rows(
        f"SELECT folded, path FROM tracking_resource WHERE project_id = %s AND {among} ORDER BY id DESC",
        [project_id, *values],
    )
    oldest, stored = dict(found), {path for _, path in found}
    return {p: p if p in stored else oldest[fold_path(p)] for p in paths if fold_path(p) in oldest}


def column_of(compared: Compared) -> str:
    """The column that holds paths as they are compared."""
    return "path" if compared is as_written else "folded"


def resources_named(project_id: int, paths: Sequence[str], column: str) -> list[int]:
    """Ids of the files with one of these paths, or of these folded paths."""
    among, values = sql.among(column, paths)
    found = sql.rows(
        f"SELECT id FROM tracking_resource WHERE project_id = %s AND {among}", [project_id, *values]
    )
    return [row_id for (row_id,) in found]


def make_resources(project_id: int, paths: Sequence[str], at: datetime) -> dict[str, int]:
    moment = sql.stored_time(at)
    columns = ("project_id", "path", "folded", "type", "hash", "access_count", "created_at")
    records = [(project_id, path, fold_path(path), type_of_path(path).value, "", 0, moment) for path in paths]
    return dict(sql.insert("tracking_resource", columns, records, "RETURNING path, id"))


def indexed_files(project_id: int, ids: Sequence[int]) -> sql.Reading[list[tuple[int, str, datetime, str]]]:
    """Id, path, time of the last new text, and content of each file; "": none is kept."""
    condition, values = sql.by_ids("r", project_id, ids)
    statement = f"""
        SELECT r.id, r.path, r.created_at, f.created_at, coalesce(f.text, '')
        FROM tracking_resource r LEFT JOIN tracking_filecontent f ON f.id = r.content_id WHERE {condition}"""
    return sql.Reading(
        statement,
        values,
        5,
        lambda rows: [
            (row_id, path, indexed_at(sql.read_time(made), content_at and sql.read_time(content_at)), text)
            for row_id, path, made, content_at, text in rows
        ],
    )


def indexed_at(created_at: datetime, content_at: datetime | None) -> datetime:
    """The time by which a file is found: that of its content, or of its first mention if that is later."""
    return max(created_at, content_at) if content_at else created_at


def matching(globs: Sequence[str], path: str) -> Condition:
    """Condition that the SQL expression `path` matches one of the globs, for the current engine."""
    if connection.vendor == "sqlite":
        return f"{path} || '/' REGEXP %s", ["|".join(map(as_regex, globs))]
    return f"{path} || '/' ~ %s", ["|".join(as_regex(glob, atomic="(?:") for glob in globs)]


def within(globs: Sequence[str], column: str) -> Condition:
    """Like `matching` for an indexed column; reads only the range with the literal prefix of all globs."""
    matched, values = matching(globs, column)
    if start := commonpath(list(map(literal_start, globs))):
        bounds = [start, start + chr(LAST_CHARACTER)]
        return f"{column} >= %s AND {column} < %s AND {matched}", [*bounds, *values]
    return matched, values


def resources_within(project_id: int, globs: Sequence[str], at_most: int, column: str = "path") -> list[int]:
    """Ids of up to `at_most` files that one of the globs matches. `column`: folded, for folded globs."""
    condition, values = within(globs, column)
    found = sql.rows(
        f"SELECT id FROM tracking_resource WHERE project_id = %s AND {condition} LIMIT %s",
        [project_id, *values, at_most],
    )
    return [row_id for (row_id,) in found]


@frozen
class ChangedFile:
    """A file, and the kind, agent and time of its last change, if one is kept."""

    file: FileRow
    change: int | None
    by: str | None
    at: datetime | None


def list_resources(
    project_id: int,
    globs: Sequence[str],
    limit: int,
    after: str | None,
    column: str = "path",
    way: Way = IN_SEQUENCE,
) -> list[ChangedFile]:
    """One page by path; with `globs` only the files that one of them matches. `column`: what they are for."""
    conditions, values = ["r.project_id = %s"], [project_id]
    if globs:
        condition, glob_values = within(globs, f"r.{column}")
        conditions.append(condition)
        values += glob_values
    if after is not None:
        conditions.append(f"r.path {way.beyond} %s")
        values.append(after)  # type: ignore[arg-type]
    statement = f"""
        WITH page AS MATERIALIZED (
            SELECT r.id, r.path FROM tracking_resource r WHERE {" AND ".join(conditions)}
            ORDER BY {way.of("r.path")} LIMIT %s)
        SELECT {SELECTED},
            c.change, CASE WHEN c.id IS NULL THEN NULL ELSE coalesce(a.name, 'system') END, c.at
        FROM page CROSS JOIN tracking_resource r LEFT JOIN tracking_filecontent f ON f.id = r.content_id
        LEFT JOIN tracking_filechange c ON c.id = (
            SELECT x.id FROM tracking_filechange x WHERE x.resource_id = page.id
            ORDER BY x.at DESC, x.id DESC LIMIT 1)
        LEFT JOIN core_agent a ON a.id = c.agent_id
        WHERE r.id = page.id ORDER BY {way.of("page.path")}"""
    return [
        ChangedFile(_file_row(file), change, by, at and sql.read_time(at))
        for *file, change, by, at in sql.rows(statement, [*values, limit])
    ]
