"""What lies in the bin of an object: its rows, those that went with it, and the keys that were cleared."""

import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from django.apps import apps
from django.db.models import ForeignKey, Model

from ctxhub.core import registry
from ctxhub.core.bin.declaration import Joined, cleared, joined
from ctxhub.core.bin.sql import (
    Values,
    as_values,
    cascading,
    clearing,
    names_of,
    read_pointers,
    read_rows,
)
from ctxhub.core.kit import sql
from ctxhub.core.kit.deletes import Taken
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.pages import Condition
from ctxhub.core.registry import Noun
from ctxhub.core.transfer.records import WORDS

QUICKLY = 1  # zlib's level: a deletion waits for it.


@frozen
class Pointer:
    """A column of a row that held the id of a deleted one."""

    model: type[Model]
    column: str
    row_id: int
    target: int


@dataclass(slots=True)
class Contents:
    """Rows by their model, pointers to them that were cleared, and the names of the words that they have."""

    rows: dict[type[Model], list[Values]] = field(default_factory=lambda: defaultdict(list))
    pointers: list[Pointer] = field(default_factory=list)
    names: dict[type[Model], dict[int, str]] = field(default_factory=dict)

    def row(self, model: type[Model], row_id: int) -> Values | None:
        return next((row for row in self.rows.get(model, ()) if row["id"] == row_id), None)

    def ids(self, model: type[Model]) -> list[int]:
        return [row["id"] for row in self.rows.get(model, ())]

    @property
    def is_empty(self) -> bool:
        return not self.pointers and not any(self.rows.values())

    def counts(self, but: type[Model]) -> Counter[str]:
        """How many rows of other models these are, by their plural; without earlier states and links."""
        links = {many.remote_field.through for model in self.rows for many in model._meta.many_to_many}
        counts: Counter[str] = Counter()
        for model, rows in self.rows.items():
            if rows and model not in (but, *links, *_silent()):
                counts[plural_of(model)] += len(rows)
        return counts

    def packed(self) -> tuple[bytes, int]:
        """The compressed JSON, and its size before."""
        data = {
            "rows": {
                model._meta.label_lower: {
                    "columns": list(rows[0]),
                    "rows": [list(row.values()) for row in rows],
                }
                for model, rows in self.rows.items()
                if rows
            },
            "pointers": [
                [each.model._meta.label_lower, each.column, each.row_id, each.target]
                for each in self.pointers
            ],
            "names": {model._meta.label_lower: names for model, names in self.names.items()},
        }
        text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
        return zlib.compress(text, QUICKLY), len(text)


def unpacked(packed: bytes) -> Contents:
    """The contents that were packed, also by an older release: without the tables that are gone."""
    data = json.loads(zlib.decompress(packed).decode("utf-8", "surrogatepass"))
    contents = Contents()
    for label, table in data["rows"].items():
        if model := _model(label):
            contents.rows[model] = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    contents.pointers = [
        Pointer(model, column, row_id, target)
        for label, column, row_id, target in data["pointers"]
        if (model := _model(label)) and column in {each.attname for each in model._meta.concrete_fields}
    ]
    contents.names = {
        model: {int(row_id): name for row_id, name in names.items()}
        for label, names in data["names"].items()
        if (model := _model(label))
    }
    return contents


def collect(project_id: int, model: type[Model], owners: Mapping[int, int]) -> dict[int, Contents]:
    """What the deletion of rows will take along and clear, by what they go into the bin with.

    `owners`: for each row the object whose entry in the bin gets it. A fixed number of statements.
    """
    return _Collector(project_id, _Stored()).collect(model, owners)


def collect_taken(
    project_id: int, model: type[Model], owners: Mapping[int, int], taken: Taken
) -> dict[int, Contents]:
    """The same of rows that were deleted and taken with all that went along."""
    return _Collector(project_id, _OfTaken(taken)).collect(model, owners)


class _Stored:
    """Rows that are still there."""

    def rows(self, model: type[Model], column: str, ids: Sequence[int]) -> list[Values]:
        return read_rows(model, sql.among(column, ids))

    def pointers(self, model: type[Model], column: str, ids: Sequence[int]) -> Iterable[tuple[int, int]]:
        return read_pointers(model, column, ids)

    def joined(self, each: Joined, kinds: Mapping[str, Mapping[int, int]]) -> list[Values]:
        conditions = [_names(ends, kind, owners) for ends in each.ends for kind, owners in kinds.items()]
        return read_rows(each.model, _any_of(conditions))


class _OfTaken:
    """Rows that a deletion has taken."""

    def __init__(self, taken: Taken) -> None:
        self._cleared = taken.cleared
        self._rows = {model: as_values(model, rows) for model, rows in taken.rows.items()}

    def rows(self, model: type[Model], column: str, ids: Sequence[int]) -> list[Values]:
        wanted = {*ids}
        return [row for row in self._rows.get(model, ()) if row[column] in wanted]

    def pointers(self, model: type[Model], column: str, ids: Sequence[int]) -> Iterable[tuple[int, int]]:
        wanted = {*ids}
        return [pointer for pointer in self._cleared.get((model, column), ()) if pointer[1] in wanted]

    def joined(self, each: Joined, _: Mapping[str, Mapping[int, int]]) -> list[Values]:
        return self._rows.get(each.model, [])


