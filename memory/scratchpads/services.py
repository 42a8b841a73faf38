"""Creates, writes and deletes scratchpads."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Annotated, Literal, NotRequired

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.emptying import delete_objects
from ctxhub.core.history import Change
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import Conflict, InvalidInput, LimitReached, NotFound
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import (
    CONTENT_BYTES,
    clean_name,
    clean_query,
    clean_text,
    refuse_joined_secret,
    refuse_secret,
)
from ctxhub.core.kit.prepared import write_prepared
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.registry import refuse_ref_as_title
from ctxhub.core.text.lines import with_line_ends_of
from ctxhub.core.vocabulary.names import find_vocabulary, register_agent
from ctxhub.toolbox.argument_types import About, Time, one_of
from memory.scratchpads.edits import CHANGES, Mode, edited, mode_of, pieces_of_change
from memory.scratchpads.history import HISTORY, PadEdit, prepare_growth
from memory.scratchpads.models import PadChange
from memory.scratchpads.queries import content_at, get_scratchpad, unknown_scratchpad
from memory.scratchpads.rows import FOR_APPEND, LISTED, PADS, WITH_CONTENT, PadRow
from memory.workflows.queries import get_workflow


def append_content(row: PadRow, added: str) -> None:
    """Append to a pad and update its derived columns, without reading or sending the existing content."""
    sql.execute(
        """
        UPDATE memory_scratchpad
        SET content = content || %s, length = %s, size = %s, revision = %s, updated_at = %s
        WHERE id = %s""",
        [added, row.length, row.size, row.revision, sql.stored_time(row.updated_at), row.id],
    )


PADS_IN_WORKFLOW = 50
# A text longer than a pad is truncated; one longer than this is refused.
SENT_BYTES = 16 * CONTENT_BYTES


InCharacters = Annotated[int, About("In characters.")]
CutOff = Annotated[str, About("How much was cut off.")]


class CreatePadAnswer(TypedDict):
    scratchpad_id: int
    created_at: Time
    warning: NotRequired[CutOff]


class AppendAnswer(TypedDict):
    updated_at: Time
    new_length: InCharacters
    warning: NotRequired[CutOff]


class RestorePadAnswer(TypedDict):
    updated_at: Time
    new_length: InCharacters
    revision: int
    result: Literal["updated", "unchanged"]
    warning: NotRequired[CutOff]


class UpdateAnswer(RestorePadAnswer):
    mode: Annotated[str, one_of(*Mode)]


class DeletedPad(TypedDict):
    deleted: str


# -- Services --------------------------------------------------------------------------------------


def create_scratchpad(
    *, caller: Caller, workflow_id: int, name: str, content: str | None = ""
) -> CreatePadAnswer:
    """Create a pad in a workflow. A text that does not fit is truncated; `warning` says by how much."""
    name = _clean_name(name, caller)
    refuse_ref_as_title(name, "scratchpad")
    text, warning = _truncated(_clean_content(content, caller))
    size = len(text.encode())
    with write_transaction(caller.project_id):
        _refuse_full_or_closed(caller, workflow_id)
        at = clock.now()
        agent_id = register_agent(caller, at)
        new = PadRow(
            name=name,
            workflow_id=workflow_id,
            length=len(text),
            size=size,
            agent=caller.agent,
            agent_id=agent_id,
            created_at=at,
            updated_at=at,
            content=text,
        )
        [row] = PADS.insert(caller.project_id, [new])
        _record(caller, agent_id, HISTORY.change(None, row), at)
    answer = CreatePadAnswer(scratchpad_id=row.id, created_at=format_time(at))
    return {**answer, "warning": warning} if warning else answer


def append_to_scratchpad(
    *,
    caller: Caller,
    scratchpad_id: int,
    content: str,
    separator: str | None = "\n\n",
    expected_revision: int | None = None,
) -> AppendAnswer:
    """Append to a pad, safely if several agents do so at once. The separator is left out in an empty pad.

    A pad with CRLF line ends keeps them.
    """
    content = _clean_content(content, caller)
    if not content:
        raise InvalidInput("content must not be empty.", missing=["content"])
    joiner = "\n\n" if separator is None else clean_text(separator, "separator", caller)

    def prepare() -> Appending:
        old = _open_pad(caller, scratchpad_id, FOR_APPEND)
        _refuse_stale(old, None, expected_revision)
        return _appending(caller, old, content, joiner)

    return write_prepared(caller.project_id, prepare, partial(_append, caller))


@frozen
class Appending:
    """What an append makes of a pad; it was changed "now". `added`: with the separator."""

    old: PadRow
    new: PadRow
    added: str
    warning: str
    agent_id: int | None


def _appending(caller: Caller, old: PadRow, content: str, joiner: str) -> Appending:
    content = with_line_ends_of(old.ending, content)
    joiner = with_line_ends_of(old.ending, joiner if old.length else "")
    added, warning = _truncated(f"{joiner}{content}", old.size, content)
    refuse_joined_secret([old.ending, joiner, added.removeprefix(joiner)], "content", caller)
    if not added:
        return Appending(old, old, added, warning, None)
    new = replace(
        old,
        length=old.length + len(added),
        size=old.size + len(added.encode()),
        revision=old.revision + 1,
        updated_at=clock.now(),
    )
    prepare_growth(caller.project_id, old, new, added)
    return Appending(
        old, new, added, warning, find_vocabulary(caller.project_id, agent=caller.agent).agent_id
    )


def _append(caller: Caller, appending: Appending) -> AppendAnswer:
    new = appending.new
    if appending.added:
        at = clock.now()
        new = replace(new, updated_at=at)
        agent_id = appending.agent_id or register_agent(caller, at)
        append_content(new, appending.added)
        edit = PadEdit(PadChange.APPENDED, added=len(appending.added))
        _record(caller, agent_id, HISTORY.change(appending.old, new, detail=edit), at)
    answer = AppendAnswer(updated_at=format_time(new.updated_at), new_length=new.length)
    return {**answer, "warning": appending.warning} if appending.warning else answer


def update_scratchpad(
    *,
    caller: Caller,
    scratchpad_id: int,
    content: str,
    mode: str | None = None,
    line: int | None = None,
    end: int | None = None,
    section: str | None = None,
    expected_length: int | None = None,
    expected_revision: int | None = None,
) -> UpdateAnswer:
    """Change a pad's text: replace it, insert before a line, replace lines or a section, or add to a section.

    Without a mode, `section`, `line` and `end` choose it: see `mode_of`. `line` and `end` count from 1;
    inserting before the line after the last one adds at the end. Raises InvalidInput for arguments that
    exclude one another, and Conflict, before any write, if the pad has not the expected length or revision.
    """
    chosen = mode_of(mode, line=line, end=end, section=section)
    content = _clean_content(content, caller)
    _refuse_missing(chosen, content, line, section)
    with write_transaction(caller.project_id):
        old = _open_pad(caller, scratchpad_id)
        _refuse_stale(old, expected_length, expected_revision)
        text = edited(old.content, content, chosen, line=line, end=end, section=section)
        refuse_joined_secret(pieces_of_change(old.content, text), "content", caller)
        return {**_write(caller, old, text, CHANGES[chosen]), "mode": chosen.value}


def restore_scratchpad(
    *,
    caller: Caller,
    scratchpad_id: int,
    revision: int,
    expected_length: int | None = None,
    expected_revision: int | None = None,
) -> RestorePadAnswer:
    """Restore a pad's text to a revision. This adds a revision, so it can be undone in the same way."""
    with write_transaction(caller.project_id):
        old = _open_pad(caller, scratchpad_id)
        _refuse_stale(old, expected_length, expected_revision)
        text = content_at(caller.project_id, scratchpad_id, revision)
        return _write(caller, old, text, PadChange.RESTORED)


