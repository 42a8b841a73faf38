"""Reads what prioritisation needs: the files that may be included, and how well they match a query."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.accounts.agents import find_agent_id
from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.listing import COUNTED_TO
from ctxhub.core.search.candidates import find_candidates
from ctxhub.core.search.questions import prepare
from ctxhub.core.search.ranking import rank
from ctxhub.core.search.search import with_priors
from sessions.windows.calls import another_agents, find_session

# A file that was only pulled in by a dependency has a row without accesses.
OWN = "(s.access_count > 0 OR s.is_saved)"
ROWS_AT_ONCE = 5_000
TEXTS_AT_ONCE = 100


@frozen
class Chosen:
    """What the last prioritisation said of a file. `compressed_tokens`: of a shorter form of its text."""

    relevance: int = 0
    included: bool = False
    mode: int | None = None
    compressed_tokens: int | None = None


@frozen
class FileRow:
    """A file of a session, or one that such a file needs. `is_own`: the session has touched or saved it.

    `content_tokens` and the following are those of its content, if that is stored. `chosen`: None if the
    session has no row of it.
    """

    id: int
    path: str
    type: int
    tokens: int | None
    size: int | None
    hash: str
    mark: int | None
    access_count: int
    last_accessed: datetime | None
    best_access: int | None
    content_id: int | None
    content_tokens: int | None
    compressed_tokens: int | None
    digest_tokens: int | None
    incoming_strength: int
    is_own: bool
    is_modified: bool
    chosen: Chosen | None


@frozen
class NewForms:
    """Shorter forms of a content, to keep."""

    content_id: int
    compressed: str
    compressed_tokens: int
    digest: str
    digest_tokens: int


# -- Reading ---------------------------------------------------------------------------------------


def read_files(project_id: int, session_id: int, strength: int) -> list[FileRow]:
    """The files of a session, and those that its own ones need with at least this strength."""
    statement = f"""
        WITH wanted AS MATERIALIZED (
            SELECT s.resource_id FROM agent_sessions_sessionresource s WHERE s.session_id = %s
            UNION
            SELECT d.target_id FROM agent_sessions_sessionresource s
            JOIN agent_sessions_resourcedependency d ON d.source_id = s.resource_id
            WHERE s.session_id = %s AND {OWN} AND d.strength >= %s)
        SELECT r.id, r.path, r.type, r.tokens, r.size, r.hash, r.mark, r.access_count, r.last_accessed,
            r.best_access, r.content_id, c.tokens, c.compressed_tokens, c.digest_tokens,
            (SELECT coalesce(sum(d.strength), 0) FROM agent_sessions_resourcedependency d
                WHERE d.target_id = r.id),
            CASE WHEN {OWN} THEN 1 ELSE 0 END, CASE WHEN s.modified THEN 1 ELSE 0 END,
            s.id, s.relevance, s.included, s.mode, s.compressed_tokens
        FROM wanted CROSS JOIN tracking_resource r
        LEFT JOIN tracking_filecontent c ON c.id = r.content_id
        LEFT JOIN agent_sessions_sessionresource s ON s.session_id = %s AND s.resource_id = r.id
        WHERE r.id = wanted.resource_id AND r.project_id = %s"""
    found = sql.rows(statement, [session_id, session_id, strength, session_id, project_id])
    return [_file(row) for row in found]


def read_links(project_id: int, session_id: int, strength: int) -> list[tuple[int, int, int]]:
    """Source, target and strength of what a session's own files need, by the strongest link of each pair."""
    statement = f"""
        SELECT d.source_id, d.target_id, max(d.strength) FROM agent_sessions_sessionresource s
        JOIN agent_sessions_resourcedependency d ON d.source_id = s.resource_id
        WHERE s.session_id = %s AND s.project_id = %s AND {OWN} AND d.strength >= %s
        GROUP BY d.source_id, d.target_id"""
    return [(int(s), int(t), int(n)) for s, t, n in sql.rows(statement, [session_id, project_id, strength])]


def read_texts(project_id: int, ids: Sequence[int], column: str = "text") -> dict[int, str]:
    """The texts of contents by id; `column`: text, compressed or digest."""
    if not ids:
        return {}
    condition, values = sql.by_ids("c", project_id, ids)
    return dict(sql.rows(f"SELECT c.id, c.{column} FROM tracking_filecontent c WHERE {condition}", values))


