"""Imports contexts. Names are unique here: of two old contexts with one name the first gets all memories."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import TEXT_BYTES
from ctxhub.core.kit.unset import if_set
from ctxhub.importers.free_context.reader import OldContext
from ctxhub.importers.shared.batching import ROWS_PER_BATCH, batches
from ctxhub.importers.shared.imported import IMPORTED_ID, Imported, add_new, clean_id
from ctxhub.importers.shared.normalising import Normaliser
from ctxhub.importers.shared.report import Report
from ctxhub.importers.shared.truncating import (
    Notes,
    as_object,
    normalise_name,
    normalise_object,
    truncate_text,
)
from ctxhub.importers.shared.vocabulary import Vocabulary, Wanted
from memory.contexts.history import HISTORY
from memory.contexts.inputs import clean_context, is_number
from memory.contexts.models import STACK_LENGTH
from memory.contexts.rows import CONTEXTS, ContextRow, ids_of_names
from memory.models import Context

GENERAL = "general"


@frozen
class NewContext:
    """A context to import. `created_at`: None if the file has none. `old_id`: empty for general_context."""

    old_id: str
    row: ContextRow
    created_at: datetime | None
    notes: Notes = field(default_factory=list)

    @property
    def folded(self) -> str:
        return self.row.name.casefold()


@dataclass(slots=True)
class ContextPlan:
    """The contexts to write (`new`, by case-folded name), and what each old id maps to.

    `existing`: the id of a stored context; `new_names`: the case-folded name of a new one.
    """

    new: dict[str, NewContext] = field(default_factory=dict)
    existing: dict[str, int] = field(default_factory=dict)
    new_names: dict[str, str] = field(default_factory=dict)


def clean_contexts(
    caller: Caller, old_contexts: Iterable[OldContext], normaliser: Normaliser, at: datetime
) -> dict[str, NewContext]:
    """Validated contexts by old id. `at` replaces an unknown time."""
    new: dict[str, NewContext] = {}
    for old in old_contexts:
        try:
            old_id = clean_id(old.id)
            add_new(new, old_id, _cleaned(caller, old_id, old, normaliser, at))
        except InvalidInput as error:
            normaliser.leave("contexts", old.name or old.id, error)
    return new


def _cleaned(
    caller: Caller, old_id: str, old: OldContext, normaliser: Normaliser, at: datetime
) -> NewContext:
    notes: Notes = []
    fields = clean_context(
        caller,
        name=_normalise_name(old.name, notes),
        description=truncate_text(old.description, "description", notes, at_most=TEXT_BYTES),
        stack=normalise_stack(old.stack, notes),
    )
    moment = old.updated_at or old.created_at or at
    row = ContextRow(
        name=if_set(fields.name, ""),
        created_at=old.created_at or moment,
        updated_at=moment,
        changed_at=moment,
        description=if_set(fields.description, ""),
        stack=if_set(fields.stack, ""),
        tags=normaliser.words("tags", parse_tags(old.tags)),
        metadata=normalise_object(
            {**as_object(old.metadata), **old.extra}, {IMPORTED_ID: old_id}, caller, notes
        ),
    )
    return NewContext(old_id, row, old.created_at, notes)


def _normalise_name(value: str | None, notes: Notes) -> str:
    name = normalise_name(value, "name", notes)
    if not is_number(name):
        return name
    notes.append("digits alone mean an id here: its name begins with a word now")
    return f"no. {name}"


def normalise_stack(value: str | None, notes: Notes) -> str | None:
    return normalise_name(value, "stack", notes, at_most=STACK_LENGTH) if value and value.strip() else None


def parse_tags(value: Any) -> list[str]:
    """The texts of tags in a JSON list, or in one text, which may hold several."""
    entries = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return [word for word in entries if isinstance(word, str) and word.strip()]


def general_context(at: datetime) -> NewContext:
    """The context for memories whose own context is missing."""
    row = ContextRow(name=GENERAL, created_at=at, updated_at=at, changed_at=at)
    return NewContext("", row, None)


def choose_contexts(project_id: int, cleaned: Collection[NewContext], report: Report) -> ContextPlan:
    """Select contexts that are not stored yet, neither by old id nor by name."""
    imported, stored = Imported(project_id, Context), _stored_names(project_id, cleaned)
    plan = ContextPlan()
    for new in cleaned:
        row_id = imported.find(new.old_id, new.created_at) if new.old_id else None
        row_id = row_id or stored.get(new.folded)
        if row_id is not None:
            plan.existing[new.old_id] = row_id
            report.found("contexts")
            continue
        plan.new_names[new.old_id] = new.folded
        if new.folded in plan.new:
            report.left("contexts", new.row.name, "the name of another, which takes its memories")
            continue
        plan.new[new.folded] = new
        report.took("contexts")
        for note in new.notes:
            report.changed("contexts", new.row.name, note)
    return plan


def _stored_names(project_id: int, cleaned: Collection[NewContext]) -> dict[str, int]:
    names: dict[str, int] = {}
    for batch in batches(sorted({new.folded for new in cleaned})):
        names |= ids_of_names(project_id, batch)
    return names


def note_contexts(plan: ContextPlan, wanted: Wanted) -> None:
    for new in plan.new.values():
        wanted.words["tags"] += new.row.tags


def write_contexts(
    project_id: int, plan: ContextPlan, vocabulary: Vocabulary, at: datetime
) -> dict[str, int]:
    """Write new contexts. Returns the context id of each old id, stored contexts included."""
    ids: dict[str, int] = {}
    for batch in batches(list(plan.new.values())):
        rows = [_resolved(new.row, vocabulary) for new in batch]
        rows = CONTEXTS.insert(project_id, rows, vocabulary)
        ids |= {new.folded: row.id for new, row in zip(batch, rows, strict=True)}
        changes = [HISTORY.change(None, row) for row in rows]
        HISTORY.record(project_id=project_id, agent_id=None, changes=changes, at=at)
    return plan.existing | {old_id: ids[folded] for old_id, folded in plan.new_names.items()}


def keep_times(plan: ContextPlan, ids: Mapping[str, int]) -> None:
    """Restore updated_at of new contexts, which writing their memories has changed."""
    contexts = [
        Context(pk=ids[new.old_id], updated_at=new.row.updated_at) for new in plan.new.values() if new.old_id
    ]
    Context.unscoped.bulk_update(contexts, ["updated_at"], batch_size=ROWS_PER_BATCH)


def names_of(project_id: int, ids: Sequence[int]) -> dict[int, str]:
    names: dict[int, str] = {}
    for batch in batches(ids):
        names |= dict(Context.objects.in_project(project_id).filter(pk__in=batch).values_list("pk", "name"))
    return names


def _resolved(row: ContextRow, vocabulary: Vocabulary) -> ContextRow:
    return replace(row, tags=[vocabulary.spelled("tags", tag) for tag in row.tags])
