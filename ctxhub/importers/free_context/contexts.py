"""Old contexts become contexts. Here a name is one context's alone: of two the first takes all memories."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import TEXT_BYTES
from ctxhub.core.kit.unset import if_set
from ctxhub.importers.free_context.reader import OldContext
from ctxhub.importers.shared.batching import AT_ONCE, batches
from ctxhub.importers.shared.imported import IMPORTED_ID, Imported, add_new, clean_id
from ctxhub.importers.shared.normalising import Fitting
from ctxhub.importers.shared.report import Report
from ctxhub.importers.shared.truncating import Notes, as_object, fit_name, fit_object, fit_text
from ctxhub.importers.shared.vocabulary import Vocabulary, Wanted
from memory.memories.history.contexts import HISTORY
from memory.memories.inputs.contexts import clean_context, is_number
from memory.memories.models.context import STACK_LENGTH
from memory.memories.rows.contexts import CONTEXTS, ContextRow, ids_of_names
from memory.models import Context

GENERAL = "general"


@dataclass(frozen=True, slots=True)
class NewContext:
    """`created_at`: None where the file does not say. `old_id` is empty for the one that is made here."""

    old_id: str
    row: ContextRow
    created_at: datetime | None
    notes: Notes = field(default_factory=list)

    @property
    def folded(self) -> str:
        return self.row.name.casefold()


@dataclass(slots=True)
class Chosen:
    """`new`: what is written, by case-folded name.

    What an old id means: `here`, one that is here; `named`, which of the new ones.
    """

    new: dict[str, NewContext] = field(default_factory=dict)
    here: dict[str, int] = field(default_factory=dict)
    named: dict[str, str] = field(default_factory=dict)


def clean_contexts(
    caller: Caller, olds: Iterable[OldContext], fit: Fitting, at: datetime
) -> dict[str, NewContext]:
    """By their old ids. `at` stands in for a time that is not known."""
    new: dict[str, NewContext] = {}
    for old in olds:
        try:
            old_id = clean_id(old.id)
            add_new(new, old_id, _cleaned(caller, old_id, old, fit, at))
        except InvalidInput as error:
            fit.leave("contexts", old.name or old.id, error)
    return new


def _cleaned(caller: Caller, old_id: str, old: OldContext, fit: Fitting, at: datetime) -> NewContext:
    notes: Notes = []
    fields = clean_context(
        caller,
        name=_named(old.name, notes),
        description=fit_text(old.description, "description", notes, at_most=TEXT_BYTES),
        stack=fit_stack(old.stack, notes),
    )
    moment = old.updated_at or old.created_at or at
    row = ContextRow(
        name=if_set(fields.name, ""),
        created_at=old.created_at or moment,
        updated_at=moment,
        changed_at=moment,
        description=if_set(fields.description, ""),
        stack=if_set(fields.stack, ""),
        tags=fit.words("tags", words_of(old.tags)),
        metadata=fit_object({**as_object(old.metadata), **old.beside}, {IMPORTED_ID: old_id}, caller, notes),
    )
    return NewContext(old_id, row, old.created_at, notes)


def _named(said: str | None, notes: Notes) -> str:
    name = fit_name(said, "name", notes)
    if not is_number(name):
        return name
    notes.append("digits alone mean an id here: its name begins with a word now")
    return f"no. {name}"


def fit_stack(said: str | None, notes: Notes) -> str | None:
    return fit_name(said, "stack", notes, at_most=STACK_LENGTH) if said and said.strip() else None


def words_of(said: Any) -> list[str]:
    """Tags as a JSON list, or as a text with commas."""
    listed = said.split(",") if isinstance(said, str) else said if isinstance(said, list) else []
    return [word for word in listed if isinstance(word, str) and word.strip()]


def general_context(at: datetime) -> NewContext:
    """Where memories lie whose context is gone."""
    row = ContextRow(name=GENERAL, created_at=at, updated_at=at, changed_at=at)
    return NewContext("", row, None)


def choose_contexts(project_id: int, cleaned: Collection[NewContext], report: Report) -> Chosen:
    """Those that are not here, neither by the id that they had nor by their name."""
    imported, stored = Imported(project_id, Context), _stored_names(project_id, cleaned)
    chosen = Chosen()
    for new in cleaned:
        row_id = imported.find(new.old_id, new.created_at) if new.old_id else None
        row_id = row_id or stored.get(new.folded)
        if row_id is not None:
            chosen.here[new.old_id] = row_id
            report.found("contexts")
            continue
        chosen.named[new.old_id] = new.folded
        if new.folded in chosen.new:
            report.left("contexts", new.row.name, "the name of another, which takes its memories")
            continue
        chosen.new[new.folded] = new
        report.took("contexts")
        for note in new.notes:
            report.changed("contexts", new.row.name, note)
    return chosen


def _stored_names(project_id: int, cleaned: Collection[NewContext]) -> dict[str, int]:
    found: dict[str, int] = {}
    for batch in batches(sorted({new.folded for new in cleaned})):
        found |= ids_of_names(project_id, batch)
    return found


def note_contexts(chosen: Chosen, wanted: Wanted) -> None:
    for new in chosen.new.values():
        wanted.words["tags"] += new.row.tags


def write_contexts(project_id: int, chosen: Chosen, vocabulary: Vocabulary, at: datetime) -> dict[str, int]:
    """What each old id means here, those that were here included."""
    ids: dict[str, int] = {}
    for batch in batches(list(chosen.new.values())):
        rows = [_placed(new.row, vocabulary) for new in batch]
        rows = CONTEXTS.insert(project_id, rows, vocabulary)
        ids |= {new.folded: row.id for new, row in zip(batch, rows, strict=True)}
        changes = [HISTORY.change(None, row) for row in rows]
        HISTORY.record(project_id=project_id, agent_id=None, changes=changes, at=at)
    return chosen.here | {old_id: ids[folded] for old_id, folded in chosen.named.items()}


def keep_times(chosen: Chosen, ids: Mapping[str, int]) -> None:
    """Memories that come with their context are no news of it."""
    contexts = [
        Context(pk=ids[new.old_id], updated_at=new.row.updated_at)
        for new in chosen.new.values()
        if new.old_id
    ]
    Context.unscoped.bulk_update(contexts, ["updated_at"], batch_size=AT_ONCE)


def names_of(project_id: int, ids: Sequence[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for batch in batches(ids):
        found |= dict(Context.objects.in_project(project_id).filter(pk__in=batch).values_list("pk", "name"))
    return found


def _placed(row: ContextRow, vocabulary: Vocabulary) -> ContextRow:
    return replace(row, tags=[vocabulary.spelled("tags", tag) for tag in row.tags])
