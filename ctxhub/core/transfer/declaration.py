"""What a noun says of its export. Everything else follows from its model."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cache, cached_property
from typing import Any

from django.db.models import Field, ForeignKey, Model, QuerySet

from ctxhub.core import transfer
from ctxhub.core.events.counters import CounterKey
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.models import ProjectRow

Values = dict[str, Any]
"""The columns of a row, by column name: `layer_id`. `derive` also gets the names of words: `layer`."""
Derive = Callable[[Values], Values]
Shifts = Mapping[str, Sequence[tuple[int, int]]]
"""By column of text where names of links were replaced: see `links.Shift`."""
Cleaner = Callable[[Any], Any]
"""Returns the value as it is stored; raises InvalidInput."""

# The order of an export: every line comes after those that it needs.
KINDS = (
    *("tag", "scope", "category", "layer", "agent", "config"),
    *("decision", "template", "constraint", "workflow", "scratchpad", "context", "memory"),
    *("content", "resource", "change", "dependency", "message", "snapshot", "session", "relationship"),
    *("event", "given", "notice", "writing", "use", "refusal", "empty_search"),
)


def folded_name(values: Values) -> Values:
    """The case-folded name, by which a name is found."""
    return {"folded": values["name"].casefold()}


@frozen(slots=False)
class Rows:
    """How rows of a model are written: all their columns but `id`, `project_id` and those of `derived`.

    `derived`: columns computed by `derive` from the others, which are never exported; left out, the
    case-folded name of a model that has one.
    `linked`: columns of text or JSON whose links `[text](memory:5)` name objects.
    `refs`: columns with refs (`memory:5`): a text, or JSON that holds some.
    `ids`: columns with the id of a row of a kind; `points`: columns with a kind and with the id of its row,
    by the name that both have in an export.
    `cleaners`: check the values of columns beyond their type and length.
    """

    model: type[ProjectRow]
    derived: Sequence[str] = ()
    derive: Derive | None = None
    linked: Sequence[str] = ()
    refs: Sequence[str] = ()
    ids: Mapping[str, str] = field(default_factory=dict)
    points: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    cleaners: Mapping[str, Cleaner] = field(default_factory=dict)

    def __post_init__(self) -> None:
        columns = {each.name for each in self.model._meta.concrete_fields}
        if not self.derived and columns >= {"name", "folded"}:
            object.__setattr__(self, "derived", ("folded",))
            object.__setattr__(self, "derive", folded_name)

    @cached_property
    def table(self) -> str:
        return self.model._meta.db_table

    @cached_property
    def fields(self) -> tuple["Field[Any, Any]", ...]:
        """The exported columns."""
        left = {"id", "project_id", *self.derived, *self.left}
        return tuple(each for each in self.model._meta.concrete_fields if each.attname not in left)

    @property
    def left(self) -> Sequence[str]:
        """Columns that are written otherwise."""
        return [column for both in self.points.values() for column in both]

    @cached_property
    def keys(self) -> Mapping[str, type[Model]]:
        """The models that the foreign keys point to, by column."""
        found = (each for each in self.fields if isinstance(each, ForeignKey))
        return {each.attname: each.related_model for each in found}


@frozen(kw_only=True, slots=False)
class Part(Rows):
    """Rows that belong to an object and stand in its line, as the list `name`. `owner`: the column with its
    id. `order`: the columns that they are ordered by."""

    name: str
    owner: str
    order: Sequence[str] = ("id",)

    @property
    def left(self) -> Sequence[str]:
        return [self.owner, *super().left]


@frozen(kw_only=True, slots=False)
class Exported(Rows):
    """The objects of a kind, a line each.

    `natural`: the columns that name an object in its project, if they are not all empty: where the project
    has one of that name already, they are the same. `loose`: fields that follow from use and
    from other objects; two that differ in these alone are the same. `has_ids`: their refs have ids
    (`memory:5`), not names. `is_word`: such an object never differs, and keeps its spelling. `is_log`:
    exported with `--with-log` alone. `is_past`: imported ones get ids below zero, and so come before all that
    happened here: no cursor passes them.
    `only(rows)`: those of the rows that are exported. `prepare(project_id, rows)`: changes stored rows first.
    `export(data, shifts)`, `import_(data, shifts)`: change a record after its links were replaced;
    `shifts` by column tell where.
    `finish(project_id, ids)`: writes the dependent rows of objects, those of the models in `writes`.
    `counter(values)`: the counter that counts an object; where it is not what its history or its kind says.
    """

    kind: str
    natural: Sequence[str] = ()
    loose: Sequence[str] = ()
    parts: Sequence[Part] = ()
    has_ids: bool = True
    is_word: bool = False
    is_log: bool = False
    is_past: bool = False
    only: Callable[[QuerySet[Any]], QuerySet[Any]] | None = None
    prepare: Callable[[int, Sequence[Values]], None] | None = None
    export: Callable[[dict[str, Any], Shifts], None] | None = None
    import_: Callable[[dict[str, Any], Shifts], None] | None = None
    finish: Callable[[int, Sequence[int]], None] | None = None
    writes: Sequence[type[ProjectRow]] = ()
    counter: Callable[[Values], CounterKey | None] | None = None

    @cached_property
    def words(self) -> Mapping[str, Any]:
        """The many-to-many fields."""
        return {many.name: many for many in self.model._meta.many_to_many}


_kinds: dict[str, Exported] = {}
_models: dict[type[Model], Exported] = {}


def register(*exported: Exported) -> None:
    """Raises ValueError for a kind that has no place in the order: it would be left out of every export."""
    for each in exported:
        if each.kind not in KINDS:
            raise ValueError(f"{each.kind!r} has no place in KINDS.")
        _kinds[each.kind] = each
        _models[each.model] = each


def exported_kinds(*, with_log: bool = False) -> list[Exported]:
    """All kinds in the order of an export."""
    _load()
    return [_kinds[kind] for kind in KINDS if kind in _kinds and (with_log or not _kinds[kind].is_log)]


def exported_kind(kind: str) -> Exported | None:
    _load()
    return _kinds.get(kind)


def exported_model(model: type[Model]) -> Exported:
    _load()
    return _models[model]


@cache
def _load() -> None:
    for name in transfer.modules:
        importlib.import_module(name)
