"""Constraints are added, deactivated, activated and deleted here, and nowhere else."""

from dataclasses import replace
from datetime import datetime
from typing import Literal, NotRequired, Unpack

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.inputs import clean_text
from ctxhub.core.kit.priority import Priority
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.kit.unset import UNSET, Unset, if_set
from ctxhub.core.vocabulary.selectors.names import Vocabulary, find_vocabulary
from ctxhub.core.vocabulary.services.names import register_agent, register_words
from memory.constraints.history import HISTORY
from memory.constraints.inputs import ConstraintArguments, ConstraintFields, clean_constraint
from memory.constraints.models import ConstraintStatus
from memory.constraints.rows import CONSTRAINTS, ConstraintRow, find_same
from memory.constraints.selectors import get_constraint


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
    """State what must hold. What the category says already, in the same words, stays as it is.

    An inactive one becomes active again, and the answer's `hint` says so; it also names what the stored one
    has that was said otherwise. A new category is registered; raises InvalidInput for an unknown layer.
    """
    fields = clean_constraint(caller, category=category, text=text, **rest)
    with write_transaction(caller.project_id):
        at = clock.now()
        words = find_vocabulary(
            caller.project_id,
            agent=caller.agent,
            tags=if_set(fields.tags, ()),
            scopes=if_set(fields.scopes, ()),
            categories=[fields.category],
            layers=bool(fields.layer),
        )
        wanted = _wanted(caller, fields, words, at)
        same = find_same(caller.project_id, wanted.category_id, wanted.digest) if wanted.category_id else None
        if same is None:
            return AddAnswer(id=_create(caller, wanted, words, at), result="created")
        if is_revived := same.status != ConstraintStatus.ACTIVE:
            _write_status(caller, same, ConstraintStatus.ACTIVE, "", at)
    hint = _hint(is_revived, _differing(fields, same, wanted))
    return {"id": same.id, "result": "exists", **({"hint": hint} if hint else {})}  # type: ignore[typeddict-item]


def deactivate_constraint(*, caller: Caller, constraint_id: int, reason: str | None = None) -> StatusAnswer:
    """From now on it need not hold; `reason` stands in the log. It stays, and can be activated again."""
    return change_status(
        caller=caller, constraint_id=constraint_id, status=ConstraintStatus.INACTIVE, reason=reason
    )


def activate_constraint(*, caller: Caller, constraint_id: int) -> StatusAnswer:
    """From now on it must hold again."""
    return change_status(caller=caller, constraint_id=constraint_id, status=ConstraintStatus.ACTIVE)


def change_status(
    *, caller: Caller, constraint_id: int, status: ConstraintStatus, reason: str | None = None
) -> StatusAnswer:
    """Whether it must hold; what has the status already stays as it is. Raises NotFound for an unknown id."""
    reason = clean_text(reason, "reason", caller)
    with write_transaction(caller.project_id):
        row = get_constraint(caller.project_id, constraint_id)
        if is_change := row.status != status:
            _write_status(caller, row, status, reason, clock.now())
    return StatusAnswer(id=row.id, status=str(status.label), result="updated" if is_change else "unchanged")


def delete_constraint(*, caller: Caller, constraint_id: int) -> None:
    """Remove what should never have been written; that there was one stays in the log."""
    with write_transaction(caller.project_id):
        row = get_constraint(caller.project_id, constraint_id)
        at = clock.now()
        agent_id = register_agent(caller, at)
        HISTORY.delete(project_id=caller.project_id, agent_id=agent_id, rows=[row], at=at)


# -- Pieces ----------------------------------------------------------------------------------------


def _wanted(caller: Caller, fields: ConstraintFields, words: Vocabulary, at: datetime) -> ConstraintRow:
    """The constraint that was asked for, as it would be if it is new."""
    layer_id, layer = words.layer(fields.layer) if not isinstance(fields.layer, Unset) else (None, None)
    return ConstraintRow(
        category=fields.category,
        category_id=words.categories.get(fields.category.casefold(), 0),
        text=fields.text,
        priority=if_set(fields.priority, Priority.MEDIUM),
        status=ConstraintStatus.ACTIVE,
        agent=caller.agent,
        agent_id=words.agent_id,
        created_at=at,
        updated_at=at,
        layer=layer,
        layer_id=layer_id,
        tags=if_set(fields.tags, ()),
        scopes=if_set(fields.scopes, ()),
        paths=if_set(fields.paths, ()),
        reason=if_set(fields.reason, ""),
    )


def _create(caller: Caller, wanted: ConstraintRow, words: Vocabulary, at: datetime) -> int:
    register_words(
        words,
        caller=caller,
        tags=wanted.tags,
        scopes=wanted.scopes,
        categories=[wanted.category],
        at=at,
    )
    category_id = words.categories[wanted.category.casefold()]
    new = replace(
        wanted,
        category=words.spelled("category", wanted.category),
        category_id=category_id,
        agent_id=words.agent_id,
        tags=[words.spelled("tag", tag) for tag in wanted.tags],
        scopes=[words.spelled("scope", scope) for scope in wanted.scopes],
    )
    [stored] = CONSTRAINTS.insert(caller.project_id, [new], words)
    HISTORY.record(
        project_id=caller.project_id,
        agent_id=words.agent_id,
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
    """What the caller said that is stored otherwise."""
    sayable = ConstraintArguments.__annotations__
    changed = HISTORY.change(stored, wanted).changed
    return [name for name in changed if name in sayable and getattr(fields, name) is not UNSET]


def _hint(is_revived: bool, differing: list[str]) -> str:
    parts = ["It was inactive and is active again."] if is_revived else []
    if differing:
        parts.append(f"It stays as it was stored, which differs in {', '.join(differing)}.")
    return " ".join(parts)
