"""Brings objects back from the bin: their rows under their ids, and what pointed to them."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from types import SimpleNamespace
from typing import Any

from django.db.models import Model

from ctxhub.core import registry
from ctxhub.core.bin.binning import hand_over
from ctxhub.core.bin.contents import (
    Contents,
    Pointer,
    key_columns,
    noun_of,
    unpacked,
    word_columns,
)
from ctxhub.core.bin.declaration import joined
from ctxhub.core.bin.models import BinItem, BinPart, BinState
from ctxhub.core.bin.sql import (
    Values,
    derive_new_columns,
    existing,
    fill,
    insert_rows,
    is_name_taken,
    names_of,
    remove_entries,
    still_empty,
)
from ctxhub.core.events import log
from ctxhub.core.events.counters import CounterKey, add_to_counters, counter_key
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.batches import BYTES_AT_ONCE, ROWS_AT_ONCE, do_first, done_before
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.models import NamedRow
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import PathPattern
from ctxhub.core.paths.services import PatternChange, write_patterns, write_stale
from ctxhub.core.registry import Noun
from ctxhub.core.search.index import index_documents
from ctxhub.core.transfer.declaration import exported_kind
from ctxhub.core.transfer.records import WORDS
from ctxhub.core.vocabulary.names import register_agent

Key = tuple[type[Model], int]
"""An object: its model and its id."""


class Restoring:
    """Restores objects of a project one after another, in the open transaction.

    `is_dry`: only finds out what would be in the way, as if those before were back.
    """

    def __init__(self, caller: Caller, *, is_dry: bool = False) -> None:
        self._caller, self._is_dry = caller, is_dry
        self._back: set[Key] = set()
        self._names: set[tuple[Any, ...]] = set()

    def restore(self, item: BinItem, when_begun: Callable[[], object]) -> None:
        """Restore an object. Raises Conflict if its name is taken, or if what it lies in is gone.

        A large one is restored before the transaction, which then begins again; `when_begun` is called then.
        """
        parts = _Parts(item)
        self.refuse(item, parts)
        if self._is_dry:
            return
        key = f"bin:{item.pk}"
        if parts.are_many and done_before(key) is None:
            do_first(key, partial(_restore_step, self._caller, item.pk, key, when_begun))
            return
        while _restore_parts(self._caller, item, parts):
            parts = _Parts(item)

    def refuse(self, item: BinItem, parts: "_Parts") -> None:
        """Raise Conflict for an object that cannot come back."""
        noun = registry.find_noun(item.kind)
        row = parts.object(noun) if noun else None
        if noun is None or row is None:
            return
        self._refuse_name(item, noun, row)
        refuse_without_container(item, noun.model, row, self._back)
        self._back.add((noun.model, item.object_id))

    def _refuse_name(self, item: BinItem, noun: Noun, row: Values) -> None:
        exported = exported_kind(item.kind)
        name = {column: row[column] for column in exported.natural} if exported else {}
        if not name or any(value in (None, "") for value in name.values()):
            return
        key = (item.kind, *name.values())
        if key in self._names or is_name_taken(item.project_id, noun.model, name):
            raise _taken(item)
        self._names.add(key)


def refuse_without_container(
    item: BinItem, model: type[Model], row: Values, back: set[Key] | frozenset[Key] = frozenset()
) -> None:
    """Raise Conflict if what an object lies in is gone."""
    words = word_columns(model)
    fields = {each.attname: each for each in model._meta.concrete_fields}
    for column, target in key_columns(model).items():
        if column in words or fields[column].null or row.get(column) is None:
            continue
        if (target, row[column]) in back or existing(item.project_id, target, [row[column]]):
            continue
        container = _in_bin(item.project_id, target, row[column])
        ref = container.ref if container else f"{_kind(target)}:{row[column]}"
        raise Conflict(
            f"{ref}, in which {item.ref} lay, is gone.",
            hint=f"Undo the deletion of {ref} first, or in the same call." if container else "",
        )


def _restore_step(
    caller: Caller, item_id: int, key: str, when_begun: Callable[[], object]
) -> Mapping[str, int]:
    """Restore a part of a large object in a transaction of its own; nothing if there is none left.

    Stops if the object is deleted again meanwhile, or if something is in the way.
    """
    steps = done_before(key)
    with write_transaction(caller.project_id):
        item = BinItem.objects.in_project(caller.project_id).filter(pk=item_id).first()
        if item is None or (steps and item.state == BinState.KEPT):
            return {}
        parts = _Parts(item)
        try:
            Restoring(caller).refuse(item, parts)
            _restore_parts(caller, item, parts)
        except Conflict:
            return {}
    when_begun()
    return {"parts": 1}


# -- The parts of an object ------------------------------------------------------------------------


@frozen
class _Size:
    part_id: int
    bytes: int
    count: int


class _Parts:
    """The parts of an object, that with the object first."""

    def __init__(self, item: BinItem) -> None:
        self._item = item
        parts = BinPart._base_manager.filter(item=item.pk).order_by("-has_object", "pk")
        self.sizes = [_Size(*each) for each in parts.values_list("pk", "size", "count")]
        self._read: dict[int, BinPart] = {}

    @property
    def are_many(self) -> bool:
        """Whether they are restored in more than one transaction."""
        return len(self.first()) < len(self.sizes)

    def first(self) -> list[int]:
        """The ids of those that one transaction restores, at least one."""
        chosen: list[_Size] = []
        for size in self.sizes:
            total, count = sum(each.bytes for each in chosen), sum(each.count for each in chosen)
            if chosen and (total + size.bytes > BYTES_AT_ONCE or count + size.count > ROWS_AT_ONCE):
                break
            chosen.append(size)
        return [each.part_id for each in chosen]

    def read(self, ids: Sequence[int]) -> list[BinPart]:
        if unread := [part_id for part_id in ids if part_id not in self._read]:
            self._read |= {part.pk: part for part in BinPart._base_manager.filter(pk__in=unread)}
        return [self._read[part_id] for part_id in ids]

    def object(self, noun: Noun) -> Values | None:
        """The row of the object itself; None if it was never deleted, or is back already."""
        [first] = self.read([self.sizes[0].part_id]) if self.sizes else [None]
        if first is None or not first.has_object:
            return None
        return unpacked(bytes(first.data)).row(noun.model, self._item.object_id)


def _restore_parts(caller: Caller, item: BinItem, parts: _Parts) -> bool:
    """Restore what one transaction can of an object, and forget it in the bin; whether there is more."""
    chosen = parts.first()
    at = clock.now()
    agent_id = register_agent(caller, at)
    for part in parts.read(chosen):
        _Part(item, unpacked(bytes(part.data)), part.has_object, agent_id, at).restore()
    if len(chosen) == len(parts.sizes):
        remove_entries([item.pk])
        return False
    BinPart._base_manager.filter(pk__in=chosen).delete()
    BinItem._base_manager.filter(pk=item.pk).update(state=BinState.PARTIAL)
    return True


class _Part:
    """Restores a part of an object. What joins others that lie in the bin waits there for them."""

    def __init__(
        self, item: BinItem, contents: Contents, has_object: bool, agent_id: int | None, at: datetime
    ) -> None:
        noun = registry.find_noun(item.kind)
        assert noun
        self._item, self._noun, self._contents, self._has_object = item, noun, contents, has_object
        self._project_id, self._agent_id, self._at = item.project_id, agent_id, at
        self._left: dict[int, Contents] = defaultdict(Contents)  # By the id of another entry of the bin.
        self._items: dict[Key, BinItem | None] = {}

    def restore(self) -> None:
        self._give_words()
        stale = self._contents.rows.pop(PathPattern, [])
        self._drop_loose_rows()
        self._insert()
        changes = self._point()
        self._index_contents()
        self._record(changes)
        write_stale(stale)
        for item_id, contents in self._left.items():
            item = next(item for item in self._items.values() if item and item.pk == item_id)
            contents.names = self._contents.names
            hand_over(item, contents)

    def _insert(self) -> None:
        """Insert the rows, that of the object first. Raises Conflict, before any other, if it cannot be."""
        rows = self._contents.rows
        object_id = self._item.object_id if self._has_object else 0
        own = self._contents.row(self._noun.model, object_id)
        if own and not insert_rows(self._project_id, self._noun.model, [own]):
            raise _taken(self._item)
        for model, some in rows.items():
            others = some if model is not self._noun.model else [row for row in some if row is not own]
            insert_rows(self._project_id, model, others)
            history: Any = noun.history if (noun := noun_of(model)) else None
            if history:
                derive_new_columns(self._project_id, history.table, some)

    # -- What the rows point to --------------------------------------------------------------------

    def _give_words(self) -> None:
        """Let the rows have the words of these names, where one was deleted meanwhile."""
        found = names_of(self._contents.names)
        for model, names in self._contents.names.items():
            gone = names.keys() - found.get(model, {}).keys()
            ids = {row_id: self._word(model, names[row_id]) for row_id in sorted(gone)}
            if ids:
                self._replace_words(model, ids)

    def _word(self, model: Any, name: str) -> int:
        known = model.objects.in_project(self._project_id).filter(folded=name.casefold()).first()
        word: NamedRow = known or model.objects.create(project_id=self._project_id, name=name)
        return int(word.pk)

    def _replace_words(self, words: type[Model], ids: Mapping[int, int]) -> None:
        for model, rows in self._contents.rows.items():
            columns = [column for column, to in word_columns(model).items() if to is words]
            for row in rows:
                row |= {column: ids[row[column]] for column in columns if row.get(column) in ids}

    def _drop_loose_rows(self) -> None:
        """Drop the rows that join what is gone, and clear the keys that may be empty."""
        own = {model: {*self._contents.ids(model)} for model in self._contents.rows}
        for model, rows in self._contents.rows.items():
            for column, target in key_columns(model).items():
                if target not in WORDS:
                    self._settle(model, rows, column, target, own.get(target, set()))
        for each in joined:
            rows = self._contents.rows.get(each.model, [])
            for kind_column, id_column in each.ends:
                for kind in {row[kind_column] for row in rows}:
                    if noun := registry.find_noun(kind):
                        of_kind = [row for row in rows if row[kind_column] == kind]
                        known = own.get(noun.model, set())
                        self._settle(each.model, of_kind, id_column, noun.model, known)

    def _settle(
        self, model: type[Model], rows: Sequence[Values], column: str, target: type[Model], own: set[int]
    ) -> None:
        wanted = {row[column] for row in rows if row.get(column) is not None} - own
        gone = wanted - existing(self._project_id, target, wanted)
        if not gone:
            return
        is_null = model._meta.get_field(column.removesuffix("_id")).null if _is_key(model, column) else False
        for row in [row for row in rows if row.get(column) in gone]:
            other = self._in_bin(target, row[column])
            if is_null:
                if other:
                    pointer = Pointer(model, column, row["id"], row[column])
                    self._left[other.pk].pointers.append(pointer)
                row[column] = None
                continue
            self._contents.rows[model].remove(row)
            if other:
                self._left[other.pk].rows[model].append(row)

    def _in_bin(self, model: type[Model], row_id: int) -> BinItem | None:
        key = (model, row_id)
        if key not in self._items:
            self._items[key] = _in_bin(self._project_id, model, row_id)
        return self._items[key]

    # -- What points to the rows -------------------------------------------------------------------

    def _point(self) -> list[Any]:
        """Set the keys that the deletion cleared, where nobody has set them since; the changes to record."""
        groups: dict[tuple[type[Model], str, int], list[int]] = defaultdict(list)
        for each in self._contents.pointers:
            groups[each.model, each.column, each.target].append(each.row_id)
        changes: list[Any] = []
        for (model, column, target), ids in groups.items():
            changes += self._point_to(model, column, target, ids)
        return changes

    def _point_to(self, model: type[Model], column: str, target: int, ids: Sequence[int]) -> list[Any]:
        pointed_to = key_columns(model).get(column, self._noun.model)
        if not existing(self._project_id, pointed_to, [target]):
            self._leave_pointers(pointed_to, target, model, column, target, ids)
            return []
        for row_id in {*ids} - existing(self._project_id, model, ids):
            self._leave_pointers(model, row_id, model, column, target, [row_id])
        empty = still_empty(self._project_id, model, column, ids)
        if not empty:
            return []
        noun = noun_of(model)
        history: Any = noun.history if noun else None
        kept = list(history.table.read(self._project_id, empty).values()) if history else []
        fill(model, column, empty, target)
        return list(history.also_changed(self._project_id, self._agent_id, kept, self._at)) if history else []

    def _leave_pointers(
        self,
        where: type[Model],
        where_id: int,
        model: type[Model],
        column: str,
        target: int,
        ids: Sequence[int],
    ) -> None:
        other = self._in_bin(where, where_id)
        if other and other.pk != self._item.pk:
            self._left[other.pk].pointers += [Pointer(model, column, row_id, target) for row_id in ids]

    # -- What follows ------------------------------------------------------------------------------

    def _index_contents(self) -> None:
        """Write the counters, globs and search entries of what went along, with earlier states."""
        counts: Counter[CounterKey] = Counter()
        for model, rows in self._contents.rows.items():
            noun = noun_of(model)
            if noun is None or not rows or (model is self._noun.model and self._has_object):
                continue
            ids = [row["id"] for row in rows]
            counts += _counted(noun, rows)
            for some in sql.chunks(ids, ROWS_AT_ONCE):
                self._index_some(noun, some)
            self._index_states(noun, ids)
        if counts:
            add_to_counters(self._project_id, counts)

    def _index_some(self, noun: Noun, ids: Sequence[int]) -> None:
        history: Any = noun.history
        if history:
            rows = history.table.read(self._project_id, ids)
            if history.has_paths:
                changes = [PatternChange(row_id, (), history.patterns(row)) for row_id, row in rows.items()]
                write_patterns(self._project_id, noun.kind, changes)
            documents = [document for row in rows.values() if (document := history.document(row))]
        else:
            documents = list(noun.documents(self._project_id, ids).now()) if noun.documents else []
        if noun.documents:
            index_documents(self._project_id, noun.kind, documents, are_new=True)

    def _index_states(self, noun: Noun, ids: Sequence[int]) -> None:
        states = registry.earlier_states(noun.kind)
        if not states or not states.states_of or not states.documents:
            return
        for some in sql.chunks(list(states.states_of(self._project_id, ids)), ROWS_AT_ONCE):
            documents = states.documents(self._project_id, some).now()
            index_documents(self._project_id, states.kind, documents, are_new=True)

    def _record(self, changes: Sequence[Any]) -> None:
        """Record the object, or that it has more of its contents again."""
        item, noun = self._item, self._noun
        history: Any = noun.history
        if not self._has_object:
            exported = exported_kind(item.kind)
            if exported and exported.finish and self._contents.rows:
                exported.finish(self._project_id, [item.object_id])
            self._record_contents()
        else:
            self._index_states(noun, [item.object_id])
            row = history.table.read(self._project_id, [item.object_id])[item.object_id]
            changes = [history.restoring(row), *changes]
        if changes:
            recorder: Any = history or changes[0].history
            recorder.record(
                project_id=self._project_id, agent_id=self._agent_id, changes=changes, at=self._at
            )

    def _record_contents(self) -> None:
        plurals = sorted(
            noun.plural
            for model, rows in self._contents.rows.items()
            if rows and (noun := noun_of(model)) and noun.documents
        )
        if plurals:
            change = log.Change(self._item.kind, "updated", self._item.ref, {"changed": plurals})
            log.record(project_id=self._project_id, agent_id=self._agent_id, changes=[change], at=self._at)


# -- Helpers ---------------------------------------------------------------------------------------


def _taken(item: BinItem) -> Conflict:
    # Not by its name: a token that may only write is not told it.
    return Conflict(
        f"There is another {item.kind} of the name that {item.ref} had.",
        hint="Rename or delete that one, and undo again.",
    )


def _in_bin(project_id: int, model: type[Model], row_id: int) -> BinItem | None:
    """The entry of an object that is in the bin by itself."""
    items = BinItem.objects.in_project(project_id).exclude(state=BinState.NOT_KEPT)
    return items.filter(kind=_kind(model), object_id=row_id).first()


def _kind(model: type[Model]) -> str:
    noun = noun_of(model)
    return noun.kind if noun else ""


def _is_key(model: type[Model], column: str) -> bool:
    return column in key_columns(model)


def _counted(noun: Noun, rows: Sequence[Values]) -> Counter[CounterKey]:
    """The increments of the counters for objects that are back."""
    exported = exported_kind(noun.kind)
    if exported and exported.counter:
        return Counter(key for row in rows if (key := exported.counter(row)))
    if noun.counting or noun.count is None:
        return Counter()
    history: Any = noun.history
    if history and history.is_counted:
        return Counter(history.counter_of(SimpleNamespace(**row)) for row in rows)
    return Counter({counter_key(noun.kind): len(rows)})
