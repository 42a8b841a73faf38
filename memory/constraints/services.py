"""Adds, deactivates, activates and deletes constraints. All writes go through here."""

from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Literal, NotRequired, Unpack

# Pydantic builds the answer's schema and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.emptying import delete_objects
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_text
from ctxhub.core.kit.prepared import write_prepared
from ctxhub.core.kit.priority import Priority
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.kit.unset import UNSET, Unset, if_set
from ctxhub.core.vocabulary.names import Vocabulary, find_vocabulary, register_agent, register_words
from memory.constraints.history import HISTORY
from memory.constraints.inputs import ConstraintArguments, ConstraintFields, clean_constraint
from memory.constraints.models import ConstraintStatus
from memory.constraints.queries import get_constraint
from memory.constraints.rows import CONSTRAINTS, ConstraintRow, find_same


class AddAnswer(TypedDict):
    id: int
    result: Literal["created", "exists"]
    hint: NotRequired[str]


class StatusAnswer(TypedDict):
    id: int
    status: str
    result: Literal["updated", "unchanged"]


# -- Services --------------------------------------------------------------------------------------


def add_constraint(
    *, caller: Caller, category: str, text: str, **rest: Unpack[ConstraintArguments]
) -> AddAnswer:
    """Add a constraint. If its category already has one with the same text, that one is kept as stored.

    An inactive one is activated again. The answer's `hint` says so, and names the arguments that differ from
    the stored fields. Registers a new category. Raises InvalidInput for an unknown layer.
    """
    fields = clean_constraint(caller, category=category, text=text, **rest)
    return write_prepared(caller.project_id, partial(_prepare, caller, fields), partial(_add, caller, fields))


def deactivate_constraint(*, caller: Caller, constraint_id: int, reason: str | None = None) -> StatusAnswer:
    """Make a constraint inactive; the event log keeps `reason`. It can be activated again."""
    return change_status(
        caller=caller, constraint_id=constraint_id, status=ConstraintStatus.INACTIVE, reason=reason
    )


def activate_constraint(*, caller: Caller, constraint_id: int) -> StatusAnswer:
    """Make an inactive constraint active again."""
    return change_status(caller=caller, constraint_id=constraint_id, status=ConstraintStatus.ACTIVE)


def change_status(
    *, caller: Caller, constraint_id: int, status: ConstraintStatus, reason: str | None = None
) -> StatusAnswer:
    """Set the status; writes nothing if the constraint already has it. Raises NotFound for an unknown id."""
    reason = clean_text(reason, "reason", caller)
    with write_transaction(caller.project_id):
        row = get_constraint(caller.project_id, constraint_id)
        if is_change := row.status != status:
            _write_status(caller, row, status, reason, clock.now())
    return StatusAnswer(id=row.id, status=str(status.label), result="updated" if is_change else "unchanged")


def delete_constraint(*, caller: Caller, constraint_id: int) -> None:
    """Delete a constraint that was added by mistake. The event log keeps a record of the deletion."""
    with write_transaction(caller.project_id):
        row = get_constraint(caller.project_id, constraint_id)
        delete_objects(caller, [row], history=HISTORY)


# -- Helpers ---------------------------------------------------------------------------------------


@frozen
class Draft:
    """What is wanted, without its times, and the stored constraint with the same text."""

    wanted: ConstraintRow
    same: ConstraintRow | None
    vocabulary: Vocabulary


def _prepare(caller: Caller, fields: ConstraintFields) -> Draft:
    vocabulary = find_vocabulary(
        caller.project_id,
        agent=caller.agent,
        tags=if_set(fields.tags, ()),
        scopes=if_set(fields.scopes, ()),
        categories=[fields.category],
        layers=bool(fields.layer),
    )
    wanted = _new_row(caller, fields, vocabulary, clock.now())
    same = find_same(caller.project_id, wanted.category_id, wanted.digest) if wanted.category_id else None
    if same is None:
        HISTORY.prepare([HISTORY.change(None, wanted)])
    return Draft(wanted, same, vocabulary)


def _add(caller: Caller, fields: ConstraintFields, draft: Draft) -> AddAnswer:
    at, same = clock.now(), draft.same
    wanted = replace(draft.wanted, created_at=at, updated_at=at)
    if same is None:
        return AddAnswer(id=_create(caller, wanted, draft.vocabulary, at), result="created")
    if is_reactivated := same.status != ConstraintStatus.ACTIVE:
        _write_status(caller, same, ConstraintStatus.ACTIVE, "", at)
    hint = _hint(is_reactivated, _differing(fields, same, wanted))
    return {"id": same.id, "result": "exists", **({"hint": hint} if hint else {})}  # type: ignore[typeddict-item]


def _new_row(caller: Caller, fields: ConstraintFields, vocabulary: Vocabulary, at: datetime) -> ConstraintRow:
    """Return the row to insert if the constraint is new; category_id is 0 for a new category."""
    layer_id, layer = vocabulary.layer(fields.layer) if not isinstance(fields.layer, Unset) else (None, None)
    return ConstraintRow(
        category=fields.category,
        category_id=vocabulary.categories.get(fields.category.casefold(), 0),
        text=fields.text,
        priority=if_set(fields.priority, Priority.MEDIUM),
        status=ConstraintStatus.ACTIVE,
        agent=caller.agent,
        agent_id=vocabulary.agent_id,
        created_at=at,
        updated_at=at,
        layer=layer,
        layer_id=layer_id,
        tags=if_set(fields.tags, ()),
        scopes=if_set(fields.scopes, ()),
        paths=if_set(fields.paths, ()),
        reason=if_set(fields.reason, ""),
    )


def _create(caller: Caller, wanted: ConstraintRow, vocabulary: Vocabulary, at: datetime) -> int:
    register_words(
        vocabulary,
        caller=caller,
        tags=wanted.tags,
        scopes=wanted.scopes,
        categories=[wanted.category],
        at=at,
    )
    category_id = vocabulary.categories[wanted.category.casefold()]
    new = replace(
        wanted,
        category=vocabulary.spelled("category", wanted.category),
        category_id=category_id,
        agent_id=vocabulary.agent_id,
        tags=[vocabulary.spelled("tag", tag) for tag in wanted.tags],
        scopes=[vocabulary.spelled("scope", scope) for scope in wanted.scopes],
    )
    [stored] = CONSTRAINTS.insert(caller.project_id, [new], vocabulary)
    HISTORY.record(
        project_id=caller.project_id,
        agent_id=vocabulary.agent_id,
        changes=[HISTORY.change(None, stored)],
        at=at,
    )
    return stored.id


def _write_status(
    caller: Caller, row: ConstraintRow, status: ConstraintStatus, reason: str, at: datetime
) -> None:
    new = replace(row, status=status, updated_at=at)
    CONSTRAINTS.update(caller.project_id, row, new)
    HISTORY.record(
        project_id=caller.project_id,
        agent_id=register_agent(caller, at),
        changes=[HISTORY.change(row, new, reason)],
        at=at,
    )


def _differing(fields: ConstraintFields, stored: ConstraintRow, wanted: ConstraintRow) -> list[str]:
    """Return the names of the given arguments whose stored value is different."""
    arguments = ConstraintArguments.__annotations__
    changed = HISTORY.change(stored, wanted).changed
    return [name for name in changed if name in arguments and getattr(fields, name) is not UNSET]


def _hint(is_reactivated: bool, differing: list[str]) -> str:
    parts = ["It was inactive and is active again."] if is_reactivated else []
    if differing:
        parts.append(f"It stays as it was stored, which differs in {', '.join(differing)}.")
    return " ".join(parts)
