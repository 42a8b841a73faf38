"""Imports constraints, inactive ones included."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.priority import Priority
from ctxhub.core.kit.unset import if_set
from ctxhub.importers.shared.batching import batches
from ctxhub.importers.shared.normalising import Normaliser
from ctxhub.importers.shared.report import Report
from ctxhub.importers.shared.vocabulary import Vocabulary, Wanted
from ctxhub.importers.sqlew.rows import OldConstraint
from memory.constraints.history import HISTORY
from memory.constraints.inputs import clean_constraint
from memory.constraints.rows import CONSTRAINTS, ConstraintRow
from memory.models import Constraint, ConstraintStatus

Wording = tuple[str, str]
"""Case-folded category and digest of the text: identifies a constraint."""


def clean_constraints(
    caller: Caller,
    old_constraints: Iterable[OldConstraint],
    normaliser: Normaliser,
    report: Report,
    at: datetime,
) -> list[ConstraintRow]:
    """Validate by the rules of `add`. Of duplicates an active one is kept."""
    new: dict[Wording, ConstraintRow] = {}
    for old in old_constraints:
        try:
            row = _cleaned(caller, old, normaliser, at)
        except InvalidInput as error:
            normaliser.leave("constraints", old.text, error)
            continue
        if (first := new.get(_wording(row))) is not None:
            report.left("constraints", row.text, "says the same as another of its category")
            if first.status <= row.status:
                continue
        new[_wording(row)] = row
    return list(new.values())


def _cleaned(caller: Caller, old: OldConstraint, normaliser: Normaliser, at: datetime) -> ConstraintRow:
    if old.category is None:
        raise InvalidInput("category is missing.")
    fields = clean_constraint(
        caller, category=old.category, text=old.text or "", priority=old.priority, reason=old.reason
    )
    return ConstraintRow(
        category=fields.category,
        text=fields.text,
        priority=if_set(fields.priority, Priority.MEDIUM),
        status=ConstraintStatus.ACTIVE if old.is_active else ConstraintStatus.INACTIVE,
        agent=normaliser.agent(old.agent) or "",
        created_at=old.at or at,
        updated_at=old.at or at,
        layer=normaliser.word("layers", old.layer) if old.layer else None,
        tags=normaliser.words("tags", old.tags),
        reason=if_set(fields.reason, ""),
    )


def _wording(row: ConstraintRow) -> Wording:
    return row.category.casefold(), row.digest


def choose_constraints(
    project_id: int, cleaned: Sequence[ConstraintRow], report: Report
) -> list[ConstraintRow]:
    """Select constraints that the project does not have yet."""
    chosen = []
    for batch in batches(cleaned):
        stored = Constraint.objects.in_project(project_id).filter(
            category__folded__in={row.category.casefold() for row in batch},
            digest__in=[row.digest for row in batch],
        )
        known = set(stored.values_list("category__folded", "digest"))
        new = [row for row in batch if _wording(row) not in known]
        report.took("constraints", len(new))
        report.found("constraints", len(batch) - len(new))
        chosen += new
    return chosen


def note_constraints(chosen: Iterable[ConstraintRow], wanted: Wanted) -> None:
    for row in chosen:
        wanted.words["categories"].append(row.category)
        wanted.words["tags"] += row.tags
        wanted.note(row.agent, row.created_at, row.layer)


def write_constraints(
    project_id: int,
    chosen: Sequence[ConstraintRow],
    vocabulary: Vocabulary,
    at: datetime,
) -> None:
    for batch in batches(chosen):
        rows = [_resolved(row, vocabulary) for row in batch]
        stored = CONSTRAINTS.insert(project_id, rows, vocabulary)
        changes = [HISTORY.change(None, row) for row in stored]
        HISTORY.record(project_id=project_id, agent_id=None, changes=changes, at=at)


def _resolved(row: ConstraintRow, vocabulary: Vocabulary) -> ConstraintRow:
    return replace(
        row,
        category=vocabulary.spelled("categories", row.category),
        category_id=vocabulary.word_id("categories", row.category),
        agent_id=vocabulary.agent_id(row.agent),
        layer_id=vocabulary.layer_id(row.layer),
        tags=[vocabulary.spelled("tags", tag) for tag in row.tags],
    )
