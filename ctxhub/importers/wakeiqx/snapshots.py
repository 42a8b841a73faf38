"""Imports snapshots. WakeIQX stores only summaries: they become the contents as well."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Any

from django.db.models import IntegerChoices

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import (
    CONTENT_BYTES,
    LIST_LENGTH,
    TEXT_BYTES,
    clean_json,
    clean_name,
    clean_text,
    refuse_secret,
)
from ctxhub.core.text.token_count import count_tokens
from ctxhub.importers.shared.batching import batches_by_size
from ctxhub.importers.shared.imported import IMPORTED_ID, Imported, add_new, as_id, clean_id
from ctxhub.importers.shared.normalising import Normaliser
from ctxhub.importers.shared.report import Report
from ctxhub.importers.shared.truncating import (
    Notes,
    normalise_choice,
    normalise_name,
    normalise_object,
    truncate_text,
)
from ctxhub.importers.shared.values import is_numeric, text_of
from ctxhub.importers.shared.vocabulary import Vocabulary, Wanted
from ctxhub.importers.wakeiqx.reader import OldSnapshot
from memory.snapshots.history import HISTORY
from memory.snapshots.models import SOURCE_LENGTH, ActionType, Snapshot, Tier
from memory.snapshots.rows import SNAPSHOTS, SnapshotRow

IMPORTED_PROJECT = "imported_project"
UNKNOWN = "unknown"
MAX_COUNT = 2**31 - 1


@frozen
class NewSnapshot:
    """A snapshot to import, still without its cause. `cause`: an old id, or empty; `dependencies`: old ids.

    `created_at`: None if the file has no time.
    """

    old_id: str
    row: SnapshotRow
    created_at: datetime | None
    cause: str
    dependencies: Sequence[str]
    notes: Notes = field(default_factory=list)


def clean_snapshots(
    caller: Caller, old_snapshots: Iterable[OldSnapshot], normaliser: Normaliser, at: datetime
) -> dict[str, NewSnapshot]:
    """Validated snapshots by old id. `at` replaces an unknown time."""
    new: dict[str, NewSnapshot] = {}
    for old in old_snapshots:
        try:
            old_id = clean_id(old.id)
            refuse_secret(old_id, "its id", caller)
            add_new(new, old_id, _cleaned(caller, old_id, old, normaliser, at))
        except InvalidInput as error:
            normaliser.leave("snapshots", old.summary or old.id, error)
    return new


def _cleaned(
    caller: Caller, old_id: str, old: OldSnapshot, normaliser: Normaliser, at: datetime
) -> NewSnapshot:
    notes: Notes = []
    if old.at is None:
        notes.append("it had no readable timestamp: the time of the import instead")
    content = _content(caller, old.summary, notes)
    row = SnapshotRow(
        summary=truncate_text(content, "summary", notes, at_most=TEXT_BYTES),
        content=content,
        tokens=count_tokens(content),
        action_type=_choice(old.action_type, ActionType.CONVERSATION, "action_type", notes),
        rationale=clean_text(
            truncate_text(old.rationale, "rationale", notes, at_most=TEXT_BYTES), "rationale", caller
        ),
        tags=normaliser.words("tags", old.tags),
        source=_source(caller, old.source, notes),
        metadata=normalise_object(old.metadata, _own_metadata(caller, old_id, old, notes), caller, notes),
        tier=_choice(old.tier, Tier.ACTIVE, "memory_tier", notes),
        access_count=int(_bounded(old.access_count, "access_count", MAX_COUNT, notes) or 0),
        last_accessed=old.last_accessed,
        created_at=old.at or at,
        updated_at=old.at or at,
    )
    row = replace(row, **_prediction(caller, old, notes))
    return NewSnapshot(old_id, row, old.at, as_id(old.cause), _dependencies(old.dependencies, notes), notes)


def _content(caller: Caller, summary: str, notes: Notes) -> str:
    content = clean_text(
        truncate_text(summary, "content", notes, at_most=CONTENT_BYTES),
        "its summary",
        caller,
        at_most=CONTENT_BYTES,
    )
    if not content.strip():
        raise InvalidInput("its summary is blank.")
    return content


def _choice(value: Any, otherwise: IntegerChoices, name: str, notes: Notes) -> int:
    return int(normalise_choice(value, type(otherwise), name, notes, otherwise=otherwise) or otherwise)


def _source(caller: Caller, value: str | None, notes: Notes) -> str:
    if not (value or "").strip():
        return UNKNOWN
    name = normalise_name(value, "source", notes, at_most=SOURCE_LENGTH)
    refuse_secret(name, "its source", caller)
    return clean_name(name, "its source", at_most=SOURCE_LENGTH)


def _own_metadata(caller: Caller, old_id: str, old: OldSnapshot, notes: Notes) -> dict[str, Any]:
    """The id and the project in WakeIQX, as metadata."""
    if not (old.project or "").strip():
        return {IMPORTED_ID: old_id}
    project = clean_name(normalise_name(old.project, "project", notes), "its project")
    refuse_secret(project, "its project", caller)
    return {IMPORTED_ID: old_id, IMPORTED_PROJECT: project}


def _prediction(caller: Caller, old: OldSnapshot, notes: Notes) -> dict[str, Any]:
    """The fields of the prediction; none without a score."""
    score = _bounded(old.score, "prediction_score", 1, notes)
    if score is None:
        return {}
    return {
        "prediction_score": score,
        "predicted_at": old.predicted_at,
        "predicted_next": old.predicted_next,
        "reasons": _reasons(caller, old.reasons, notes),
    }


def _reasons(caller: Caller, value: Any, notes: Notes) -> list[str]:
    reasons = _texts(value, "propagation_reason", notes)
    try:
        return list(clean_json(reasons[:LIST_LENGTH], "propagation_reason", caller))
    except InvalidInput as error:
        notes.append(f"its propagation_reason is left out: {error.message}")
        return []


def _dependencies(value: Any, notes: Notes) -> list[str]:
    """The old ids of the first fifty dependencies, each once."""
    ids = list(dict.fromkeys(filter(None, map(as_id, _texts(value, "dependencies", notes)))))
    if len(ids) > LIST_LENGTH:
        notes.append(f"it had more than {LIST_LENGTH} dependencies: the others are left out")
    return ids[:LIST_LENGTH]


def _texts(value: Any, name: str, notes: Notes) -> list[str]:
    """The texts in a JSON list."""
    if isinstance(value, list):
        return [text for entry in value if isinstance(entry, (str, int)) and (text := text_of(entry))]
    if value not in (None, "", {}):
        notes.append(f"its {name} were no JSON list, and are left out")
    return []


def _bounded(value: Any, name: str, at_most: int, notes: Notes) -> float | None:
    """A number, limited to 0..`at_most`; None if it is missing or no number."""
    if value in (None, ""):
        return None
    if not is_numeric(value):
        notes.append(f"its {name} was no number, and is left out")
        return None
    number = float(value)
    if not 0 <= number <= at_most:
        notes.append(f"its {name} was not between 0 and {at_most:,}")
    return min(max(number, 0), at_most)


def choose_snapshots(
    project_id: int, cleaned: Mapping[str, NewSnapshot], report: Report
) -> tuple[list[NewSnapshot], dict[str, int]]:
    """Snapshots that are not stored yet, and the ids of stored ones by old id: those that links need too."""
    imported = Imported(project_id, Snapshot)
    chosen: list[NewSnapshot] = []
    existing: dict[str, int] = {}
    for new in cleaned.values():
        if (row_id := imported.find(new.old_id, new.created_at)) is not None:
            existing[new.old_id] = row_id
            report.found("snapshots")
        else:
            chosen.append(new)
            report.took("snapshots")
            for note in new.notes:
                report.changed("snapshots", new.row.summary, note)
    named = {target for new in chosen for target in (new.cause, *new.dependencies)}
    for old_id in named - cleaned.keys():
        if (row_id := imported.find(old_id, None)) is not None:
            existing[old_id] = row_id
    return chosen, existing


def note_snapshots(chosen: Iterable[NewSnapshot], wanted: Wanted) -> None:
    for new in chosen:
        wanted.words["tags"] += new.row.tags


def write_snapshots(
    project_id: int, chosen: Sequence[NewSnapshot], vocabulary: Vocabulary, at: datetime
) -> dict[str, int]:
    """Write snapshots without their links. Returns their ids by old id."""
    ids: dict[str, int] = {}
    for batch in batches_by_size(chosen, lambda new: len(new.row.content.encode())):
        rows = [_resolved(new.row, vocabulary) for new in batch]
        rows = SNAPSHOTS.insert(project_id, rows, vocabulary)
        ids |= {new.old_id: row.id for new, row in zip(batch, rows, strict=True)}
        changes = [HISTORY.change(None, row) for row in rows]
        HISTORY.record(project_id=project_id, agent_id=None, changes=changes, at=at)
    return ids


def _resolved(row: SnapshotRow, vocabulary: Vocabulary) -> SnapshotRow:
    return replace(row, tags=[vocabulary.spelled("tags", tag) for tag in row.tags])
