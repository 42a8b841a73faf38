"""History: what every change of a noun leaves behind, whoever writes it: counters, index and events.

Services and importers call `record`; what is written through the ORM reaches it by the receivers of `watch`.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, partial
from operator import attrgetter
from typing import Any, ClassVar, Generic

from django.db.models import Model, QuerySet
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_delete, pre_save

from ctxhub.core.events.services import events
from ctxhub.core.events.services.counters import CounterKey, add_to_counters, counter_key
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import current
from ctxhub.core.kit.deletes import delete_rows
from ctxhub.core.kit.models import NamedRow
from ctxhub.core.kit.rows import RowT, Table
from ctxhub.core.kit.transactions import acquire_write_lock, write_transaction
from ctxhub.core.search.documents import Document
from ctxhub.core.search.services.index import forget, index_documents
from ctxhub.core.search.words_shown import Fields, ids_showing
from ctxhub.core.vocabulary.services.names import register_agent

NONE: Mapping[int, int] = {}


@dataclass(frozen=True)
class Change(Generic[RowT]):
    """What a row was (None: new) and is (None: deleted), and why it was changed.

    `detail`: what only the noun knows of it.
    """

    history: "History[RowT]" = field(repr=False)
    old: RowT | None
    new: RowT | None
    reason: str = ""
    detail: Any = None

    @property
    def row(self) -> RowT:
        """The row as it is, or last was."""
        row = self.new or self.old
        assert row is not None
        return row

    @cached_property
    def changed(self) -> list[str]:
        """The contract's names of what differs."""
        if self.old is None or self.new is None:
            return []
        old, new = self.history.compare(self.old), self.history.compare(self.new)
        return [name for name in new if old[name] != new[name]]

    @property
    def verb(self) -> str:
        if self.old is None:
            return "created"
        return "deleted" if self.new is None else self.history.verb(self)


