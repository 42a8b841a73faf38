"""Old constraints become constraints, the inactive ones too."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from ctxhub.core.caller import Caller
from ctxhub.core.errors import InvalidInput
from ctxhub.core.models.priority import Priority
from ctxhub.core.unset import given
from ctxhub.management.importing.at_once import AT_ONCE, batches
from ctxhub.management.importing.fitting import Fitting
from ctxhub.management.importing.report import Report
from ctxhub.management.importing.vocabulary import Vocabulary, Wanted
from ctxhub.management.sqlew.rows import OldConstraint
from memory.models import Constraint, ConstraintStatus, ConstraintTag
from memory.services.constraint_fields import clean_constraint
from memory.services.constraint_log import ConstraintChange, record_constraints
from memory.sql.constraint_rows import ConstraintRow

Wording = tuple[str, str]
"""A category, case-folded, and the digest of a text: what makes two constraints the same."""


def clean_constraints(
    caller: Caller, olds: Iterable[OldConstraint], fit: Fitting, report: Report, at: datetime
) -> list[ConstraintRow]:
    """Check by the rules of `add`. Where sqlew has the same twice, one that is active counts."""
    new: dict[Wording, ConstraintRow] = {}
    for old in olds:
        try:
            row = _cleaned(caller, old, fit, at)
        except InvalidInput as error:
            fit.leave("constraints", old.text, error)
            continue
        if (first := new.get(_wording(row))) is not None:
            report.left("constraints", row.text, "says the same as another of its category")
            if first.status <= row.status:
                continue
        new[_wording(row)] = row
    return list(new.values())


def _cleaned(caller: Caller, old: OldConstraint, fit: Fitting, at: datetime) -> ConstraintRow:
    if old.category is None:
        raise InvalidInput("category is missing.")
    fields = clean_constraint(
        caller, category=old.category, text=old.text or "", priority=old.priority, reason=old.reason
    )
    return ConstraintRow(
        category=fields.category,
        category_id=0,
        text=fields.text,
        priority=given(fields.priority, Priority.MEDIUM),
        status=ConstraintStatus.ACTIVE if old.is_active else ConstraintStatus.INACTIVE,
        agent=fit.agent(old.agent) or "",
        agent_id=None,
        created_at=old.at or at,
        updated_at=old.at or at,
        layer=fit.word("layers", old.layer) if old.layer else None,
        tags=fit.words("tags", old.tags),
        reason=given(fields.reason, ""),
    )


def _wording(row: ConstraintRow) -> Wording:
    return row.category.casefold(), row.digest


def choose_constraints(
    project_id: int, cleaned: Sequence[ConstraintRow], report: Report
) -> list[ConstraintRow]:
    """Those that the project does not state yet."""
    chosen = []
    for batch in batches(cleaned):
        stated = Constraint.objects.in_project(project_id).filter(
            category__folded__in={row.category.casefold() for row in batch},
            digest__in=[row.digest for row in batch],
        )
        known = set(stated.values_list("category__folded", "digest"))
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
        rows = [_placed(row, vocabulary) for row in batch]
        stored = Constraint.unscoped.bulk_create(_as_model(project_id, row) for row in rows)
        rows = [replace(row, id=model.pk) for row, model in zip(rows, stored, strict=True)]
        links = [
            ConstraintTag(
                project_id=project_id,
                constraint_id=row.id,
                tag_id=vocabulary.word_id("tags", tag),
                rank=row.rank,
                created_at=row.created_at,
            )
            for row in rows
            for tag in row.tags
        ]
        ConstraintTag.unscoped.bulk_create(links, batch_size=AT_ONCE)
        changes = [ConstraintChange(None, row) for row in rows]
        record_constraints(project_id=project_id, agent_id=None, changes=changes, at=at)


def _placed(row: ConstraintRow, vocabulary: Vocabulary) -> ConstraintRow:
    return replace(
        row,
        category=vocabulary.spelled("categories", row.category),
        category_id=vocabulary.word_id("categories", row.category),
        agent_id=vocabulary.agent_id(row.agent),
        layer_id=vocabulary.layer_id(row.layer),
        tags=[vocabulary.spelled("tags", tag) for tag in row.tags],
    )


def _as_model(project_id: int, row: ConstraintRow) -> Constraint:
    return Constraint(
        project_id=project_id,
        category_id=row.category_id,
        text=row.text,
        digest=row.digest,
        rank=row.rank,
        priority=row.priority,
        layer_id=row.layer_id,
        agent_id=row.agent_id,
        reason=row.reason,
        status=row.status,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
