"""Imports decisions with their values, revisions, tags, scopes, reasons and times."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.unset import if_set
from ctxhub.core.search.index import index_again
from ctxhub.importers.shared.batching import batches
from ctxhub.importers.shared.normalising import Normaliser
from ctxhub.importers.shared.report import Report
from ctxhub.importers.shared.values import is_numeric, text_of
from ctxhub.importers.shared.vocabulary import Vocabulary, Wanted
from ctxhub.importers.sqlew.reasons import clean_reasons
from ctxhub.importers.sqlew.rows import OldDecision, OldVersion
from memory.decisions.history import HISTORY, insert_revisions
from memory.decisions.inputs import DecisionFields, clean_fields
from memory.decisions.rows import DECISIONS, DecisionRow
from memory.decisions.versions import FIRST_VERSION, revision_ids
from memory.models import Decision, DecisionStatus, ValueType

EXACT_INTEGERS = 2**53  # sqlew stores floats only; below this, one without a fraction was an integer.
EARLIEST = datetime.min.replace(tzinfo=UTC)


@frozen
class NewDecision:
    """A decision to import. `revisions`: oldest first. Rows hold names; ids are set when written."""

    row: DecisionRow
    revisions: Sequence[DecisionRow]


# -- Validation ------------------------------------------------------------------------------------


def clean_decisions(
    caller: Caller, old_decisions: Iterable[OldDecision], normaliser: Normaliser, report: Report, at: datetime
) -> list[NewDecision]:
    """Validate by the rules of `set`. `at` replaces an unknown time."""
    versions_of: dict[str, list[OldDecision]] = {}
    for old in old_decisions:
        if old.key is None:
            report.left("decisions", "", "its key is missing")
        else:
            versions_of.setdefault(old.key, []).append(old)
    new: dict[str, NewDecision] = {}
    for key, versions in versions_of.items():
        try:
            decision = _cleaned(caller, key, versions, normaliser, at)
        except InvalidInput as error:
            normaliser.leave("decisions", key, error)
            continue
        if decision.row.key in new:
            report.left("decisions", key, "the same key as another, but for spaces or the way it is written")
        else:
            new[decision.row.key] = decision
    return list(new.values())


def _cleaned(
    caller: Caller, key: str, versions: Sequence[OldDecision], normaliser: Normaliser, at: datetime
) -> NewDecision:
    """Merge a key's text and number, which sqlew stores independently: the newer is current."""
    current, *others = sorted(versions, key=_recency, reverse=True)
    row = _row(caller, key, current, normaliser, at)
    past = [*current.history, *(OldVersion(o.value, o.version, o.agent, o.at, o.is_number) for o in others)]
    if current.is_number and not others:
        past = [replace(old, is_number=is_numeric(old.value)) for old in past]
    kept = [revision for old in past if (revision := _revision(caller, row, old, normaliser))]
    revisions = sorted(kept, key=lambda revision: revision.updated_at)
    full_row = replace(
        row,
        tags=normaliser.words("tags", current.tags),
        scopes=normaliser.words("scopes", current.scopes),
        created_at=min(moment.updated_at for moment in (row, *revisions)),
        **clean_reasons(caller, row.key, current.reasons, normaliser),
    )
    return NewDecision(full_row, revisions)


def _recency(old: OldDecision) -> tuple[datetime, bool]:
    """Sort key: time, then text before number, as sqlew itself answers with the text."""
    return old.at or EARLIEST, not old.is_number


def _row(caller: Caller, key: str, old: OldDecision, normaliser: Normaliser, at: datetime) -> DecisionRow:
    fields = clean_fields(
        caller,
        key=normaliser.visible("decisions", key),
        value=_value(old.value, is_number=old.is_number),
        version=old.version or FIRST_VERSION,
        status="active" if old.status is None else old.status,
    )
    return _as_row(fields, normaliser, old.agent, old.at or at, old.layer)


def _revision(
    caller: Caller, row: DecisionRow, old: OldVersion, normaliser: Normaliser
) -> DecisionRow | None:
    """A revision; None if it is invalid."""
    try:
        value = _value(old.value, is_number=old.is_number)
        fields = clean_fields(caller, key=row.key, value=value, version=old.version or FIRST_VERSION)
    except InvalidInput as error:
        normaliser.leave("revisions", f"{row.key} {old.version or ''}".strip(), error)
        return None
    return _as_row(fields, normaliser, old.agent, old.at or row.updated_at)


def _as_row(
    fields: DecisionFields, normaliser: Normaliser, agent: str | None, at: datetime, layer: str | None = None
) -> DecisionRow:
    return DecisionRow(
        key=fields.key,
        value=if_set(fields.value, ""),
        value_type=if_set(fields.value_type, ValueType.TEXT),
        version=if_set(fields.version, FIRST_VERSION),
        status=if_set(fields.status, DecisionStatus.ACTIVE),
        agent=normaliser.agent(agent) or "",
        agent_id=None,
        layer=normaliser.word("layers", layer) if layer else None,
        created_at=at,
        updated_at=at,
    )


def _value(value: Any, *, is_number: bool) -> str | int | float:
    """The value as text, int or float: sqlew stores numbers as floats, and as text in its history."""
    if value is None:
        raise InvalidInput("value is missing.")
    if not is_number:
        return text_of(value) or ""
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise InvalidInput("value is not the number that it should be.") from error
    return int(number) if number.is_integer() and abs(number) < EXACT_INTEGERS else number


# -- Selection and writing -------------------------------------------------------------------------


def choose_decisions(project_id: int, cleaned: Sequence[NewDecision], report: Report) -> list[NewDecision]:
    """Select decisions whose key is not stored yet. Stored decisions are never overwritten."""
    chosen = []
    for batch in batches(cleaned):
        stored = _values_of(project_id, [new.row.key for new in batch])
        for new in batch:
            stored_value = stored.get(new.row.key)
            if stored_value is None:
                chosen.append(new)
                report.took("decisions")
                report.took("revisions", len(new.revisions))
            elif stored_value == (new.row.value, new.row.value_type):
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
    """Write rows, names, revisions, counters and events in batches."""
    for batch in batches(chosen):
        rows = [_resolved(new.row, vocabulary) for new in batch]
        rows = DECISIONS.insert(project_id, rows, vocabulary)
        ids = {row.key: row.id for row in rows}
        revisions = [
            replace(_resolved(old, vocabulary), id=ids[old.key]) for new in batch for old in new.revisions
        ]
        for revision_batch in batches(revisions):
            insert_revisions(project_id, revision_batch)
        changes = [HISTORY.change(None, row) for row in rows]
        HISTORY.record(project_id=project_id, agent_id=None, changes=changes, at=at)
        if revisions:
            index_again(project_id, "decision_revision", revision_ids(project_id, [*ids.values()]))


def _resolved(row: DecisionRow, vocabulary: Vocabulary) -> DecisionRow:
    return replace(
        row,
        agent_id=vocabulary.agent_id(row.agent),
        layer_id=vocabulary.layer_id(row.layer),
        tags=[vocabulary.spelled("tags", tag) for tag in row.tags],
        scopes=[vocabulary.spelled("scopes", scope) for scope in row.scopes],
    )
