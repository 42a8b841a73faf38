"""SQL of sessions: what they hold, written, copied and read, and the ancestors of one."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from sessions.sittings.inputs import NewConversation, NewItem
from sessions.sittings.rows import SavedWorkspace

MOST_CONVERSATIONS = 200
MOST_DEPTH = 1_000


@frozen
class StoredConversation:
    """`text` is its end if it is longer than what was asked for; "": it was not asked for."""

    id: int
    tokens: int
    at: datetime
    text: str = ""
    is_whole: bool = True


@frozen
class StoredItem:
    """`content` is its beginning if it is longer than what was asked for."""

    category: str
    content: str
    importance: int
    tokens: int


@frozen
class Ancestor:
    session_id: int
    depth: int
    summary: str
    at: datetime


# -- Reading ---------------------------------------------------------------------------------------


def read_states(ids: Sequence[int]) -> dict[int, SavedWorkspace]:
    """The newest state of each session that has one."""
    among, values = sql.among("session_id", ids)
    found = sql.rows(
        f"""
        SELECT session_id, active_project, enabled_mcps, settings, branch, worktree FROM (
            SELECT s.*, row_number() OVER (PARTITION BY session_id ORDER BY created_at DESC, id DESC) AS place
            FROM agent_sessions_workspacestate s WHERE {among}
        ) newest WHERE place = 1""",
        values,
    )
    return {
        session_id: SavedWorkspace(project, sql.read_json(servers), sql.read_json(settings), branch, worktree)
        for session_id, project, servers, settings, branch, worktree in found
    }


def read_places(project_id: int, names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The branch and the worktree of the newest state of each session with one of these names."""
    if not names:
        return {}
    among, values = sql.among("s.name", names)
    found = sql.rows(
        f"""
        SELECT name, branch, worktree FROM (
            SELECT s.name, w.branch, w.worktree,
                row_number() OVER (PARTITION BY s.id ORDER BY w.created_at DESC, w.id DESC) AS place
            FROM agent_sessions_agentsession s JOIN agent_sessions_workspacestate w ON w.session_id = s.id
            WHERE s.project_id = %s AND s.name <> '' AND {among}
        ) newest WHERE place = 1""",
        [project_id, *values],
    )
    return {name: (branch, worktree) for name, branch, worktree in found}


def read_conversations(ids: Sequence[int], *, text_tokens: int = 0) -> dict[int, list[StoredConversation]]:
    """The newest 200 conversations of each session, newest first.

    With their texts, as long as those before it have fewer than `text_tokens`.
    """
    among, values = sql.among("session_id", ids)
    found = sql.rows(
        f"""
        SELECT n.session_id, n.id, n.token_count, n.created_at,
            CASE WHEN n.before < %s THEN (SELECT c.text FROM agent_sessions_conversation c WHERE c.id = n.id)
            ELSE '' END
        FROM ({_ranked(among)}) n WHERE n.place <= %s ORDER BY n.session_id, n.place""",
        [text_tokens, *values, MOST_CONVERSATIONS],
    )
    conversations: dict[int, list[StoredConversation]] = {}
    for session_id, row_id, tokens, at, text in found:
        conversations.setdefault(session_id, []).append(
            StoredConversation(row_id, tokens, sql.read_time(at), text)
        )
    return conversations


def read_last_conversations(session_id: int, max_tokens: int, characters: int) -> list[StoredConversation]:
    """The newest conversations up to `max_tokens`, and the one after; of each its last `characters`."""
    found = sql.rows(
        f"""
        SELECT c.id, c.token_count, c.created_at, {sql.ending("c.text", characters)}, length(c.text) <= %s
        FROM ({_ranked("session_id = %s")}) n JOIN agent_sessions_conversation c ON c.id = n.id
        WHERE n.before < %s AND n.place <= %s ORDER BY n.place""",
        [characters, session_id, max_tokens, MOST_CONVERSATIONS],
    )
    return [
        StoredConversation(row_id, tokens, sql.read_time(at), text, bool(is_whole))
        for row_id, tokens, at, text, is_whole in found
    ]


def _ranked(condition: str) -> str:
    """Conversations with their place, newest first, and the tokens of those before them."""
    newest = "PARTITION BY session_id ORDER BY created_at DESC, id DESC"
    return (
        "SELECT id, session_id, token_count, created_at, row_number() OVER w AS place,"
        " sum(token_count) OVER w - token_count AS before"
        f" FROM agent_sessions_conversation WHERE {condition} WINDOW w AS ({newest})"
    )