class _Collector:
    def __init__(self, project_id: int, source: _Stored | _OfTaken) -> None:
        self._found: dict[int, Contents] = defaultdict(Contents)
        self._project_id, self._source = project_id, source
        self._owners: dict[type[Model], dict[int, int]] = defaultdict(dict)

    def collect(self, model: type[Model], owners: Mapping[int, int]) -> dict[int, Contents]:
        self._follow(model, "id", owners)
        self._join()
        self._name()
        return self._found

    def _follow(self, model: type[Model], column: str, owners: Mapping[int, int]) -> None:
        """Take the rows whose column has one of these ids, and those that go with them."""
        new = self._take(model, self._source.rows(model, column, list(owners)), column, owners)
        if not new:
            return
        for key in cascading(model):
            self._follow(key.model, key.column, new)
        for key in clearing(model):
            self._add_pointers(key.model, key.column, new, self._source)

    def _join(self) -> None:
        """Take what goes with the objects without a foreign key."""
        kinds = {
            noun.kind: owners
            for noun in registry.all_nouns()
            if (owners := self._owners.get(noun.model)) and not noun.earlier_states_of
        }
        for each in joined if kinds else ():
            for row in self._source.joined(each, kinds):
                ends = ((kinds.get(row[kind], {}), row[row_id]) for kind, row_id in each.ends)
                if owner := next((owners[end] for owners, end in ends if end in owners), 0):
                    self._take(each.model, [row], "id", {row["id"]: owner})
        for column in cleared:
            if owners := kinds.get(column.kind):
                self._add_pointers(column.model, column.column, owners, _Stored())

    def _name(self) -> None:
        """Remember the names of the words that the rows have: a word may be deleted meanwhile."""
        wanted = {owner: _words_in(contents.rows) for owner, contents in self._found.items()}
        all_ids: dict[type[Model], set[int]] = defaultdict(set)
        for ids in wanted.values():
            for model, some in ids.items():
                all_ids[model] |= some
        names = names_of(all_ids)
        for owner, ids in wanted.items():
            self._found[owner].names = {
                model: {row_id: names[model][row_id] for row_id in some if row_id in names[model]}
                for model, some in ids.items()
                if some
            }

    def _take(
        self, model: type[Model], rows: Iterable[Values], column: str, owners: Mapping[int, int]
    ) -> dict[int, int]:
        """Take the rows that are new; returns their owners."""
        new: dict[int, int] = {}
        for row in rows:
            if row["id"] in self._owners[model]:
                continue
            owner = new[row["id"]] = owners[row[column]]
            self._found[owner].rows[model].append(row)
        self._owners[model] |= new
        return new

    def _add_pointers(
        self, model: type[Model], column: str, owners: Mapping[int, int], source: _Stored | _OfTaken
    ) -> None:
        for row_id, target in source.pointers(model, column, list(owners)):
            self._found[owners[target]].pointers.append(Pointer(model, column, row_id, target))


def word_columns(model: type[Model]) -> Mapping[str, type[Model]]:
    """The columns that hold ids of words: agents, tags, scopes, categories, layers."""
    return {column: to for column, to in key_columns(model).items() if to in WORDS}


@cache
def key_columns(model: type[Model]) -> Mapping[str, type[Model]]:
    """The columns that are foreign keys, but that of the project, and what they point to."""
    found = (each for each in model._meta.concrete_fields if isinstance(each, ForeignKey))
    return {each.attname: each.related_model for each in found if each.attname != "project_id"}


def noun_of(model: type[Model]) -> Noun | None:
    """The noun whose objects these rows are; None of earlier states and other dependent rows."""
    return next(
        (noun for noun in registry.all_nouns() if noun.model is model and not noun.earlier_states_of), None
    )


def plural_of(model: type[Model]) -> str:
    noun = next((noun for noun in registry.all_nouns() if noun.model is model), None)
    return noun.plural if noun else str(model._meta.verbose_name_plural)


def _words_in(rows: Mapping[type[Model], Sequence[Values]]) -> dict[type[Model], set[int]]:
    ids: dict[type[Model], set[int]] = defaultdict(set)
    for model, some in rows.items():
        for column, words in word_columns(model).items():
            ids[words] |= {row[column] for row in some if row[column] is not None}
    return ids


def _names(ends: tuple[str, str], kind: str, owners: Mapping[int, int]) -> Condition:
    kind_column, id_column = ends
    among, values = sql.among(id_column, list(owners))
    return f"{kind_column} = %s AND {among}", [kind, *values]


def _any_of(conditions: Sequence[Condition]) -> Condition:
    values: list[Any] = []
    for _, some in conditions:
        values += some
    return " OR ".join(f"({text})" for text, _ in conditions), values


@cache
def _silent() -> tuple[type[Model], ...]:
    """Rows that nobody counts: globs, and earlier states, which belong to their objects."""
    earlier = (noun.model for noun in registry.all_nouns() if noun.earlier_states_of)
    return (apps.get_model("core", "PathPattern"), *earlier)


def _model(label: str) -> type[Model] | None:
    try:
        return apps.get_model(label)
    except LookupError:
        return None
