"""Contexts are created, changed and deleted here, and nowhere else."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal, Unpack

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.history import Change
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict
from ctxhub.core.kit.metadata import changed_metadata
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.kit.unset import UNSET, Unset, if_set
from ctxhub.core.vocabulary.selectors.names import Vocabulary, find_vocabulary
from ctxhub.core.vocabulary.services.names import register_agent, register_words
from memory.memories.history.contexts import HISTORY
from memory.memories.inputs.contexts import ContextArguments, ContextFields, clean_context
from memory.memories.rows.contexts import CONTEXTS, ContextRow
from memory.memories.selectors.contexts import find_context, get_context


class ContextAnswer(TypedDict):
    id: int
    name: str
    result: Literal["created", "updated", "unchanged"]


class ContextDeleted(TypedDict):
    id: int
    name: str
    memories: int
    result: Literal["deleted"]


# -- Services --------------------------------------------------------------------------------------


def create_context(
    *,
    caller: Caller,
    name: str,
    description: str | None = None,
    tags: Sequence[str] | None = None,
    stack: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> ContextAnswer:
    """A new container of memories. Raises Conflict where its name is taken, whatever its case."""
    fields = clean_context(
        caller, name=name, description=description, tags=tags, stack=stack, metadata=metadata
    )
    with write_transaction(caller.project_id):
        at = clock.now()
        _refuse_taken(caller, fields)
        words = _find_words(caller, fields)
        register_words(words, caller=caller, tags=if_set(fields.tags, ()), at=at)
        new = insert_context(caller, fields, words, at)
        HISTORY.record(
            project_id=caller.project_id,
            agent_id=words.agent_id,
            changes=[HISTORY.change(None, new)],
            at=at,
        )
    return ContextAnswer(id=new.id, name=new.name, result="created")


def update_context(
    *,
    caller: Caller,
    context: str | int,
    name: str | Unset = UNSET,
    **rest: Unpack[ContextArguments],
) -> ContextAnswer:
    """Change a context; what is left out stays as it is. Raises Conflict for a name that is taken."""
    fields = clean_context(caller, name=name, **rest)
    with write_transaction(caller.project_id):
        at = clock.now()
        old = get_context(caller.project_id, context)
        words = _find_words(caller, fields)
        change = HISTORY.change(old, _changed(old, fields, words, at))
        if not change.changed:
            return ContextAnswer(id=old.id, name=old.name, result="unchanged")
        if "name" in change.changed:
            _refuse_taken(caller, fields, but=old)
        _write(caller, old, change, words, at)
    return ContextAnswer(id=old.id, name=change.row.name, result="updated")


def delete_context(*, caller: Caller, context: str | int) -> ContextDeleted:
    """Remove a context with all its memories; that there was one, and how many, stays in the log."""
    with write_transaction(caller.project_id):
        at = clock.now()
        row = get_context(caller.project_id, context)
        agent_id = register_agent(caller, at)
        HISTORY.delete(project_id=caller.project_id, agent_id=agent_id, rows=[row], at=at)
    return ContextDeleted(id=row.id, name=row.name, memories=row.memory_count, result="deleted")


# -- Pieces ----------------------------------------------------------------------------------------


def insert_context(caller: Caller, fields: ContextFields, words: Vocabulary, at: datetime) -> ContextRow:
    """Write a new context, whose agent and tags are registered; the caller records it."""
    row = ContextRow(
        name=if_set(fields.name, ""),
        description=if_set(fields.description, ""),
        stack=if_set(fields.stack, ""),
        tags=[words.spelled("tag", tag) for tag in if_set(fields.tags, ())],
        metadata=changed_metadata({}, fields.metadata),
        agent=caller.agent,
        agent_id=words.agent_id,
        created_at=at,
        updated_at=at,
        changed_at=at,
    )
    [stored] = CONTEXTS.insert(caller.project_id, [row], words)
    return stored


def _changed(old: ContextRow, fields: ContextFields, words: Vocabulary, at: datetime) -> ContextRow:
    tags = old.tags if isinstance(fields.tags, Unset) else fields.tags
    return replace(
        old,
        name=if_set(fields.name, old.name),
        description=if_set(fields.description, old.description),
        stack=if_set(fields.stack, old.stack),
        tags=[words.spelled("tag", tag) for tag in tags],
        metadata=changed_metadata(old.metadata, fields.metadata),
        updated_at=at,
        changed_at=at,
    )


def _write(
    caller: Caller, old: ContextRow, change: Change[ContextRow], words: Vocabulary, at: datetime
) -> None:
    tags = change.row.tags if "tags" in change.changed else ()
    register_words(words, caller=caller, tags=tags, at=at)
    CONTEXTS.update(caller.project_id, old, change.row, words)
    HISTORY.record(project_id=caller.project_id, agent_id=words.agent_id, changes=[change], at=at)


def _refuse_taken(caller: Caller, fields: ContextFields, but: ContextRow | None = None) -> None:
    name = if_set(fields.name, "")
    stands = find_context(caller.project_id, name)
    if stands and not (but and stands.id == but.id):
        raise Conflict(
            f"There is a context {stands.name!r} already.",
            hint=f"{operation('memory context_update')} changes it; memories are added to it by its name.",
            current={"id": stands.id, "name": stands.name},
        )


def _find_words(caller: Caller, fields: ContextFields) -> Vocabulary:
    return find_vocabulary(caller.project_id, agent=caller.agent, tags=if_set(fields.tags, ()))