def count_conversations(session_id: int) -> int:
    [(count,)] = sql.rows(
        "SELECT count(*) FROM agent_sessions_conversation WHERE session_id = %s", [session_id]
    )
    return int(count)


def read_conversation(session_id: int, conversation_id: int) -> StoredConversation | None:
    found = sql.rows(
        "SELECT id, token_count, created_at, text FROM agent_sessions_conversation"
        " WHERE session_id = %s AND id = %s",
        [session_id, conversation_id],
    )
    return next((StoredConversation(i, n, sql.read_time(at), text) for i, n, at, text in found), None)


def read_items(ids: Sequence[int], characters: int) -> dict[int, list[StoredItem]]:
    """The items of each session in their order; of each content the first `characters`."""
    among, values = sql.among("session_id", ids)
    found = sql.rows(
        f"SELECT session_id, category, substr(content, 1, {characters:d}), importance, token_count"
        f" FROM agent_sessions_contextitem WHERE {among} ORDER BY session_id, position",
        values,
    )
    items: dict[int, list[StoredItem]] = {}
    for session_id, *fields in found:
        items.setdefault(session_id, []).append(StoredItem(*fields))
    return items


def read_files(session_id: int) -> dict[str, str]:
    """The last hash known in a session of its files, by path: those of the last save, and tracked ones."""
    found = sql.rows(
        "SELECT r.path, s.hash FROM agent_sessions_sessionresource s"
        " JOIN tracking_resource r ON r.id = s.resource_id"
        " WHERE s.session_id = %s AND (s.is_saved OR s.hash <> '') ORDER BY r.path",
        [session_id],
    )
    return dict(found)


def read_ancestors(project_id: int, session_id: int) -> list[Ancestor]:
    """A session at depth 0, its parent at 1, and so on, up to 1,000; stops where a circle closes."""
    found = sql.rows(
        """
        WITH RECURSIVE line(id, parent_id, summary, created_at, depth) AS (
            SELECT id, parent_id, summary, created_at, 0 FROM agent_sessions_agentsession
            WHERE id = %s AND project_id = %s
            UNION ALL
            SELECT p.id, p.parent_id, p.summary, p.created_at, l.depth + 1
            FROM line l JOIN agent_sessions_agentsession p ON p.id = l.parent_id
            WHERE p.project_id = %s AND l.depth < %s)
        SELECT id, depth, summary, created_at FROM line ORDER BY depth""",
        [session_id, project_id, project_id, MOST_DEPTH],
    )
    ancestors: dict[int, Ancestor] = {}
    for row_id, depth, summary, at in found:
        if row_id in ancestors:
            break
        ancestors[row_id] = Ancestor(row_id, depth, summary, sql.read_time(at))
    return list(ancestors.values())


def read_current(project_id: int, agents: Sequence[str], after: datetime) -> dict[str, int]:
    """The session that each agent last saved or restored after a time, by the agent's case-folded name."""
    found = sql.rows(
        f"""
        SELECT a.folded, (
            SELECT s.id FROM agent_sessions_agentsession s
            WHERE s.project_id = a.project_id AND s.agent_id = a.id AND s.current_at > %s
            ORDER BY s.current_at DESC, s.id DESC LIMIT 1)
        FROM core_agent a WHERE a.project_id = %s AND a.folded IN ({sql.marks(agents)})""",
        [sql.stored_time(after), project_id, *agents],
    )
    return {folded: session_id for folded, session_id in found if session_id}


def find_ids(project_id: int, names: Sequence[str]) -> dict[str, int]:
    """Ids by the names that clients gave to sessions."""
    among, values = sql.among("name", names)
    return dict(
        sql.rows(
            f"SELECT name, id FROM agent_sessions_agentsession WHERE project_id = %s AND {among}",
            [project_id, *values],
        )
    )


# -- Writing ---------------------------------------------------------------------------------------


def add_conversation(project_id: int, session_id: int, new: NewConversation, at: datetime) -> int:
    [(row_id,)] = sql.insert(
        "agent_sessions_conversation",
        ("project_id", "session_id", "text", "token_count", "hash", "created_at"),
        [(project_id, session_id, new.text, new.tokens, new.hash, sql.stored_time(at))],
        "RETURNING id",
    )
    return int(row_id)


