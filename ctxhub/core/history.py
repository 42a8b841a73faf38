"""History: updates counters, search index and event log for every change of a noun.

Services and importers call `record`. Writes through the ORM are recorded by the signal receivers that
`watch` connects.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from functools import cached_property, partial
from operator import attrgetter
from typing import Any, ClassVar, Generic

from django.db.models import Model, QuerySet
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_delete, pre_save
from django.dispatch import Signal

from ctxhub.core.bin.binning import Deleted, collect_objects, put_in_bin, too_large
from ctxhub.core.bin.contents import Contents, collect_taken
from ctxhub.core.events import log
from ctxhub.core.events.counters import CounterKey, add_to_counters, counter_key
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import current
from ctxhub.core.kit.deletes import delete_rows, taking
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.models import NamedRow
from ctxhub.core.kit.rows import AuthoredRow, Row, RowT, Table
from ctxhub.core.kit.sql import Reading
from ctxhub.core.kit.transactions import acquire_write_lock, write_transaction
from ctxhub.core.paths.rows import PathRow
from ctxhub.core.paths.services import PatternChange, write_patterns
from ctxhub.core.search.documents import Document, prepare_document
from ctxhub.core.search.index import Fields, KindDocument, forget, ids_showing, index_documents
from ctxhub.core.vocabulary.names import register_agent

NONE: Mapping[int, int] = {}
# Sent in the transaction of the changes, when all but their events is written. Arguments: project_id,
# agent_id (None: an import or a script), changes (a sequence of Change), at.
changed = Signal()


@frozen(slots=False)
class Change(Generic[RowT]):
    """A change of a row: `old` is None for a new row, `new` is None for a deleted one.

    `detail` holds data that only the noun's own history reads. `is_restored`: a new one comes from the bin.
    """

    history: "History[RowT]" = field(repr=False)
    old: RowT | None
    new: RowT | None
    reason: str = ""
    detail: Any = None
    is_restored: bool = False

    @property
    def row(self) -> RowT:
        """The new row, or the old one if it was deleted."""
        row = self.new or self.old
        assert row is not None
        return row

    @cached_property
    def changed(self) -> list[str]:
        """The changed fields, by their names in the API."""
        if self.old is None or self.new is None:
            return []
        old, new = self.history.compare(self.old), self.history.compare(self.new)
        return [name for name in new if old[name] != new[name]]

    @property
    def verb(self) -> str:
        if self.old is None:
            return "restored" if self.is_restored else "created"
        return "deleted" if self.new is None else self.history.verb(self)


class History(Generic[RowT]):
    """Records the changes of a noun. Each noun has a subclass, one instance of it, and calls `watch()`."""

    kind: ClassVar[str]
    table: Table[RowT]
    # The fields compared to detect a change, by their names in the API.
    compared: ClassVar[Sequence[str]]
    # The columns that the counters are grouped by: layer_id, status.
    counted_by: ClassVar[Sequence[str]] = ()
    is_counted: ClassVar[bool] = True
    is_indexed: ClassVar[bool] = True
    # Whether rows that are deleted go into the bin.
    is_binned: ClassVar[bool] = True
    # Whether its rows bear on paths: they are PathRows, and `patterns` says by which globs.
    has_paths: ClassVar[bool] = False
    # The fields that only the history writes: a save through the ORM keeps their stored values.
    own_fields: ClassVar[Sequence[str]] = ()
    # Whether an update makes the current agent the author of the row.
    signs_changes: ClassVar[bool] = False
    # Whether who writes a row counts as given it, as who opens it does: see sessions/given.
    is_given_to_writers: ClassVar[bool] = False
    # The fields that documents are made of; (): all.
    read_for_documents: ClassVar[Sequence[str]] = ()
    # The vocabulary models whose names appear in documents, and the fields that hold them.
    shown: ClassVar[Fields] = {}

    # -- Overridden by nouns -----------------------------------------------------------------------

    def document(self, row: RowT) -> Document | None:
        """The search document of a row; None if it is not searchable."""
        return None

    def version(self, row: RowT) -> str:
        """The version or the revision of a row; "" of nouns without any."""
        return ""

    def note(self, row: RowT) -> str:
        """The note of an event, shown next to the ref. Never a text that may have to be deleted."""
        return ""

    def verb(self, change: Change[RowT]) -> str:
        """The event's verb for an update."""
        return "updated"

    def data(self, change: Change[RowT]) -> dict[str, Any]:
        """The data of the event, without the reason."""
        if change.old and change.new:
            return {"changed": change.changed}
        return {"note": note} if (note := self.note(change.row)) else {}

    def count(self, changes: Sequence[Change[RowT]]) -> Counter[CounterKey]:
        """The increments of the counters."""
        counts: Counter[CounterKey] = Counter()
        for change in changes if self.is_counted else ():
            for row, by in ((change.old, -1), (change.new, 1)):
                if row:
                    counts[self.counter_of(row)] += by
        return counts

    def counter_of(self, row: RowT) -> CounterKey:
        """The key of the counter that counts a row."""
        values = {column: getattr(row, column) for column in self.counted_by}
        return counter_key(self.kind, values.get("layer_id"), values.get("status", 0))

    def patterns(self, row: RowT) -> Sequence[str]:
        """The globs of files that the row bears on; EVERYWHERE for all of them."""
        return row.paths if isinstance(row, PathRow) else ()

    def before_save(self, project_id: int, old: RowT, new: RowT) -> Any:
        """Return data that a save through the ORM overwrites; it becomes the `detail` of the change."""
        return None

    def before_record(
        self, project_id: int, agent_id: int | None, changes: Sequence[Change[RowT]], at: datetime
    ) -> Mapping[int, Any]:
        """Write dependent rows first: revisions, the time of the parent.

        Returns the earlier states written, by row id; `earlier_document` receives them.
        """
        return {}

    def earlier_document(self, state: Any, old: RowT, new: RowT) -> Document | None:
        """The search document of an earlier state; None if all its text is still in the row."""
        return None

    def recompute(self, row: RowT) -> RowT:
        """Recompute dependent fields for a save through the ORM; services compute them themselves."""
        return row

    def complete(self, old: RowT, new: RowT, at: datetime) -> RowT:
        """Set `updated_at` for an update through the ORM, unless the save changes it."""
        if isinstance(old, Row) and isinstance(new, Row) and new.updated_at == old.updated_at:
            return replace(new, updated_at=at)
        return new

    def saved(self, project_id: int, old: RowT | None, row: RowT) -> RowT:
        """The row that a save through the ORM has stored. Read again: an instance may hold other types.

        `row`: the same as the instance has it, for nouns that need no more.
        """
        return self.table.read(project_id, [row.id])[row.id]

    def acting_agent(self, project_id: int, change: Change[RowT], at: datetime) -> int | None:
        """The agent of the event of a write through the ORM, if one of the project acts."""
        caller = current()
        return register_agent(caller, at) if caller and caller.project_id == project_id else None

    def before_delete(self, project_id: int, old: Sequence[RowT]) -> Sequence[RowT]:
        """The other rows that the deletion of rows changes in the database, as they are before it."""
        return ()

    def also_changed(
        self, project_id: int, agent_id: int | None, kept: Sequence[RowT], at: datetime
    ) -> Sequence[Change[RowT]]:
        """The changes that the delete made to the rows of `before_delete`."""
        return ()

    def restoring(self, row: RowT) -> Change[RowT]:
        """The change of a row that comes back from the bin, with its earlier states."""
        return replace(self.change(None, row), is_restored=True)

    def after_save(self, row_id: int) -> None:
        """Repair columns that a stale model instance may have overwritten."""

    # -- Recording ---------------------------------------------------------------------------------

    def change(
        self, old: RowT | None, new: RowT | None, reason: str = "", detail: Any = None
    ) -> Change[RowT]:
        return Change(self, old, new, reason, detail)

    def prepare(self, changes: Sequence[Change[RowT]]) -> None:
        """Compute before the lock what takes time and depends on texts alone: the words of new documents."""
        for change in changes:
            if change.new and self.is_indexed and (document := self.document(change.new)):
                prepare_document(document)

    def record(
        self, *, project_id: int, agent_id: int | None, changes: Sequence[Change[RowT]], at: datetime
    ) -> None:
        """Update counters, index and log, as the last statements of the transaction.

        All rows must have their stored ids, and their tags and scopes in the project's spelling.
        """
        record_changes(project_id=project_id, agent_id=agent_id, changes=changes, at=at)

    def delete(
        self,
        *,
        project_id: int,
        agent_id: int | None,
        rows: Sequence[RowT],
        at: datetime,
        details: Mapping[int, Any] = NONE,
    ) -> None:
        """Delete rows and their dependent rows into the bin, and record it, as the last statements of the
        transaction.

        `details`: the `detail` of the changes, by row id.
        """
        ids = [row.id for row in rows]
        kept = self.before_delete(project_id, rows)
        large = too_large(self.kind, rows)
        with taking() as taken:
            for kind, others in self.taken_along(project_id, ids).items():
                forget(project_id, kind, others)
            if self.is_indexed:
                forget(project_id, self.kind, ids)
            delete_rows(self.table.model, [row_id for row_id in ids if row_id not in large])
        delete_rows(self.table.model, sorted(large))
        owners = {row_id: row_id for row_id in ids if row_id not in large}
        contents = collect_taken(project_id, self.table.model, owners, taken)
        self._put_in_bin(project_id, agent_id, rows, contents, at, details)
        changes = [
            *(self.change(row, None, detail=details.get(row.id)) for row in rows),
            *self.also_changed(project_id, agent_id, kept, at),
        ]
        self.record(project_id=project_id, agent_id=agent_id, changes=changes, at=at)

    def _put_in_bin(
        self,
        project_id: int,
        agent_id: int | None,
        rows: Sequence[RowT],
        contents: Mapping[int, Contents],
        at: datetime,
        details: Mapping[int, Any] = NONE,
    ) -> None:
        if not self.is_binned:
            return
        put_in_bin(
            project_id=project_id,
            kind=self.kind,
            objects=[Deleted(row, self.ref(row)) for row in rows],
            contents=contents,
            agent_id=agent_id,
            at=at,
            before=details,
        )

    def taken_along(self, project_id: int, ids: Sequence[int]) -> Mapping[str, Sequence[int]]:
        """The ids of other index entries that are removed with these rows, by kind."""
        return {}

    def index(
        self, project_id: int, changes: Sequence[Change[RowT]], states: Mapping[int, Any] = NONE
    ) -> None:
        """Index the new rows, and earlier versions where `states` (by row id) has one.

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
        beside = self.made_beside(changes)
        index_documents(project_id, self.kind, documents, are_new=are_new, earlier=earlier, beside=beside)

    def made_beside(self, changes: Sequence[Change[RowT]]) -> Sequence[KindDocument]:
        """The documents of new objects of other kinds that are made with the changes, to index with them."""
        return ()

    def write_patterns(self, project_id: int, changes: Sequence[Change[RowT]]) -> None:
        """Store the globs of the rows; those of deleted rows go through the receiver in core/paths."""
        if self.has_paths:
            write_patterns(project_id, self.kind, [self._pattern_change(c) for c in changes if c.new])

    def _pattern_change(self, change: Change[RowT]) -> PatternChange:
        old, new = change.old, change.row
        stale = old.stale if isinstance(old, PathRow) else 0
        return PatternChange(new.id, self.patterns(old) if old else (), self.patterns(new), stale)

    def event(self, change: Change[RowT], at: datetime) -> log.Change:
        reason = {"reason": change.reason} if change.reason else {}
        return log.Change(self.kind, change.verb, self.ref(change.row), self.data(change) | reason)

    def ref(self, row: RowT) -> str:
        return f"{self.kind}:{row.id}"

    def compare(self, row: RowT) -> dict[str, Any]:
        """The values of the compared fields, by their names in the API."""
        return {name: read(row) for name, read in self._comparers.items()}

    @cached_property
    def _comparers(self) -> dict[str, Callable[[Any], Any]]:
        return {name: _comparer(name, self.table) for name in self.compared}

    # -- Searching, for the noun's registration ----------------------------------------------------

    def documents(self, project_id: int, ids: Sequence[int]) -> Reading[Sequence[Document]]:
        return self.table.reading(project_id, ids, self.read_for_documents).then(
            lambda rows: [document for row in rows.values() if (document := self.document(row))]
        )

    def patterns_of(self, project_id: int, ids: Sequence[int]) -> dict[int, Sequence[str]]:
        """The globs that rows bear on, by their ids."""
        return {row_id: self.patterns(row) for row_id, row in self.table.read(project_id, ids).items()}

    def showing(self, word: NamedRow) -> list[int]:
        """The ids of the rows whose documents contain the name of `word`."""
        return ids_showing(self.table.model, word, self.shown)

    # -- Writing through the ORM -------------------------------------------------------------------

    def watch(self) -> None:
        """Record every save, delete and many-to-many change made through the ORM."""
        model, uid = self.table.model, f"history of {self.kind}"
        pre_save.connect(self._before_save, sender=model, dispatch_uid=uid)
        post_save.connect(self._after_save, sender=model, dispatch_uid=uid)
        pre_delete.connect(self._before_delete, sender=model, dispatch_uid=uid)
        post_delete.connect(self._after_delete, sender=model, dispatch_uid=uid)
        for many in self.table.many.values():
            through = many.remote_field.through
            m2m_changed.connect(
                partial(self._after_links_changed, many), sender=through, weak=False, dispatch_uid=uid
            )

    def _before_save(
        self, instance: Any, raw: bool = False, update_fields: Collection[str] | None = None, **_: Any
    ) -> None:
        """Remember the stored row, and set the dependent fields of the instance."""
        if raw:
            return
        old = self._stored(instance)
        given = self.table.row_of(instance, old, update_fields)
        row, detail = self.recompute(given), None
        if old is None:
            row = self._with_author(None, row)
        else:
            row = replace(row, **{name: getattr(old, name) for name in self.own_fields})
            if self.change(old, row).changed:
                row = self._with_author(old, self.complete(old, row, clock.now()))
                detail = self.before_save(instance.project_id, old, row)
        follows = {**_differences(given, row), **self.table.derive(row)}
        _assign(instance, follows)
        instance._history = _PendingSave(old, row, follows, detail)

    def _after_save(
        self, instance: Any, raw: bool = False, update_fields: Collection[str] | None = None, **_: Any
    ) -> None:
        if raw:
            return
        pending: _PendingSave[RowT] = instance.__dict__.pop("_history")
        if update_fields is not None and pending.follows:
            rows = self.table.model.objects.in_project(instance.project_id)
            rows.filter(pk=instance.pk).update(**pending.follows)
        self.after_save(instance.pk)
        if pending.old:
            self.table.keep_copies(("= %s", [instance.pk]))
        new = self.saved(instance.project_id, pending.old, replace(pending.row, id=instance.pk))
        self._settle(instance.project_id, self.change(pending.old, new, detail=pending.detail))

    def _after_links_changed(
        self, many: Any, instance: Any, action: str, pk_set: set[int] | None, reverse: bool, **_: Any
    ) -> None:
        """Record a change of each row whose links change, from either end. `pk_set` None: all links."""
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
                new = self._with_author(olds[row_id], self.complete(olds[row_id], stored, at))
                self.table.update(instance.project_id, stored, new)
                # New links have no copies yet.
                self.table.keep_copies(("= %s", [row_id]))
                changes.append(self.change(olds[row_id], new))
                if not reverse:
                    _assign(instance, _differences(stored, new))
        self._record(instance.project_id, changes)

    def _before_delete(self, instance: Any, origin: Any = None, **_: Any) -> None:
        if self._is_explicit_delete(origin) and (old := self._stored(instance)):
            project_id, model = instance.project_id, self.table.model
            contents = collect_objects(project_id, self.kind, model, [old]) if self.is_binned else {}
            kept = self.before_delete(project_id, [old])
            instance._history = _PendingDelete(old, kept, contents)

    def _after_delete(self, instance: Any, origin: Any = None, **_: Any) -> None:
        pending: _PendingDelete[RowT] | None = instance.__dict__.pop("_history", None)
        if pending and self._is_explicit_delete(origin):
            self._record(instance.project_id, [self.change(pending.old, None)], pending)

    def _is_explicit_delete(self, origin: Any) -> bool:
        """Whether this row was deleted itself: rows deleted by a cascade get no event of their own."""
        model = origin.model if isinstance(origin, QuerySet) else type(origin)
        return model is self.table.model

    def _stored(self, instance: Any) -> RowT | None:
        acquire_write_lock(instance.project_id)
        return self.table.read(instance.project_id, [instance.pk]).get(instance.pk) if instance.pk else None

    def _with_author(self, old: RowT | None, row: RowT) -> RowT:
        """The row with the current agent as its author, unless the save sets another."""
        if not isinstance(row, AuthoredRow) or (old and not self.signs_changes):
            return row
        author_id = old.agent_id if isinstance(old, AuthoredRow) else None
        if row.agent_id == author_id and (caller := current()):
            return replace(row, agent_id=register_agent(caller, clock.now()), agent=caller.agent)
        return row

    def _settle(self, project_id: int, change: Change[RowT]) -> None:
        """Record a save; if only the search document differs, only index it."""
        if change.old is None or change.changed:
            self._record(project_id, [change])
        elif change.new and self.document(change.old) != self.document(change.new):
            with write_transaction(project_id):
                self.index(project_id, [change])

    def _record(
        self, project_id: int, changes: Sequence[Change[RowT]], deleted: "_PendingDelete[RowT] | None" = None
    ) -> None:
        if changes:
            at = clock.now()
            with write_transaction(project_id):
                agent_id = self.acting_agent(project_id, changes[0], at)
                if deleted:
                    self._put_in_bin(project_id, agent_id, [deleted.old], deleted.contents, at)
                also = self.also_changed(project_id, agent_id, deleted.kept if deleted else (), at)
                self.record(project_id=project_id, agent_id=agent_id, changes=[*changes, *also], at=at)


@frozen
class _PendingSave(Generic[RowT]):
    """Kept from pre_save to post_save: the stored row, the one to store, and its dependent columns."""

    old: RowT | None
    row: RowT
    follows: Mapping[str, Any]
    detail: Any


@frozen
class _PendingDelete(Generic[RowT]):
    """Kept from pre_delete to post_delete: the row, the rows that change with it, what goes into the bin."""

    old: RowT
    kept: Sequence[RowT]
    contents: Mapping[int, Contents]


def record_changes(
    *, project_id: int, agent_id: int | None, changes: Sequence[Change[Any]], at: datetime
) -> None:
    """Record changes of several nouns, with one statement for the counters and one for the events.

    Statements run in a fixed order, so locks are always taken in the same order.
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
        history.write_patterns(project_id, own)
        history.index(project_id, own, states[history])
    changed.send(None, project_id=project_id, agent_id=agent_id, changes=changes, at=at)
    written = [change.history.event(change, at) for change in changes]
    log.record(project_id=project_id, agent_id=agent_id, changes=written, at=at)


def compared_field(name: str, table: Table[Any]) -> str | None:
    """The row's field behind a name of the API (`layer`: `layer_id`, `active`: `is_active`), or None."""
    return next((field for field in (f"{name}_id", f"is_{name}", name) if field in table.fields), None)


def _comparer(name: str, table: Table[Any]) -> Callable[[Any], Any]:
    """Returns a function that reads the comparable value of a field from a row."""
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
