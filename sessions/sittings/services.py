"""Saves and deletes sessions. All their writes go through here or restore."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, Unpack

from django.db.models import Sum

# Pydantic builds the answer's schema and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.accounts.speakers import speaker_of
from ctxhub.core.emptying import delete_objects
from ctxhub.core.kit import clock
from ctxhub.core.kit.batches import BYTES_PER_TOKEN
from ctxhub.core.kit.caller import ADMIN, Caller
from ctxhub.core.kit.errors import Conflict, CtxhubError, InvalidInput, NotAllowed, NotFound, shown
from ctxhub.core.kit.inputs import refuse_secret
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.kit.unset import UNSET, Unset, if_set
from ctxhub.core.registry import refuse_ref_as_name
from ctxhub.core.text.plurals import counted
from ctxhub.core.text.token_count import count_tokens
from ctxhub.core.vocabulary.names import register_agent
from ctxhub.toolbox.argument_types import About
from sessions.sittings.contents import (
    add_conversation,
    add_state,
    read_ancestors,
    read_states,
    replace_files,
    replace_items,
)
from sessions.sittings.history import HISTORY
from sessions.sittings.inputs import (
    MOST_TOKENS,
    NewConversation,
    NewFile,
    NewItem,
    SaveArguments,
    SaveFields,
    clean_place,
    clean_save,
)
from sessions.sittings.models import DEFAULT_WORKSPACE, Conversation
from sessions.sittings.queries import get_session, ids_of_sessions
from sessions.sittings.rows import SESSIONS, SHOWN, SavedWorkspace, SessionRow, item_texts
from sessions.windows.calls import (
    another_agents,
    clean_session_name,
    find_named,
    find_session,
    unknown_session,
)
from sessions.windows.opening import enter_session
from tracking.files.services import store_files
from tracking.leases.handing_over import release_all


class SaveAnswer(TypedDict):
    session: int
    conversation: NotRequired[int]
    result: Literal["created", "updated"]
    masked: NotRequired[int]
    released: NotRequired[Annotated[int, About("How many leases, with `ended`.")]]


class DeleteAnswer(TypedDict):
    deleted: str
    resources: int


def save_session(
    *,
    caller: Caller,
    session: str | int | None = None,
    ended: bool = False,
    **arguments: Unpack[SaveArguments],
) -> SaveAnswer:
    """Save what a session is about, in the session that the call names, or in a new one.

    Without a name the call's own session is saved if it never was; else a new one is made. Raises NotAllowed
    for another agent's session, NotFound for an unknown number or parent, Conflict if the parent continues
    this session, and InvalidInput if the session would hold nothing that can be restored. `ended` also
    releases what the session of the call and its parts hold.
    """
    caller = caller.in_session(session)
    fields, place = clean_save(caller, **arguments), _place(caller, arguments)
    speaker = speaker_of(caller) if ended else None
    with write_transaction(caller.project_id):
        at = clock.now()
        agent_id = register_agent(caller, at)
        old = _find_target(caller, agent_id)
        if not (fields.holds_something or _holds_something(old)):
            raise _nothing_to_save()
        fields = replace(fields, state={**place, **fields.state})
        new = _write_row(caller, agent_id, old, fields, at)
        new = _write_parts(new, fields, at, caller.project_id)
        HISTORY.record(
            project_id=caller.project_id, agent_id=agent_id, changes=[HISTORY.change(old, new)], at=at
        )
        enter_session(caller, new.id)
        released = release_all(caller, speaker, at) if speaker else None
    answer = _answer(old, new, fields)
    return answer if released is None else {**answer, "released": released}


def delete_session(*, caller: Caller, session: str | int) -> DeleteAnswer:
    """Delete a session with all that it holds. What continues it stays.

    Raises NotAllowed for another agent's session unless the caller is an administrator.
    """
    with write_transaction(caller.project_id):
        row = get_session(caller.project_id, session)
        _refuse_deleting_others(caller, row)
        delete_objects(caller, [row], history=HISTORY)
    return DeleteAnswer(deleted=f"session:{row.id}", resources=row.resources)


def find_deletable_sessions(caller: Caller, names: Sequence[str]) -> Mapping[str, SessionRow | CtxhubError]:
    """The session of each id or name, or why it is not deleted."""
    ids = ids_of_sessions(caller.project_id, names)
    rows = SESSIONS.read(caller.project_id, list(ids.values()), SHOWN)
    return {name: _deletable(caller, rows.get(ids.get(name, 0)), name) for name in names}


def _deletable(caller: Caller, row: SessionRow | None, name: str) -> SessionRow | CtxhubError:
    if row is None:
        return unknown_session(name)
    try:
        _refuse_deleting_others(caller, row)
    except NotAllowed as error:
        return error
    return row


def _refuse_deleting_others(caller: Caller, row: SessionRow) -> None:
    if row.agent.casefold() != caller.agent.casefold():
        caller.require(ADMIN, "Deleting another agent's session")


def files_along(rows: Sequence[SessionRow]) -> Mapping[int, str]:
    """What is deleted with sessions, in words."""
    return {row.id: f"with its list of {counted(row.resources, 'files')}" for row in rows if row.resources}


def sizes_of_sessions(rows: Sequence[SessionRow]) -> Mapping[int, int]:
    """About how many bytes the conversations of sessions have."""
    of_these = Conversation._base_manager.filter(session_id__in=[row.id for row in rows])
    sums = of_these.order_by().values_list("session_id").annotate(tokens=Sum("token_count"))
    return {row_id: tokens * BYTES_PER_TOKEN for row_id, tokens in sums}


def clean_new_name(caller: Caller) -> str:
    """The name by which the call names a session that does not exist yet; "": it names none."""
    name = clean_session_name(caller.session) if caller.session else ""
    refuse_secret(name, "session", caller)
    refuse_ref_as_name(name, "session", "session")
    return name


# -- Helpers ---------------------------------------------------------------------------------------


def _place(caller: Caller, arguments: Mapping[str, Any]) -> dict[str, str]:
    """The branch and the worktree that the connection tells, where the call says nothing of them.

    What could not be stored is ignored: the call did not ask for it.
    """
    told = {"branch": caller.branch, "worktree": caller.worktree}
    place: dict[str, str] = {}
    for name, value in told.items():
        if value and arguments.get(name, UNSET) is UNSET:
            with suppress(CtxhubError):
                place[name] = clean_place(name, value, caller.for_call(allow_secret=False))
    return {name: value for name, value in place.items() if value}


def _find_target(caller: Caller, agent_id: int) -> SessionRow | None:
    """The session to save into; None: a new one."""
    if (found := find_session(caller)) is None:
        return None
    if found.agent_id != agent_id:
        if caller.session:
            raise another_agents(found.id)
        return None
    [row] = SESSIONS.read(caller.project_id, [found.id]).values()
    return row if caller.session or row.saved_at is None else None


def _holds_something(row: SessionRow | None) -> bool:
    """Whether a session has something to restore. A restored one has what the other one holds."""
    return row is not None and any([row.saved_at, row.parent_id, row.summary, row.items, row.resources])


def _nothing_to_save() -> InvalidInput:
    return InvalidInput(
        "There is nothing to save: a session without contents restores nothing.",
        hint="Give a summary of where you are, the conversation, items, files, or the state: active_project, "
        "enabled_mcps, settings, branch, worktree.",
    )


def _write_row(
    caller: Caller, agent_id: int, old: SessionRow | None, fields: SaveFields, at: datetime
) -> SessionRow:
    """Write the row of the session, and return it as stored. `old` None: a new one."""
    start = old or _new_row(caller, agent_id, at)
    new = replace(
        start,
        workspace_id=if_set(fields.workspace_id, start.workspace_id),
        summary=if_set(fields.summary, start.summary),
        token_count=_token_count(start, fields),
        parent_id=_parent_id(caller.project_id, old, fields.parent),
        is_implicit=False,
        updated_at=at,
        saved_at=at,
        current_at=at,
    )
    if old is None:
        [new] = SESSIONS.insert(caller.project_id, [new])
    else:
        SESSIONS.update(caller.project_id, old, new)
    return new


def _new_row(caller: Caller, agent_id: int, at: datetime) -> SessionRow:
    return SessionRow(
        name=clean_new_name(caller),
        agent=caller.agent,
        agent_id=agent_id,
        workspace_id=DEFAULT_WORKSPACE,
        created_at=at,
        updated_at=at,
    )


def _token_count(row: SessionRow, fields: SaveFields) -> int:
    """The given count, or that of the newest conversation, the items and the summary."""
    if not isinstance(fields.token_count, Unset):
        return fields.token_count
    if fields.conversation is None and fields.items is UNSET and fields.summary is UNSET:
        return row.token_count
    conversation = fields.conversation.tokens if fields.conversation else row.conversation_tokens
    items = row.item_tokens if isinstance(fields.items, Unset) else sum(item.tokens for item in fields.items)
    tokens = conversation + items + count_tokens(if_set(fields.summary, row.summary))
    return min(tokens, MOST_TOKENS)


def _parent_id(project_id: int, old: SessionRow | None, parent: str | Unset) -> int | None:
    """The id of the session to continue. Raises NotFound, and Conflict for one that continues `old`."""
    if isinstance(parent, Unset):
        return old.parent_id if old else None
    if not parent:
        return None
    if (found := find_named(project_id, parent)) is None:
        raise NotFound(
            f"parent: there is no session {shown(parent)}.", hint=f"{operation('session list')} shows them."
        )
    parent_id = found.id
    if old and any(each.session_id == old.id for each in read_ancestors(project_id, parent_id)):
        raise Conflict(f"parent: session {parent_id} continues session {old.id}; that would be a circle.")
    return parent_id


def _write_parts(row: SessionRow, fields: SaveFields, at: datetime, project_id: int) -> SessionRow:
    """Write what belongs to the session; returns its row with the newest conversation, items and state."""
    if fields.conversation:
        row = _write_conversation(project_id, row, fields.conversation, at)
    if not isinstance(fields.items, Unset):
        row = _write_items(project_id, row, fields.items)
    if not isinstance(fields.files, Unset):
        _write_files(project_id, row.id, fields.files, at)
    if fields.state:
        state = _write_state(project_id, row.id, fields, at)
        row = replace(row, active_project=state.active_project, branch=state.branch)
    return row


def _write_conversation(project_id: int, row: SessionRow, new: NewConversation, at: datetime) -> SessionRow:
    """Add a conversation, unless it equals the newest one."""
    if new.hash == row.conversation_hash:
        return row
    row_id = add_conversation(project_id, row.id, new, at)
    return replace(row, conversation=new.text, conversation_id=row_id)


def _write_items(project_id: int, row: SessionRow, items: Sequence[NewItem]) -> SessionRow:
    replace_items(project_id, row.id, items)
    stored = ((item.importance, n, item.category, item.content) for n, item in enumerate(items))
    return replace(row, items=item_texts(stored))


def _write_files(project_id: int, session_id: int, files: Mapping[str, NewFile], at: datetime) -> None:
    stored = store_files(project_id, {path: file.facts for path, file in files.items()}, at) if files else {}
    saved = {stored[path].id: (file.hash, file.modified_at) for path, file in files.items()}
    replace_files(project_id, session_id, saved, at)


def _write_state(project_id: int, session_id: int, fields: SaveFields, at: datetime) -> SavedWorkspace:
    """Add a state if it differs from the newest one; nothing, said of a session without one, is none."""
    old = read_states([session_id]).get(session_id, SavedWorkspace())
    new = replace(old, **fields.state)
    if new.as_dict() != old.as_dict():
        add_state(project_id, session_id, new, at)
    return new


def _answer(old: SessionRow | None, new: SessionRow, fields: SaveFields) -> SaveAnswer:
    conversation = {"conversation": new.conversation_id} if fields.conversation else {}
    masked = {"masked": fields.masked} if fields.masked else {}
    result = "created" if old is None or old.is_implicit else "updated"
    return {"session": new.id, **conversation, "result": result, **masked}  # type: ignore[typeddict-item]