def replace_items(project_id: int, session_id: int, items: Sequence[NewItem]) -> None:
    sql.execute("DELETE FROM agent_sessions_contextitem WHERE session_id = %s", [session_id])
    if items:
        sql.insert(
            "agent_sessions_contextitem",
            ("project_id", "session_id", "position", "category", "content", "importance", "token_count"),
            [
                (project_id, session_id, n, item.category, item.content, item.importance, item.tokens)
                for n, item in enumerate(items)
            ],
        )


def add_state(project_id: int, session_id: int, state: SavedWorkspace, at: datetime) -> None:
    sql.insert(
        "agent_sessions_workspacestate",
        (
            *("project_id", "session_id", "active_project", "enabled_mcps", "settings", "branch"),
            *("worktree", "created_at"),
        ),
        [
            (
                *(project_id, session_id, state.active_project, sql.stored_json(list(state.enabled_mcps))),
                *(sql.stored_json(dict(state.settings)), state.branch, state.worktree, sql.stored_time(at)),
            )
        ],
    )


def replace_files(
    project_id: int, session_id: int, files: Mapping[int, tuple[str, datetime | None]], at: datetime
) -> None:
    """Make these the saved files of a session: hash and time by the id of the file.

    Of those saved before, the ones that were accessed or prioritised stay as such.
    """
    sql.execute(
        "DELETE FROM agent_sessions_sessionresource"
        " WHERE session_id = %s AND is_saved AND access_count = 0 AND mode IS NULL",
        [session_id],
    )
    sql.execute(
        "UPDATE agent_sessions_sessionresource SET is_saved = %s WHERE session_id = %s AND is_saved",
        [False, session_id],
    )
    if files:
        _insert_files(project_id, session_id, files, at)


def remove_parts(session_id: int) -> None:
    """Remove the items and files that a session got by `copy_parts`."""
    for table in ("contextitem", "sessionresource"):
        sql.execute(f"DELETE FROM agent_sessions_{table} WHERE session_id = %s", [session_id])


def copy_parts(session_id: int, to_id: int, at: datetime) -> None:
    """Give another session the items and files of a session. What was prioritised or modified stays there."""
    items = "project_id, position, category, content, importance, token_count"
    sql.execute(
        f"INSERT INTO agent_sessions_contextitem (session_id, {items})"
        f" SELECT %s, {items} FROM agent_sessions_contextitem WHERE session_id = %s",
        [to_id, session_id],
    )
    files = "project_id, resource_id, access_count, last_accessed, best_access, is_saved, hash, modified_at"
    sql.execute(
        f"INSERT INTO agent_sessions_sessionresource"
        f" (session_id, relevance, included, modified, created_at, {files})"
        f" SELECT %s, 0, %s, %s, %s, {files} FROM agent_sessions_sessionresource"
        " WHERE session_id = %s AND (access_count > 0 OR is_saved)",
        [to_id, False, False, sql.stored_time(at), session_id],
    )


def _insert_files(
    project_id: int, session_id: int, files: Mapping[int, tuple[str, datetime | None]], at: datetime
) -> None:
    columns: dict[str, Any] = {"relevance": 0, "included": False, "access_count": 0, "modified": False}
    records = [
        (
            *(project_id, session_id, resource_id, True, hash_),
            *(modified_at and sql.stored_time(modified_at), sql.stored_time(at), *columns.values()),
        )
        for resource_id, (hash_, modified_at) in files.items()
    ]
    sql.insert(
        "agent_sessions_sessionresource AS s",
        (
            *("project_id", "session_id", "resource_id", "is_saved", "hash", "modified_at", "created_at"),
            *columns,
        ),
        records,
        "ON CONFLICT (session_id, resource_id) DO UPDATE SET is_saved = excluded.is_saved,"
        " hash = CASE WHEN excluded.hash = '' THEN s.hash ELSE excluded.hash END,"
        " modified_at = excluded.modified_at",
    )


def leave_snapshots(project_id: int, ids: Sequence[int]) -> None:
    """Clear the session of the snapshots that were saved in sessions which are deleted."""
    among, values = sql.among("session_id", ids)
    sql.execute(
        f"UPDATE memory_snapshot SET session_id = NULL WHERE project_id = %s AND {among}",
        [project_id, *values],
    )
