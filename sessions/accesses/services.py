"""Tracks what agents do with files: accesses, and dependencies between files."""

from datetime import datetime
from typing import Annotated, NotRequired, Unpack

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.vocabulary.names import find_vocabulary, register_words
from ctxhub.toolbox.argument_types import About, one_of
from sessions.accesses.dependencies import add_strength
from sessions.accesses.files import count_access, insert_access
from sessions.accesses.inputs import clean_access, clean_dependency, clean_tracked_path
from sessions.windows.calls import find_session
from sessions.windows.opening import open_session, touch_session
from tracking.files.importance import importance_of
from tracking.files.inputs import Access, FactArguments, FileFacts, clean_facts
from tracking.files.queries import facts_of
from tracking.files.services import store_access, store_files


class TrackAnswer(TypedDict):
    path: str
    tokens: Annotated[int | None, About("Null while nobody said them or the content.")]
    importance: Annotated[int, About("0 to 100.")]
    session: int
    masked: NotRequired[Annotated[int, About("How many credentials were replaced in the content.")]]


class DependAnswer(TypedDict):
    source: str
    target: str
    type: str
    strength: int
    result: Annotated[str, one_of("created", "updated")]


def track_access(
    *,
    caller: Caller,
    path: str,
    access: str | int,
    session: str | None = None,
    **given: Unpack[FactArguments],
) -> TrackAnswer:
    """Record that the caller's agent accessed a file in its session, and what the file is like.

    A content of up to 1 MiB is kept, its credentials masked; of a longer one only hash, size and tokens.
    Raises NotAllowed for another agent's session.
    """
    caller = caller.in_session(session)
    file, kind = clean_tracked_path(path, "path", caller), clean_access(access)
    facts = clean_facts(**given)
    with write_transaction(caller.project_id):
        answer = _store(caller, file, facts, Access(kind, clock.now()))
    return {**answer, "masked": facts.masked} if facts.masked else answer


def add_dependency(*, caller: Caller, source: str, target: str, type: str, strength: int = 1) -> DependAnswer:
    """Record that a file depends on another one; said again, the strengths add up.

    Unknown files are made. Raises NotAllowed if the call names another agent's session.
    """
    new = clean_dependency(caller=caller, source=source, target=target, type=type, strength=strength)
    with write_transaction(caller.project_id):
        at = clock.now()
        agent_id = _agent_id(caller, at)
        if caller.session and find_session(caller):
            open_session(caller, agent_id, at)
        files = store_files(caller.project_id, {new.source: FileFacts(), new.target: FileFacts()}, at)
        stored = add_strength(
            caller.project_id, files[new.source].id, files[new.target].id, new.type, new.strength, at
        )
    return DependAnswer(
        source=new.source,
        target=new.target,
        type=new.type,
        strength=stored,
        result="created" if stored == new.strength else "updated",
    )


def _store(caller: Caller, path: str, facts: FileFacts, access: Access) -> TrackAnswer:
    project_id = caller.project_id
    session_id, agent_id = _open_session(caller, access.at)
    file = store_access(project_id, path, facts, access)
    counted = count_access(project_id, session_id, file.id, access, facts.known_hash)
    insert_access(project_id, session_id=session_id, resource_id=file.id, agent_id=agent_id, access=access)
    known = facts_of(file, counted.incoming_strength, is_modified=counted.modified)
    return TrackAnswer(
        path=path,
        tokens=file.tokens,
        importance=importance_of(known, access.at).total,
        session=session_id,
    )


def _open_session(caller: Caller, at: datetime) -> tuple[int, int]:
    """The ids of the call's session and of the caller's agent."""
    is_unnamed = not caller.session and caller.window is None
    found = find_session(caller) if is_unnamed else None
    if found and found.agent_id:  # An unnamed session is the agent's own.
        touch_session(found, at)
        return found.id, found.agent_id
    agent_id = _agent_id(caller, at)
    return open_session(caller, agent_id, at), agent_id


def _agent_id(caller: Caller, at: datetime) -> int:
    vocabulary = find_vocabulary(caller.project_id, agent=caller.agent)
    register_words(vocabulary, caller=caller, at=at)
    assert vocabulary.agent_id
    return vocabulary.agent_id