class History(Generic[RowT]):
    """Subclass it for a noun, make one instance, and `watch()` the model."""

    kind: ClassVar[str]
    table: Table[RowT]
    # The fields whose change is a change of the noun, by the contract's names.
    compared: ClassVar[Sequence[str]]
    # The columns by which the counters are divided: layer_id, status.
    counted_by: ClassVar[Sequence[str]] = ()
    is_counted: ClassVar[bool] = True
    is_indexed: ClassVar[bool] = True
    # Whoever changes a row is its author from then on.
    signs_changes: ClassVar[bool] = False
    # The words that documents show by name, and the fields that hold them.
    shown: ClassVar[Fields] = {}

    # -- What a noun says --------------------------------------------------------------------------

    def document(self, row: RowT) -> Document | None:
        """What it is found by."""
        return None

    def note(self, row: RowT) -> str:
        """What the log says of it beside its ref. Never a text that may have to be deleted."""
        return ""

    def verb(self, change: Change[RowT]) -> str:
        """What happened to a row that is neither new nor deleted."""
        return "updated"

    def data(self, change: Change[RowT]) -> dict[str, Any]:
        """What the event holds beside the reason."""
        if change.old and change.new:
            return {"changed": change.changed}
        return {"note": note} if (note := self.note(change.row)) else {}

    def count(self, changes: Sequence[Change[RowT]]) -> Counter[CounterKey]:
        """By how much the counters change."""
        counts: Counter[CounterKey] = Counter()
        for change in changes if self.is_counted else ():
            for row, by in ((change.old, -1), (change.new, 1)):
                if row:
                    counts[self.place_of(row)] += by
        return counts

    def place_of(self, row: RowT) -> CounterKey:
        """The counter that a row is counted by."""
        values = {column: getattr(row, column) for column in self.counted_by}
        return counter_key(self.kind, values.get("layer_id"), values.get("status", 0))

    def before_save(self, project_id: int, old: RowT, new: RowT) -> Any:
        """Keep what a save through the ORM overwrites; the answer is the `detail` of the change."""
        return None

    def before_record(
        self, project_id: int, agent_id: int | None, changes: Sequence[Change[RowT]], at: datetime
    ) -> Mapping[int, Any]:
        """Write what comes before: revisions, the times of what it belongs to.

        The earlier states that are written, by the ids of their rows, as `earlier_document` takes them.
        """
        return {}

    def earlier_document(self, state: Any, old: RowT, new: RowT) -> Document | None:
        """What an earlier state is found by; None where it said nothing that the row no longer says."""
        return None

    def recompute(self, row: RowT) -> RowT:
        """Fields that follow from others, where the writer is the ORM: services compute them themselves."""
        return row

    def complete(self, old: RowT, new: RowT, at: datetime) -> RowT:
        """What follows from a change through the ORM: its time, unless the writer names another."""
        return replace(new, updated_at=at) if new.updated_at == old.updated_at else new

    def before_delete(self, project_id: int, old: RowT) -> Sequence[RowT]:
        """The rows that the database changes with a delete, as they are before it."""
        return ()

    def also_changed(
        self, project_id: int, agent_id: int | None, kept: Sequence[RowT], at: datetime
    ) -> Sequence[Change[RowT]]:
        """How the rows of `before_delete` have changed by the delete."""
        return ()

    def after_save(self, row_id: int) -> None:
        """What is put right that a stale model instance may have overwritten."""

    # -- Recording ---------------------------------------------------------------------------------

    def change(
        self, old: RowT | None, new: RowT | None, reason: str = "", detail: Any = None
    ) -> Change[RowT]:
        return Change(self, old, new, reason, detail)

    def record(
        self, *, project_id: int, agent_id: int | None, changes: Sequence[Change[RowT]], at: datetime
    ) -> None:
        """Write what changes leave, as the last statements of the transaction.

        All rows carry the ids that they are stored under, and their words as the project writes them.
        """
        record_changes(project_id=project_id, agent_id=agent_id, changes=changes, at=at)

    def delete(self, *, project_id: int, agent_id: int | None, rows: Sequence[RowT], at: datetime) -> None:
        """Delete rows with all that belongs to them, and record it, as the last of the transaction."""
        ids = [row.id for row in rows]
        kept = [also for row in rows for also in self.before_delete(project_id, row)]
        for kind, others in self.taken_along(project_id, ids).items():
            forget(project_id, kind, others)
        if self.is_indexed:
            forget(project_id, self.kind, ids)
        delete_rows(self.table.model, ids)
        changes = [
            *(self.change(row, None) for row in rows),
            *self.also_changed(project_id, agent_id, kept, at),
        ]
        self.record(project_id=project_id, agent_id=agent_id, changes=changes, at=at)

    def taken_along(self, project_id: int, ids: Sequence[int]) -> Mapping[str, Sequence[int]]:
        """What else leaves the index with these rows: ids by kinds."""
        return {}

    def index(
        self, project_id: int, changes: Sequence[Change[RowT]], states: Mapping[int, Any] = NONE
    ) -> None:
        """Index rows as they are, and as they were where earlier `states` are kept, by the ids of the rows.

        Deleted rows leave the index through the post_delete receiver of core/signals.py.
        """
        documents = [document for change in changes if change.new and (document := self.document(change.new))]
        earlier = [
            document
            for change in changes
            if change.old and change.new and change.old.id in states
            if (document := self.earlier_document(states[change.old.id], change.old, change.new))
        ]
        are_new = all(change.old is None for change in changes)
        index_documents(project_id, self.kind, documents, are_new=are_new, earlier=earlier)

    def event(self, change: Change[RowT], at: datetime) -> events.Change:
        reason = {"reason": change.reason} if change.reason else {}
        return events.Change(self.kind, change.verb, self.ref(change.row), self.data(change) | reason)

    def ref(self, row: RowT) -> str:
        return f"{self.kind}:{row.id}"

    def compare(self, row: RowT) -> dict[str, Any]:
        """What is compared of a row, by the contract's names."""
        return {name: read(row) for name, read in self._comparers.items()}

    @cached_property
    def _comparers(self) -> dict[str, Callable[[Any], Any]]:
        return {name: _comparer(name, self.table) for name in self.compared}

    # -- Searching, for the noun's registration ----------------------------------------------------

    def documents(self, project_id: int, ids: Sequence[int]) -> list[Document]:
        rows = self.table.read(project_id, ids).values()
        return [document for row in rows if (document := self.document(row))]

    def showing(self, word: NamedRow) -> list[int]:
        """The ids of the rows whose documents show a word by its name."""
        return ids_showing(self.table.model, word, self.shown)

    # -- Writing through the ORM -------------------------------------------------------------------

    def watch(self) -> None:
        """Record every save, delete and change of words that goes through the model."""
        model, uid = self.table.model, f"history of {self.kind}"
        pre_save.connect(self._before_save, sender=model, dispatch_uid=uid)
        post_save.connect(self._after_save, sender=model, dispatch_uid=uid)
        pre_delete.connect(self._before_delete, sender=model, dispatch_uid=uid)
        post_delete.connect(self._after_delete, sender=model, dispatch_uid=uid)
        for many in self.table.many.values():
            through = many.remote_field.through
            m2m_changed.connect(
                partial(self._words_changed, many), sender=through, weak=False, dispatch_uid=uid
            )

    def _before_save(
        self, instance: Any, raw: bool = False, update_fields: Collection[str] | None = None, **_: Any
    ) -> None:
        """Keep the stored row, and complete the instance by what follows from its change."""
        if raw:
            return
        old = self._stored(instance)
        given = self.table.row_of(instance, old, update_fields)
        row, detail = self.recompute(given), None
        if old is None:
            row = self._signed(None, row)
        elif self.change(old, row).changed:
            row = self._signed(old, self.complete(old, row, clock.now()))
            detail = self.before_save(instance.project_id, old, row)
        follows = {**_differences(given, row), **self.table.derive(row)}
        _assign(instance, follows)
        instance._history = _Pending(old, follows, detail)

    def _after_save(
        self, instance: Any, raw: bool = False, update_fields: Collection[str] | None = None, **_: Any
    ) -> None:
        if raw:
            return
        pending: _Pending[RowT] = instance.__dict__.pop("_history")
        if update_fields is not None and pending.follows:
            rows = self.table.model.objects.in_project(instance.project_id)
            rows.filter(pk=instance.pk).update(**pending.follows)
        self.after_save(instance.pk)
        if pending.old:
            self.table.keep_copies(("= %s", [instance.pk]))
        new = self.table.read(instance.project_id, [instance.pk])[instance.pk]
        self._settle(instance.project_id, self.change(pending.old, new, detail=pending.detail))

    def _words_changed(
        self, many: Any, instance: Any, action: str, pk_set: set[int] | None, reverse: bool, **_: Any
    ) -> None:
        """Words added or removed, from either end, are a change of each row. `pk_set` None: of all."""
        if action.startswith("pre_"):
            acquire_write_lock(instance.project_id)
            ids: Iterable[int] = [instance.pk]
            if reverse:
                rows = getattr(instance, many.remote_field.get_accessor_name())
                ids = rows.values_list("pk", flat=True) if pk_set is None else pk_set
            instance._history_of_words = self.table.read(instance.project_id, sorted(ids))
            return
        olds: Mapping[int, RowT] = instance.__dict__.pop("_history_of_words")
        at = clock.now()
        changes = []
        for row_id, stored in self.table.read(instance.project_id, list(olds)).items():
            if self.change(olds[row_id], stored).changed:
                new = self._signed(olds[row_id], self.complete(olds[row_id], stored, at))
                self.table.update(instance.project_id, stored, new)
                # Links that have just come have no copies yet.
                self.table.keep_copies(("= %s", [row_id]))
                changes.append(self.change(olds[row_id], new))
                if not reverse:
                    _assign(instance, _differences(stored, new))
        self._record(instance.project_id, changes)

    def _before_delete(self, instance: Any, origin: Any = None, **_: Any) -> None:
        if self._is_explicit_delete(origin) and (old := self._stored(instance)):
            instance._history = _Going(old, self.before_delete(instance.project_id, old))

    def _after_delete(self, instance: Any, origin: Any = None, **_: Any) -> None:
        going: _Going[RowT] | None = instance.__dict__.pop("_history", None)
        if going and self._is_explicit_delete(origin):
            self._record(instance.project_id, [self.change(going.old, None)], going.kept)

    def _is_explicit_delete(self, origin: Any) -> bool:
        """What goes with what it belongs to leaves no event of its own."""
        model = origin.model if isinstance(origin, QuerySet) else type(origin)
        return model is self.table.model

    def _stored(self, instance: Any) -> RowT | None:
        acquire_write_lock(instance.project_id)
        return self.table.read(instance.project_id, [instance.pk]).get(instance.pk) if instance.pk else None

    def _signed(self, old: RowT | None, row: RowT) -> RowT:
        """Who acts is the author, unless the writer names another."""
        is_due = old is None or self.signs_changes
        if is_due and row.agent_id == (old.agent_id if old else None) and (caller := current()):
            return replace(row, agent_id=register_agent(caller, clock.now()), agent=caller.agent)
        return row

    def _settle(self, project_id: int, change: Change[RowT]) -> None:
        """Record a save; one that changes nothing but what it is found by is indexed alone."""
        if change.old is None or change.changed:
            self._record(project_id, [change])
        elif change.new and self.document(change.old) != self.document(change.new):
            with write_transaction(project_id):
                self.index(project_id, [change])

    def _record(self, project_id: int, changes: Sequence[Change[RowT]], kept: Sequence[RowT] = ()) -> None:
        if changes:
            at, caller = clock.now(), current()
            with write_transaction(project_id):
                agent_id = register_agent(caller, at) if caller else None
                also = self.also_changed(project_id, agent_id, kept, at)
                self.record(project_id=project_id, agent_id=agent_id, changes=[*changes, *also], at=at)


