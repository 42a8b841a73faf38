"""Adds, changes and deletes memories."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal, NotRequired, Unpack

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.emptying import delete_objects
from ctxhub.core.history import Change, record_changes
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import READ, Caller
from ctxhub.core.kit.errors import Conflict, NotFound
from ctxhub.core.kit.metadata import changed_metadata, replacing_metadata
from ctxhub.core.kit.prepared import write_prepared
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.kit.unset import UNSET, Unset, if_set
from ctxhub.core.text.token_count import count_tokens
from ctxhub.core.vocabulary.names import Vocabulary, find_vocabulary, register_words
from ctxhub.toolbox.argument_types import About
from memory.contexts.history import HISTORY as CONTEXT_HISTORY
from memory.contexts.inputs import ContextFields, is_number
from memory.contexts.queries import find_context, get_context
from memory.contexts.rows import ContextRow
from memory.contexts.services import insert_context
from memory.memories.history import HISTORY
from memory.memories.inputs import DEFAULTS, MemoryArguments, MemoryDetails, MemoryFields, clean_memory
from memory.memories.models import MemoryType
from memory.memories.queries import Score, get_memory, unknown_memory
from memory.memories.revisions import get_state
from memory.memories.rows import LISTED, MEMORIES, MemoryRow, digest_of
from memory.memories.similar import find_similar

if TYPE_CHECKING:
    from memory.memories.revisions import MemoryState

# Similarity and number of the memories that the answer to `add_memory` names.
SIMILAR_FROM = 0.5
SIMILAR_NAMED = 3


class SimilarMemory(TypedDict):
    id: int
    title: str
    score: Score


class AddAnswer(TypedDict):
    id: int
    digest: str
    tokens: int
    context_created: NotRequired[Annotated[bool, About("Its context is new.")]]
    similar: NotRequired[Annotated[list[SimilarMemory], About("What says nearly the same.")]]


class UpdateAnswer(TypedDict):
    id: int
    result: Literal["updated", "unchanged"]
    digest: NotRequired[str]
    tokens: int
    revision: int


class ReplaceAnswer(UpdateAnswer):
    context_created: NotRequired[Annotated[bool, About("Its context is new.")]]


class DeleteAnswer(TypedDict):
    id: int
    result: Literal["deleted"]


# -- Services --------------------------------------------------------------------------------------


def add_memory(
    *,
    caller: Caller,
    title: str,
    content: str,
    context: str | int = "general",
    type: str | int | None = "note",
    **details: Unpack[MemoryDetails],
) -> AddAnswer:
    """Store a memory in a context, given by name or id; a new name creates the context.

    Duplicates are stored, too; `similar` names memories with nearly the same text. Raises NotFound for an
    unknown context id.
    """
    type = MemoryType.NOTE if type in (None, "") else type
    fields = clean_memory(caller, title=title, content=content, context=context, type=type, **details)
    return store_memory(caller, fields, _similar(caller, fields))


def store_memory(
    caller: Caller,
    fields: MemoryFields,
    similar: Sequence[SimilarMemory] = (),
    *,
    new_context: ContextFields | None = None,
    check: Callable[[], None] | None = None,
) -> AddAnswer:
    """Write complete fields from `clean_memory`. `check` runs first in the transaction and may raise.

    `new_context`: what is made if there is no context of its name; left out: one with the name alone.
    """
    new_context = new_context or ContextFields(name=fields.context)
    tags = [*if_set(fields.tags, ()), *if_set(new_context.tags, ())]

    def prepare() -> tuple[Vocabulary, ContextRow | None]:
        vocabulary = find_vocabulary(caller.project_id, agent=caller.agent, tags=tags)
        found = _find_context(caller, fields)
        if found:
            new = _new_row(caller, fields, found, vocabulary, clock.now())
            HISTORY.prepare([HISTORY.change(None, new)])
        return vocabulary, found

    def write(prepared: tuple[Vocabulary, ContextRow | None]) -> tuple[MemoryRow, ContextRow | None]:
        if check:
            check()
        at = clock.now()
        vocabulary, found = prepared
        register_words(vocabulary, caller=caller, tags=if_set(fields.tags, ()) if found else tags, at=at)
        made = None if found else insert_context(caller, new_context, vocabulary, at)
        row = _new_row(caller, fields, found or made, vocabulary, at)
        [new] = MEMORIES.insert(caller.project_id, [row], vocabulary)
        context_changes = [CONTEXT_HISTORY.change(None, made)] if made else []
        record_changes(
            project_id=caller.project_id,
            agent_id=vocabulary.agent_id,
            changes=[*context_changes, HISTORY.change(None, new)],
            at=at,
        )
        return new, made

    new, made = write_prepared(caller.project_id, prepare, write)
    answer = AddAnswer(id=new.id, digest=new.digest, tokens=new.tokens)
    if made:
        answer["context_created"] = True
    if similar:
        answer["similar"] = list(similar)
    return answer


def replace_memory(
    *,
    caller: Caller,
    memory_id: int,
    title: str,
    content: str,
    context: str | int = "general",
    type: str | int = "note",
    **details: Unpack[MemoryDetails],
) -> UpdateAnswer:
    """Make a memory what is given and nothing else: absent arguments get their defaults.

    A new name of a context makes one. Raises NotFound for an unknown memory or context id.
    """
    given: MemoryDetails = {**DEFAULTS, **details}
    fields = clean_memory(caller, title=title, content=content, context=context, type=type, **given)
    with write_transaction(caller.project_id):
        at = clock.now()
        old = get_memory(caller.project_id, memory_id)
        vocabulary = find_vocabulary(caller.project_id, agent=caller.agent, tags=if_set(fields.tags, ()))
        made = _find_context(caller, fields) is None
        if made:
            _make_context(caller, fields, vocabulary, at)
        fields = replace(fields, metadata=replacing_metadata(old.metadata, fields.metadata))
        change = HISTORY.change(old, _changed(caller, old, fields, vocabulary, at))
        if change.changed:
            _write(caller, old, change, vocabulary, at)
    answer = _answer(caller, change)
    return ReplaceAnswer(**answer, context_created=True) if made else answer


def update_memory(
    *,
    caller: Caller,
    memory_id: int,
    title: str | Unset = UNSET,
    content: str | Unset = UNSET,
    **rest: Unpack[MemoryArguments],
) -> UpdateAnswer:
    """Change the given fields of a memory; another context moves it there.

    Raises NotFound for an unknown memory or context.
    """
    fields = clean_memory(caller, title=title, content=content, **rest)
    with write_transaction(caller.project_id):
        at = clock.now()
        old = get_memory(caller.project_id, memory_id)
        vocabulary = find_vocabulary(caller.project_id, agent=caller.agent, tags=if_set(fields.tags, ()))
        change = HISTORY.change(old, _changed(caller, old, fields, vocabulary, at))
        if change.changed:
            _write(caller, old, change, vocabulary, at)
    return _answer(caller, change)


def restore_memory(
    *, caller: Caller, memory_id: int, revision: int, expected_revision: int | None = None
) -> UpdateAnswer:
    """Restore the title and content of a revision. This adds a revision, so it can be undone in the same way.

    Raises NotFound for an unknown memory, or a revision that is not kept, and Conflict if the memory is not
    at the expected revision.
    """
    with write_transaction(caller.project_id):
        at = clock.now()
        old = get_memory(caller.project_id, memory_id)
        _refuse_changed(old, expected_revision)
        state = get_state(caller.project_id, old, revision)
        change = HISTORY.change(old, _restored(old, state, at), detail=revision)
        if change.changed:
            vocabulary = find_vocabulary(caller.project_id, agent=caller.agent)
            _write(caller, old, change, vocabulary, at)
    return _answer(caller, change)


def delete_memory(*, caller: Caller, memory_id: int) -> DeleteAnswer:
    """Delete a memory and its relationships; the log keeps an event."""
    with write_transaction(caller.project_id):
        row = get_memory(caller.project_id, memory_id)
        delete_objects(caller, [row], history=HISTORY)
    return DeleteAnswer(id=row.id, result="deleted")


def find_deletable_memories(caller: Caller, ids: Sequence[str]) -> Mapping[str, MemoryRow | NotFound]:
    """The memory of each id, or the error for an unknown one."""
    return MEMORIES.read_named(caller.project_id, ids, unknown_memory, LISTED)


# -- Pieces ----------------------------------------------------------------------------------------


def _similar(caller: Caller, fields: MemoryFields) -> list[SimilarMemory]:
    """Memories like the new one; none for a token without the read scope."""
    if not caller.may(READ):
        return []
    text = f"{fields.title}\n{fields.content}"
    found = find_similar(caller.project_id, text, threshold=SIMILAR_FROM, limit=SIMILAR_NAMED)
    return [SimilarMemory(id=one.id, title=one.title, score=round(one.score, 2)) for one in found]


def _find_context(caller: Caller, fields: MemoryFields) -> ContextRow | None:
    """The context, or None for a new name. Raises NotFound for an unknown id."""
    name = if_set(fields.context, "")
    return get_context(caller.project_id, name) if is_number(name) else find_context(caller.project_id, name)


def _make_context(caller: Caller, fields: MemoryFields, vocabulary: Vocabulary, at: datetime) -> None:
    """A context of a new name, for a memory that moves there."""
    register_words(vocabulary, caller=caller, tags=(), at=at)
    change = CONTEXT_HISTORY.change(
        None, insert_context(caller, ContextFields(name=fields.context), vocabulary, at)
    )
    CONTEXT_HISTORY.record(
        project_id=caller.project_id, agent_id=vocabulary.agent_id, changes=[change], at=at
    )


def _new_row(
    caller: Caller, fields: MemoryFields, context: ContextRow | None, vocabulary: Vocabulary, at: datetime
) -> MemoryRow:
    assert context
    title, content = if_set(fields.title, ""), if_set(fields.content, "")
    return MemoryRow(
        title=title,
        content=content,
        context=context.name,
        context_id=context.id,
        digest=digest_of(title, content),
        tokens=count_tokens(title) + fields.content_tokens,
        type=if_set(fields.type, MemoryType.NOTE),
        difficulty=if_set(fields.difficulty, None),
        stack=if_set(fields.stack, ""),
        tags=[vocabulary.spelled("tag", tag) for tag in if_set(fields.tags, ())],
        paths=if_set(fields.paths, ()),
        metadata=changed_metadata({}, fields.metadata),
        agent=caller.agent,
        agent_id=vocabulary.agent_id,
        created_at=at,
        updated_at=at,
    )


def _changed(
    caller: Caller, old: MemoryRow, fields: MemoryFields, vocabulary: Vocabulary, at: datetime
) -> MemoryRow:
    title, content = if_set(fields.title, old.title), if_set(fields.content, old.content)
    is_reworded = (title, content) != (old.title, old.content)
    tags = old.tags if isinstance(fields.tags, Unset) else fields.tags
    new = replace(
        old,
        title=title,
        content=content,
        digest=digest_of(title, content) if is_reworded else old.digest,
        tokens=count_tokens(title) + _content_tokens(old, fields),
        revision=old.revision_with(title, content),
        type=if_set(fields.type, old.type),
        difficulty=if_set(fields.difficulty, old.difficulty),
        stack=if_set(fields.stack, old.stack),
        tags=[vocabulary.spelled("tag", tag) for tag in tags],
        paths=if_set(fields.paths, old.paths),
        metadata=changed_metadata(old.metadata, fields.metadata),
        updated_at=at,
    )
    if isinstance(fields.context, Unset):
        return new
    context = get_context(caller.project_id, fields.context)
    return replace(new, context=context.name, context_id=context.id)


def _refuse_changed(row: MemoryRow, expected_revision: int | None) -> None:
    if expected_revision is not None and expected_revision != row.revision:
        raise Conflict(
            f"The memory is at revision {row.revision}, not {expected_revision}.",
            hint="Read it again; somebody has changed it.",
            current={"revision": row.revision},
            about=f"memory:{row.id}",
        )


def _restored(old: MemoryRow, state: "MemoryState", at: datetime) -> MemoryRow:
    return replace(
        old,
        title=state.title,
        content=state.content,
        digest=digest_of(state.title, state.content),
        tokens=state.tokens,
        revision=old.revision_with(state.title, state.content),
        updated_at=at,
    )


def _answer(caller: Caller, change: Change[MemoryRow]) -> UpdateAnswer:
    """The digest has stored words, so a token without the read scope gets none."""
    row = change.row
    answer = UpdateAnswer(
        id=row.id,
        result="updated" if change.changed else "unchanged",
        digest=row.digest,
        tokens=row.tokens,
        revision=row.revision,
    )
    if not caller.may(READ):
        del answer["digest"]
    return answer


def _content_tokens(old: MemoryRow, fields: MemoryFields) -> int:
    if isinstance(fields.content, Unset):
        return max(old.tokens - count_tokens(old.title), 0)
    return fields.content_tokens


def _write(
    caller: Caller, old: MemoryRow, change: Change[MemoryRow], vocabulary: Vocabulary, at: datetime
) -> None:
    tags = change.row.tags if "tags" in change.changed else ()
    register_words(vocabulary, caller=caller, tags=tags, at=at)
    MEMORIES.update(caller.project_id, old, change.row, vocabulary)
    HISTORY.record(project_id=caller.project_id, agent_id=vocabulary.agent_id, changes=[change], at=at)