def delete_scratchpad(
    *, caller: Caller, scratchpad_id: int, expected_revision: int | None = None
) -> DeletedPad:
    """Delete a pad and its revisions; the log keeps an event."""
    with write_transaction(caller.project_id):
        old = _open_pad(caller, scratchpad_id, LISTED)
        _refuse_stale(old, None, expected_revision)
        delete_objects(caller, [old], history=HISTORY)
    return DeletedPad(deleted=f"scratchpad:{old.id}")


def find_deletable_scratchpads(
    caller: Caller, ids: Sequence[str]
) -> Mapping[str, PadRow | NotFound | Conflict]:
    """The pad of each id, or the error for an unknown one and for one of a closed workflow."""
    found = PADS.read_named(caller.project_id, ids, unknown_scratchpad, LISTED)
    return {
        name: _closed(row.workflow_id) if isinstance(row, PadRow) and not row.is_active else row
        for name, row in found.items()
    }


# -- Input -----------------------------------------------------------------------------------------


def _clean_name(name: str, caller: Caller) -> str:
    cleaned = clean_name(name, "name")
    refuse_secret(cleaned, "name", caller)
    return cleaned


def _clean_content(content: str | None, caller: Caller) -> str:
    return clean_text(content, "content", caller, at_most=SENT_BYTES)