@dataclass(frozen=True, slots=True)
class _Pending(Generic[RowT]):
    """Kept between the two signals of a save: the row that was stored, and the columns that follow."""

    old: RowT | None
    follows: Mapping[str, Any]
    detail: Any


@dataclass(frozen=True, slots=True)
class _Going(Generic[RowT]):
    """Kept between the two signals of a delete: the row, and those that change with it."""

    old: RowT
    kept: Sequence[RowT]


def record_changes(
    *, project_id: int, agent_id: int | None, changes: Sequence[Change[Any]], at: datetime
) -> None:
    """Record changes of several nouns: one statement for the counters, and one for the events in this order.

    The order of the statements is the order of locks.
    """
    by_history: dict[History[Any], list[Change[Any]]] = {}
    for change in changes:
        by_history.setdefault(change.history, []).append(change)
    counts: Counter[CounterKey] = Counter()
    states: dict[History[Any], Mapping[int, Any]] = {}
    for history, own in by_history.items():
        states[history] = history.before_record(project_id, agent_id, own, at)
        counts.update(history.count(own))
    add_to_counters(project_id, counts)
    for history, own in by_history.items():
        history.index(project_id, own, states[history])
    written = [change.history.event(change, at) for change in changes]
    events.record(project_id=project_id, agent_id=agent_id, changes=written, at=at)


def compared_field(name: str, table: Table[Any]) -> str | None:
    """The field of a row that has the contract's name `layer`, `active`; None: there is none."""
    return next((field for field in (f"{name}_id", f"is_{name}", name) if field in table.fields), None)


def _comparer(name: str, table: Table[Any]) -> Callable[[Any], Any]:
    """What is compared of a row under the contract's name of a field."""
    if name in table.links:
        return lambda row: sorted(word.casefold() for word in getattr(row, name))
    read = attrgetter(compared_field(name, table) or name)
    return lambda row: list(value) if isinstance(value := read(row), tuple) else value


def _differences(old: Any, new: Any) -> dict[str, Any]:
    """The fields in which two rows differ, with the values of the new one; the agent's name is no column."""
    names = [name for name in old.__dataclass_fields__ if getattr(old, name) != getattr(new, name)]
    return {name: getattr(new, name) for name in names if name != "agent"}


def _assign(instance: Model, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        setattr(instance, name, value)
