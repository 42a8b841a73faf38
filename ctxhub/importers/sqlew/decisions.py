"""Old decisions become decisions: value, history, tags, scopes and reasons, at the times they had."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.unset import if_set
from ctxhub.core.search.services.index import index_again
from ctxhub.importers.shared.batching import batches
from ctxhub.importers.shared.normalising import Fitting
from ctxhub.importers.shared.report import Report
from ctxhub.importers.shared.values import is_numeric, text_of
from ctxhub.importers.shared.vocabulary import Vocabulary, Wanted
from ctxhub.importers.sqlew.reasons import clean_reasons
from ctxhub.importers.sqlew.rows import OldDecision, OldVersion
from memory.decisions.history.decisions import HISTORY
from memory.decisions.inputs.decisions import DecisionFields, clean_fields
from memory.decisions.rows.decisions import DECISIONS, DecisionRow
from memory.decisions.rules.versions import FIRST_VERSION
from memory.decisions.sql.revisions import revision_ids
from memory.decisions.sql.writes import insert_revisions
from memory.models import Decision, DecisionStatus, ValueType

EXACT_INTEGERS = 2**53  # sqlew knows floats alone; up to here one without a fraction was a whole number.
ALWAYS = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class NewDecision:
    """`revisions`: oldest first. All rows carry names; ids come when they are written."""

    row: DecisionRow
    revisions: Sequence[DecisionRow]


# -- What may stand here ---------------------------------------------------------------------------


def clean_decisions(
    caller: Caller, olds: Iterable[OldDecision], fit: Fitting, report: Report, at: datetime
) -> list[NewDecision]:
    """Check by the rules of `set`; `at` stands in for a time that is not known."""
    versions_of: dict[str, list[OldDecision]] = {}
    for old in olds:
        if old.key is None:
            report.left("decisions", "", "its key is missing")
        else:
            versions_of.setdefault(old.key, []).append(old)
    new: dict[str, NewDecision] = {}
    for key, versions in versions_of.items():
        try:
            decision = _cleaned(caller, key, versions, fit, at)
        except InvalidInput as error:
            fit.leave("decisions", key, error)
            continue
        if decision.row.key in new:
            report.left("decisions", key, "the same key as another, but for spaces or the way it is written")
        else:
            new[decision.row.key] = decision
    return list(new.values())


def _cleaned(
    caller: Caller, key: str, versions: Sequence[OldDecision], fit: Fitting, at: datetime
) -> NewDecision:
    """sqlew keeps a key's text apart from its number, each blind to the other: the newer one stands."""
    current, *others = sorted(versions, key=_age, reverse=True)
    row = _row(caller, key, current, fit, at)
    past = [*current.history, *(OldVersion(o.value, o.version, o.agent, o.at, o.is_number) for o in others)]
    if current.is_number and not others:
        past = [replace(old, is_number=is_numeric(old.value)) for old in past]
    kept = [revision for old in past if (revision := _revision(caller, row, old, fit))]
    revisions = sorted(kept, key=lambda revision: revision.updated_at)
    whole = replace(
        row,
        tags=fit.words("tags", current.tags),
        scopes=fit.words("scopes", current.scopes),
        created_at=min(moment.updated_at for moment in (row, *revisions)),
        **clean_reasons(caller, key, current.reasons, fit),
    )
    return NewDecision(whole, revisions)


def _age(old: OldDecision) -> tuple[datetime, bool]:
    """In the same second the text wins: it is what sqlew answers."""
    return old.at or ALWAYS, not old.is_number


def _row(caller: Caller, key: str, old: OldDecision, fit: Fitting, at: datetime) -> DecisionRow:
    fields = clean_fields(
        caller,
        key=key,
        value=_value(old.value, is_number=old.is_number),
        version=old.version or FIRST_VERSION,
        status=DecisionStatus.ACTIVE if old.status is None else old.status,
    )
    return _as_row(fields, fit, old.agent, old.at or at, old.layer)


