"""Restores a session: opens one that continues it, and answers what it holds within a token budget."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple, NotRequired, cast

# Pydantic builds the answer's schema and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.given import GivenItem, give
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.caller import READ, Caller
from ctxhub.core.kit.errors import InvalidInput, NotFound, shown
from ctxhub.core.kit.listing import Rows
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.text.parts import CHARACTERS_PER_TOKEN
from ctxhub.core.text.token_count import count_tokens
from ctxhub.core.use import tally
from ctxhub.core.vocabulary.names import register_agent
from sessions.sittings.contents import (
    add_state,
    copy_parts,
    count_conversations,
    read_files,
    read_items,
    read_last_conversations,
    read_states,
    remove_parts,
)
from sessions.sittings.history import HISTORY, RESTORED
from sessions.sittings.inputs import clean_budget, clean_present_files, clean_workspace
from sessions.sittings.queries import WorkspaceState, get_session
from sessions.sittings.restored import Contents, file_rows, pack, whole_tokens
from sessions.sittings.rows import SESSIONS, SHOWN, SavedWorkspace, SessionRow
from sessions.sittings.services import clean_new_name
from sessions.windows.calls import FoundSession, find_session
from sessions.windows.opening import enter_session


def find_last_saved(project_id: int, agent: str, workspace_id: str) -> int | None:
    """The session that an agent saved last in a workspace."""
    found = sql.rows(
        """
        SELECT s.id FROM agent_sessions_agentsession s
        WHERE s.project_id = %s AND s.workspace_id = %s AND s.saved_at IS NOT NULL
        AND s.agent_id = (SELECT id FROM core_agent WHERE project_id = %s AND folded = %s)
        ORDER BY s.saved_at DESC, s.id DESC LIMIT 1""",
        [project_id, workspace_id, project_id, agent.casefold()],
    )
    return found[0][0] if found else None


def is_unused_child(project_id: int, session_id: int, parent_id: int, agent_id: int) -> bool:
    """Whether a restore of the parent opened the session, and nothing was written in it since."""
    found = sql.rows(
        """
        SELECT 1 FROM agent_sessions_agentsession s
        WHERE s.id = %s AND s.parent_id = %s AND s.agent_id = %s AND s.saved_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM agent_sessions_access a WHERE a.session_id = s.id)
        AND NOT EXISTS (
            SELECT 1 FROM agent_sessions_sessionresource r WHERE r.session_id = s.id AND r.mode IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM memory_snapshot n WHERE n.project_id = %s AND n.session_id = s.id)""",
        [session_id, parent_id, agent_id, project_id],
    )
    return bool(found)


class SavedSession(NamedTuple):
    """A saved session, of whom and where."""

    id: int
    agent: str
    workspace_id: str


def find_newest_saved(project_id: int, agent: str) -> SavedSession | None:
    """The session saved last in any workspace: the agent's own, else anybody's."""
    found = sql.rows(
        """
        SELECT s.id, a.name, s.workspace_id FROM agent_sessions_agentsession s
        JOIN core_agent a ON a.id = s.agent_id
        WHERE s.project_id = %s AND s.saved_at IS NOT NULL
        ORDER BY CASE WHEN a.folded = %s THEN 0 ELSE 1 END, s.saved_at DESC, s.id DESC LIMIT 1""",
        [project_id, agent.casefold()],
    )
    return SavedSession(*found[0]) if found else None


DEFAULT_BUDGET = 4_000
OF_PARENT = (*SHOWN, "item_tokens")


class RestoreAnswer(TypedDict):
    note: str
    session: int
    parent: int
    summary: NotRequired[str]
    state: NotRequired[WorkspaceState]
    items: NotRequired[Rows]
    conversations: NotRequired[Rows]
    files: NotRequired[Rows]
    included: dict[str, int]
    omitted: dict[str, int]
    tokens: int


def restore_session(
    *,
    caller: Caller,
    session: str | int | None = None,
    workspace_id: str | None = None,
    budget_tokens: int = DEFAULT_BUDGET,
    files: Sequence[Any] | None = None,
) -> RestoreAnswer:
    """Open a session that continues another one, and answer what that one holds.

    Restored again before anything is written in the new one, that one is begun anew.

    The other one is `session`, of any agent; else the session that the call names, if there is one; else the
    one that the caller's agent saved last in the workspace. Raises NotFound if there is none.
    """
    caller.require(READ, "Restoring a session")  # The answer contains what others wrote.
    budget = clean_budget(budget_tokens)
    present = clean_present_files(files, caller)
    if session not in (None, "") and workspace_id:
        raise InvalidInput("session and workspace_id exclude one another: name what to restore once.")
    workspace = clean_workspace(workspace_id, caller)
    with write_transaction(caller.project_id):
        at = clock.now()
        agent_id = register_agent(caller, at)
        parent = _find_parent(caller, session, workspace_id, workspace)
        child, state = _open_child(caller, agent_id, parent, at)
    contents = _read_contents(parent, state, present, budget)
    answer = pack(contents, session=child.id, parent=parent.id, budget=budget)
    give(caller.in_session(child.id), "restore", [GivenItem("session", str(parent.id))], answer)
    tally.behind(whole_tokens(contents, answer))
    return cast(RestoreAnswer, answer)


def _find_parent(
    caller: Caller, session: str | int | None, workspace_id: str | None, workspace: str
) -> SessionRow:
    """The session to restore. `workspace_id`: as it was given; `workspace`: cleaned. Raises NotFound."""
    if session not in (None, ""):
        return get_session(caller.project_id, session, OF_PARENT)
    if caller.session and not workspace_id and (found := find_session(caller)):
        return get_session(caller.project_id, found.id, OF_PARENT)
    session_id = find_last_saved(caller.project_id, caller.agent, workspace)
    if session_id is None:
        raise _nothing_saved(caller, workspace)
    return get_session(caller.project_id, session_id, OF_PARENT)


def _nothing_saved(caller: Caller, workspace: str) -> NotFound:
    """The error of an agent that saved nothing in the workspace. It names the newest session elsewhere."""
    message = f"{caller.agent} saved no session in the workspace {shown(workspace)}."
    if newest := find_newest_saved(caller.project_id, caller.agent):
        whose = "Your newest" if newest.agent.casefold() == caller.agent.casefold() else f"{newest.agent}'s"
        return NotFound(
            message,
            hint=f"{whose} is session {newest.id}, in the workspace {shown(newest.workspace_id)}: name it as "
            "session to restore it.",
            session=newest.id,
        )
    return NotFound(message, hint=f"Nobody saved any yet: {operation('session save')} does.")


def _open_child(
    caller: Caller, agent_id: int, parent: SessionRow, at: datetime
) -> tuple[SessionRow, SavedWorkspace]:
    """The session that continues `parent`, with its state, summary, items and files."""
    own = find_session(caller)
    row = _child_row(caller, agent_id, parent, at, name=_free_name(caller, own))
    state = read_states([parent.id]).get(parent.id)
    old = _find_unused(caller, agent_id, parent, own)
    child = _begin_anew(caller, old, row) if old else SESSIONS.insert(caller.project_id, [row])[0]
    if state:
        add_state(caller.project_id, child.id, state, at)
    copy_parts(parent.id, child.id, at)
    change = HISTORY.change(old, child, detail=RESTORED)
    HISTORY.record(project_id=caller.project_id, agent_id=agent_id, changes=[change], at=at)
    enter_session(caller, child.id)
    return child, state or SavedWorkspace()


def _find_unused(
    caller: Caller, agent_id: int, parent: SessionRow, own: FoundSession | None
) -> SessionRow | None:
    """What an earlier restore of `parent` opened for this window, if nothing was written in it.

    `own`: the session of the call. A header that names the parent itself leaves the agent's current one.
    """
    if own and own.id == parent.id and caller.session and not caller.window:
        own = find_session(replace(caller, session=""))
    if own is None or not is_unused_child(caller.project_id, own.id, parent.id, agent_id):
        return None
    [row] = SESSIONS.read(caller.project_id, [own.id]).values()
    return row


def _begin_anew(caller: Caller, old: SessionRow, row: SessionRow) -> SessionRow:
    """Make an unused session what `row` is, without items and files."""
    new = replace(
        old,
        workspace_id=row.workspace_id,
        summary=row.summary,
        token_count=row.token_count,
        updated_at=row.updated_at,
        current_at=row.current_at,
    )
    SESSIONS.update(caller.project_id, old, new)
    remove_parts(old.id)
    return new


def _child_row(caller: Caller, agent_id: int, parent: SessionRow, at: datetime, *, name: str) -> SessionRow:
    return SessionRow(
        name=name,
        agent=caller.agent,
        agent_id=agent_id,
        workspace_id=parent.workspace_id,
        summary=parent.summary,
        token_count=count_tokens(parent.summary) + parent.item_tokens,
        parent_id=parent.id,
        created_at=at,
        updated_at=at,
        current_at=at,
    )


def _free_name(caller: Caller, own: FoundSession | None) -> str:
    """The name by which the call names its session, if no session has it yet."""
    return "" if own or not caller.session else clean_new_name(caller)


def _read_contents(
    parent: SessionRow, state: SavedWorkspace, present: Mapping[str, str | None], budget: int
) -> Contents:
    """What the parent holds, of each text as much as the budget could hold."""
    characters = CHARACTERS_PER_TOKEN * budget
    items = read_items([parent.id], characters + 1).get(parent.id, [])
    return Contents(
        summary=parent.summary,
        state=state.as_dict(),
        items=sorted(items, key=lambda item: -item.importance),
        conversations=read_last_conversations(parent.id, budget, characters),
        conversation_count=count_conversations(parent.id),
        files=file_rows(read_files(parent.id), present),
    )
