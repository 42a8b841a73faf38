"""Creates, changes and deletes contexts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Literal, Unpack

from django.db.models import F

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.emptying import Contents, delete_containers, emptied_before, sizes_of
from ctxhub.core.history import Change
from ctxhub.core.kit import clock
from ctxhub.core.kit.batches import BYTES_PER_TOKEN, in_batches
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict, NotFound
from ctxhub.core.kit.metadata import changed_metadata, replacing_metadata
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.kit.unset import UNSET, Unset, if_set
from ctxhub.core.registry import refuse_ref_as_name
from ctxhub.core.text.plurals import counted
from ctxhub.core.vocabulary.names import Vocabulary, find_vocabulary, register_words
from memory.contexts.history import HISTORY
from memory.contexts.inputs import DEFAULTS, ContextArguments, ContextFields, clean_context
from memory.contexts.queries import find_context, find_named_contexts, get_context
from memory.contexts.rows import CONTEXTS, ContextRow, touch_contexts
from memory.memories.models import Memory

MEMORIES_OF_CONTEXT = Contents(
    kind="memory",
    plural="memories",
    model=Memory,
    container="context_id",
    size=F("tokens") * BYTES_PER_TOKEN,
    touch=lambda context_id, lost, at: touch_contexts({context_id: -lost}, at),
)


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


def create_context(*, caller: Caller, name: str, **rest: Unpack[ContextArguments]) -> ContextAnswer:
    """Create a context. Raises Conflict if the name, compared without case, is taken."""
    fields = clean_context(caller, name=name, **rest)
    with write_transaction(caller.project_id):
        at = clock.now()
        _refuse_taken(caller, fields)
        vocabulary = _find_vocabulary(caller, fields)
        register_words(vocabulary, caller=caller, tags=if_set(fields.tags, ()), at=at)
        new = insert_context(caller, fields, vocabulary, at)
        HISTORY.record(
            project_id=caller.project_id,
            agent_id=vocabulary.agent_id,
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
    """Change the given fields of a context. Raises Conflict if the new name is taken."""
    return _update(caller, context, clean_context(caller, name=name, **rest))


def replace_context(
    *, caller: Caller, context: str | int, name: str | Unset = UNSET, **rest: Unpack[ContextArguments]
) -> ContextAnswer:
    """Make a context what is given and nothing else; its name stays, and its memories, if none is given.

    Raises Conflict if the new name is taken.
    """
    arguments: ContextArguments = {**DEFAULTS, **rest}
    return _update(caller, context, clean_context(caller, name=name, **arguments), replaces=True)


def delete_context(*, caller: Caller, context: str | int) -> ContextDeleted:
    """Delete a context with all its memories; the log keeps an event with their number.

    Many memories are deleted in batches, the context last: a call that was cut off can be repeated.
    """
    return in_batches(partial(_delete, caller, context))


# -- Pieces ----------------------------------------------------------------------------------------


def _update(
    caller: Caller, context: str | int, fields: ContextFields, *, replaces: bool = False
) -> ContextAnswer:
    with write_transaction(caller.project_id):
        at = clock.now()
        old = get_context(caller.project_id, context)
        if replaces:
            fields = replace(fields, metadata=replacing_metadata(old.metadata, fields.metadata))
        vocabulary = _find_vocabulary(caller, fields)
        change = HISTORY.change(old, _changed(old, fields, vocabulary, at))
        if not change.changed:
            return ContextAnswer(id=old.id, name=old.name, result="unchanged")
        if "name" in change.changed:
            refuse_ref_as_name(if_set(fields.name, ""), "context")
            _refuse_taken(caller, fields, except_for=old)
        _write(caller, old, change, vocabulary, at)
    return ContextAnswer(id=old.id, name=change.row.name, result="updated")


def _delete(caller: Caller, context: str | int) -> ContextDeleted:
    with write_transaction(caller.project_id):
        row = get_context(caller.project_id, context)
        delete_contexts(caller, [row])
    return ContextDeleted(id=row.id, name=row.name, memories=count_memories(row), result="deleted")


def find_deletable_contexts(caller: Caller, names: Sequence[str]) -> Mapping[str, ContextRow | NotFound]:
    """The context of each name or id, or the error for an unknown one."""
    return find_named_contexts(caller.project_id, names)


def delete_contexts(caller: Caller, rows: Sequence[ContextRow]) -> None:
    """Delete contexts that were read in the open transaction, which `in_batches` surrounds."""
    delete_containers(caller, rows, history=HISTORY, contents=MEMORIES_OF_CONTEXT)


def memories_along(rows: Sequence[ContextRow]) -> Mapping[int, str]:
    """What is deleted with contexts, in words."""
    return {row.id: f"with {counted(count, 'memories')}" for row in rows if (count := count_memories(row))}


def sizes_of_contexts(rows: Sequence[ContextRow]) -> Mapping[int, int]:
    """About how many bytes the memories of contexts have."""
    return sizes_of(MEMORIES_OF_CONTEXT, [row.id for row in rows])


def count_memories(row: ContextRow) -> int:
    """How many memories a context has, those included that this call has deleted in batches."""
    return row.memory_count + emptied_before(HISTORY, row, MEMORIES_OF_CONTEXT)


def insert_context(caller: Caller, fields: ContextFields, vocabulary: Vocabulary, at: datetime) -> ContextRow:
    """Insert a context whose agent and tags are registered. The calling function records the event."""
    refuse_ref_as_name(if_set(fields.name, ""), "context")
    row = ContextRow(
        name=if_set(fields.name, ""),
        description=if_set(fields.description, ""),
        stack=if_set(fields.stack, ""),
        tags=[vocabulary.spelled("tag", tag) for tag in if_set(fields.tags, ())],
        metadata=changed_metadata({}, fields.metadata),
        agent=caller.agent,
        agent_id=vocabulary.agent_id,
        created_at=at,
        updated_at=at,
        changed_at=at,
    )
    [stored] = CONTEXTS.insert(caller.project_id, [row], vocabulary)
    return stored


def _changed(old: ContextRow, fields: ContextFields, vocabulary: Vocabulary, at: datetime) -> ContextRow:
    tags = old.tags if isinstance(fields.tags, Unset) else fields.tags
    return replace(
        old,
        name=if_set(fields.name, old.name),
        description=if_set(fields.description, old.description),
        stack=if_set(fields.stack, old.stack),
        tags=[vocabulary.spelled("tag", tag) for tag in tags],
        metadata=changed_metadata(old.metadata, fields.metadata),
        updated_at=at,
        changed_at=at,
    )


def _write(
    caller: Caller, old: ContextRow, change: Change[ContextRow], vocabulary: Vocabulary, at: datetime
) -> None:
    tags = change.row.tags if "tags" in change.changed else ()
    register_words(vocabulary, caller=caller, tags=tags, at=at)
    CONTEXTS.update(caller.project_id, old, change.row, vocabulary)
    HISTORY.record(project_id=caller.project_id, agent_id=vocabulary.agent_id, changes=[change], at=at)


def _refuse_taken(caller: Caller, fields: ContextFields, except_for: ContextRow | None = None) -> None:
    name = if_set(fields.name, "")
    existing = find_context(caller.project_id, name)
    if existing and not (except_for and existing.id == except_for.id):
        raise Conflict(
            f"There is a context {existing.name!r} already.",
            hint=f"{operation('memory context_update')} changes it; memories are added to it by its name.",
            current={"id": existing.id, "name": existing.name},
        )


def _find_vocabulary(caller: Caller, fields: ContextFields) -> Vocabulary:
    return find_vocabulary(caller.project_id, agent=caller.agent, tags=if_set(fields.tags, ()))