def _revision(caller: Caller, row: DecisionRow, old: OldVersion, fit: Fitting) -> DecisionRow | None:
    """What the decision was; None where it cannot be kept."""
    try:
        value = _value(old.value, is_number=old.is_number)
        fields = clean_fields(caller, key=row.key, value=value, version=old.version or FIRST_VERSION)
    except InvalidInput as error:
        fit.leave("revisions", f"{row.key} {old.version or ''}".strip(), error)
        return None
    return _as_row(fields, fit, old.agent, old.at or row.updated_at)


def _as_row(
    fields: DecisionFields, fit: Fitting, agent: str | None, at: datetime, layer: str | None = None
) -> DecisionRow:
    return DecisionRow(
        key=fields.key,
        value=if_set(fields.value, ""),
        value_type=if_set(fields.value_type, ValueType.TEXT),
        version=if_set(fields.version, FIRST_VERSION),
        status=if_set(fields.status, DecisionStatus.ACTIVE),
        agent=fit.agent(agent) or "",
        agent_id=None,
        layer=fit.word("layers", layer) if layer else None,
        created_at=at,
        updated_at=at,
    )


def _value(value: Any, *, is_number: bool) -> str | int | float:
    """As it is spoken here: sqlew's numbers are floats, its history holds numbers as texts."""
    if value is None:
        raise InvalidInput("value is missing.")
    if not is_number:
        return text_of(value) or ""
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise InvalidInput("value is not the number that it should be.") from error
    return int(number) if number.is_integer() and abs(number) < EXACT_INTEGERS else number


# -- What is new, and how it is written ------------------------------------------------------------


def choose_decisions(project_id: int, cleaned: Sequence[NewDecision], report: Report) -> list[NewDecision]:
    """Those whose key is free here. What stands is never overwritten."""
    chosen = []
    for batch in batches(cleaned):
        stored = _values_of(project_id, [new.row.key for new in batch])
        for new in batch:
            stands = stored.get(new.row.key)
            if stands is None:
                chosen.append(new)
                report.took("decisions")
                report.took("revisions", len(new.revisions))
            elif stands == (new.row.value, new.row.value_type):
                report.found("decisions")
                report.found("revisions", len(new.revisions))
            else:
                report.left("decisions", new.row.key, "the key stands here with another value")
                if new.revisions:
                    report.left_many("revisions", len(new.revisions), "of decisions that were left")
    return chosen


def _values_of(project_id: int, keys: Sequence[str]) -> dict[str, tuple[str, int]]:
    stored = Decision.objects.in_project(project_id).filter(key__in=keys)
    return {key: (value, kind) for key, value, kind in stored.values_list("key", "value", "value_type")}


def note_decisions(chosen: Iterable[NewDecision], wanted: Wanted) -> None:
    for new in chosen:
        wanted.words["tags"] += new.row.tags
        wanted.words["scopes"] += new.row.scopes
        for row in (new.row, *new.revisions):
            wanted.note(row.agent, row.updated_at, row.layer)


def write_decisions(
    project_id: int, chosen: Sequence[NewDecision], vocabulary: Vocabulary, at: datetime
) -> None:
    """Write rows, words, revisions, figures and events, so many at a time."""
    for batch in batches(chosen):
        rows = [_placed(new.row, vocabulary) for new in batch]
        rows = DECISIONS.insert(project_id, rows, vocabulary)
        ids = {row.key: row.id for row in rows}
        revisions = [
            replace(_placed(old, vocabulary), id=ids[old.key]) for new in batch for old in new.revisions
        ]
        for some in batches(revisions):
            insert_revisions(project_id, some)
        changes = [HISTORY.change(None, row) for row in rows]
        HISTORY.record(project_id=project_id, agent_id=None, changes=changes, at=at)
        if revisions:
            index_again(project_id, "decision_revision", revision_ids(project_id, [*ids.values()]))


def _placed(row: DecisionRow, vocabulary: Vocabulary) -> DecisionRow:
    return replace(
        row,
        agent_id=vocabulary.agent_id(row.agent),
        layer_id=vocabulary.layer_id(row.layer),
        tags=[vocabulary.spelled("tags", tag) for tag in row.tags],
        scopes=[vocabulary.spelled("scopes", scope) for scope in row.scopes],
    )