# -- Writing ---------------------------------------------------------------------------------------


def write_chosen(
    project_id: int, session_id: int, chosen: Iterable[tuple[int, Chosen]], at: datetime
) -> None:
    """Set what was chosen for files, by their ids. A file or session deleted meanwhile is left out."""
    for some in sql.chunks(list(chosen), ROWS_AT_ONCE):
        marks = ", ".join(["(%s, %s, %s, %s, %s)"] * len(some))
        statement = f"""
            INSERT INTO agent_sessions_sessionresource (project_id, session_id, resource_id, relevance,
                included, mode, compressed_tokens, access_count, modified, is_saved, hash, created_at)
            SELECT r.project_id, s.id, r.id, v.column2, v.column3, CAST(v.column4 AS smallint),
                CAST(v.column5 AS integer), 0, %s, %s, '', %s
            FROM (VALUES {marks}) v
            JOIN tracking_resource r ON r.id = v.column1
            JOIN agent_sessions_agentsession s ON s.id = %s AND s.project_id = r.project_id
            WHERE r.project_id = %s
            ON CONFLICT (session_id, resource_id) DO UPDATE SET relevance = excluded.relevance,
                included = excluded.included, mode = excluded.mode,
                compressed_tokens = excluded.compressed_tokens"""
        rows = [(i, c.relevance, c.included, c.mode, c.compressed_tokens) for i, c in some]
        values = [value for row in rows for value in row]
        sql.execute(statement, [False, False, sql.stored_time(at), *values, session_id, project_id])


def keep_forms(project_id: int, forms: Sequence[NewForms]) -> None:
    """Store shorter forms with their contents, unless another call has done so."""
    for some in sql.chunks(forms, TEXTS_AT_ONCE):
        marks = ", ".join(["(%s, %s, %s, %s, %s)"] * len(some))
        statement = f"""
            UPDATE tracking_filecontent AS c SET compressed = v.column2, compressed_tokens = v.column3,
                digest = v.column4, digest_tokens = v.column5
            FROM (VALUES {marks}) v
            WHERE c.id = v.column1 AND c.project_id = %s AND c.digest_tokens IS NULL"""
        rows = [(f.content_id, f.compressed, f.compressed_tokens, f.digest, f.digest_tokens) for f in some]
        sql.execute(statement, [*(value for row in rows for value in row), project_id])


def _file(row: Sequence[Any]) -> FileRow:
    row_id, path, kind, tokens, size, hashed, mark, count, at, best, *rest = row
    content_id, content_tokens, compressed, digest, incoming, is_own, is_modified, stored, *chosen = rest
    return FileRow(
        id=row_id,
        path=path,
        type=kind,
        tokens=tokens,
        size=size,
        hash=hashed,
        mark=mark,
        access_count=count,
        last_accessed=sql.read_time(at) if at else None,
        best_access=best,
        content_id=content_id,
        content_tokens=content_tokens,
        compressed_tokens=compressed,
        digest_tokens=digest,
        incoming_strength=int(incoming),
        is_own=bool(is_own),
        is_modified=bool(is_modified),
        chosen=_chosen(*chosen) if stored else None,
    )


def _chosen(relevance: int, included: Any, mode: int | None, compressed_tokens: int | None) -> Chosen:
    return Chosen(relevance, bool(included), mode, compressed_tokens)


# The best passages of the project that get a score; other files get none.
SCORED_PASSAGES = 1_000


def find_own_session(caller: Caller) -> int | None:
    """The session that the call belongs to, if it has one. Raises NotAllowed for another agent's."""
    found = find_session(caller)
    if found is None:
        return None
    if found.agent_id is None or found.agent_id != find_agent_id(caller.project_id, caller.agent):
        raise another_agents(found.id)
    return found.id


def query_scores(project_id: int, query: str) -> dict[int, float]:
    """The search scores of files, 0 to 1, by their ids; of those that match best."""
    search = prepare(project_id, query, kinds=["resource"], earlier=False)
    if search is None or not search.weights:
        return {}
    candidates, _ = find_candidates(
        search.narrowing, search.query, search.weights, SCORED_PASSAGES, COUNTED_TO + 1, search.counts
    )
    ranked = with_priors(rank(candidates, search.weights), for_reasons=False)
    return {each.candidate.object_id: each.score for each in ranked}