def _refuse_missing(mode: Mode, content: str, line: int | None, section: str | None) -> None:
    if mode in (Mode.INSERT, Mode.REPLACE_LINES) and line is None:
        raise InvalidInput("line must be given: the number of a line, from 1.", missing=["line"])
    if mode in (Mode.SECTION, Mode.APPEND_SECTION):
        if section is None:
            raise InvalidInput("section must be given: the text of a heading.", missing=["section"])
        clean_query(section, "section")
    if not content and mode in (Mode.INSERT, Mode.APPEND_SECTION):
        hint = "An empty content removes lines with replace_lines, and what a section says with section."
        raise InvalidInput("content must not be empty.", missing=["content"], hint=hint)


def _truncated(text: str, taken: int = 0, content: str | None = None) -> tuple[str, str]:
    """The text truncated at a character to the free bytes of a pad, and a warning or "".

    `taken`: bytes in use. `content`: the part of the text after a separator; a separator alone is not added.
    """
    room = max(CONTENT_BYTES - taken, 0)
    data = text.encode()
    if len(data) <= room:
        return text, ""
    kept = data[:room].decode(errors="ignore")
    if content is not None and len(kept) <= len(text) - len(content):
        kept = ""
    cut = len((text if content is None or kept else content).encode()) - len(kept.encode())
    return kept, f"A pad holds {CONTENT_BYTES:,} bytes: the last {cut:,} were cut off."


# -- Pieces ----------------------------------------------------------------------------------------


def _refuse_full_or_closed(caller: Caller, workflow_id: int) -> None:
    workflow = get_workflow(caller.project_id, workflow_id)
    _refuse_closed(workflow.id, is_active=workflow.is_active)
    if workflow.pads >= PADS_IN_WORKFLOW:
        raise LimitReached(
            f"Workflow {workflow.id} has {workflow.pads} pads; the limit is {PADS_IN_WORKFLOW}.",
            hint="Append to one of them, or begin another workflow.",
        )


def _refuse_closed(workflow_id: int, *, is_active: bool) -> None:
    if not is_active:
        raise _closed(workflow_id)


def _closed(workflow_id: int) -> Conflict:
    return Conflict(
        f"Workflow {workflow_id} is closed; its pads can only be read.",
        hint=f"{operation('scratchpad close_workflow')} with workflow_id={workflow_id} and reopen=true "
        "opens it again.",
    )


def _open_pad(caller: Caller, scratchpad_id: int, fields: Sequence[str] = WITH_CONTENT) -> PadRow:
    """The pad. Raises Conflict if its workflow is closed."""
    row = get_scratchpad(caller.project_id, scratchpad_id, fields)
    _refuse_closed(row.workflow_id, is_active=row.is_active)
    return row


def _refuse_stale(row: PadRow, length: int | None, revision: int | None) -> None:
    if length is not None and length != row.length:
        problem = f"The pad has {row.length:,} characters, not {length:,}."
    elif revision is not None and revision != row.revision:
        problem = f"The pad is at revision {row.revision}, not {revision}."
    else:
        return
    raise Conflict(
        problem,
        hint="Read it again; somebody has written to it.",
        current={"length": row.length, "revision": row.revision},
        about=f"scratchpad:{row.id}",
    )


def _write(caller: Caller, old: PadRow, text: str, change: PadChange) -> RestorePadAnswer:
    text, warning = _truncated(text)
    is_change = text != old.content
    new = _edited(caller, old, text, change) if is_change else old
    answer = RestorePadAnswer(
        updated_at=format_time(new.updated_at),
        new_length=new.length,
        revision=new.revision,
        result="updated" if is_change else "unchanged",
    )
    return {**answer, "warning": warning} if warning else answer


def _edited(caller: Caller, old: PadRow, text: str, change: PadChange) -> PadRow:
    at = clock.now()
    new = replace(
        old,
        content=text,
        length=len(text),
        size=len(text.encode()),
        revision=old.revision + 1,
        updated_at=at,
    )
    agent_id = register_agent(caller, at)
    edit = HISTORY.overwrite(caller.project_id, old, change)
    PADS.update(caller.project_id, old, new)
    _record(caller, agent_id, HISTORY.change(old, new, detail=edit), at)
    return new


def _record(caller: Caller, agent_id: int, change: Change[PadRow], at: datetime) -> None:
    HISTORY.record(project_id=caller.project_id, agent_id=agent_id, changes=[change], at=at)
