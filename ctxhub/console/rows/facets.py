"""The filters of a list as chips, each choice with the number of rows that it would leave.

All counts of a page are one statement. Lists of more than MOST_COUNTED rows show none, nor do searches that
found more than MOST_FOUND.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.contrib.admin.views.main import ERROR_FLAG, PAGE_VAR
from django.db.models import CharField, Count, QuerySet, TextField, Value
from django.db.models.functions import Cast

from ctxhub.core.kit.frozen import frozen

MOST_COUNTED = 20_000
# Of a search.
MOST_FOUND = 1_000
NAMES_LISTED, NAMES_SUGGESTED = 12, 200
# Filters with few choices are chips themselves, so that one key chooses; all others are menus.
CHOICES_AS_CHIPS, CHIPS = 4, 9


@frozen
class Choice:
    """`count`: the rows that the list would show; None if it was not counted."""

    title: str
    url: str
    count: int | None
    is_chosen: bool


@frozen
class TypedField:
    """A field of the form of a filter. `names`: what it suggests."""

    name: str
    label: str
    value: str
    kind: str = "text"
    names: Sequence[str] = ()


@frozen
class Facet:
    """A filter. `fields` are typed into a form, which keeps `kept`, the other parameters of the list."""

    title: str
    choices: Sequence[Choice]
    fields: Sequence[TypedField] = ()
    kept: Sequence[tuple[str, str]] = ()
    is_open: bool = False

    @property
    def is_active(self) -> bool:
        return any(choice.is_chosen for choice in self.choices) or any(field.value for field in self.fields)


class Facets:
    """Of one list. `is_counted`: whether its choices have counts."""

    def __init__(self, changelist: Any) -> None:
        self.changelist = changelist
        self.specs = [spec for spec in changelist.filter_specs if spec.has_output()]
        self.found = self._found()
        self.is_counted = changelist.full_result_count <= MOST_COUNTED and len(self.found or ()) <= MOST_FOUND
        self.counts = self._count() if self.is_counted and self.specs else {}

    def all(self) -> list[Facet]:
        facets = [self._facet(spec) for spec in self.specs]
        return list(_with_chips(facet for facet in facets if facet.choices or facet.fields))

    def _found(self) -> list[Any] | None:
        """The ids of what a search found: to search again for each filter would take too long."""
        if not self.changelist.query:
            return None
        return list(self.changelist.queryset.order_by().values_list("pk", flat=True)[: MOST_FOUND + 1])

    def _rows(self, spec: Any) -> QuerySet[Any]:
        """The rows that the list would show without this filter."""
        if self.found is None or _value(spec):
            rows: QuerySet[Any] = self.changelist.without(spec)
        else:
            rows = self.changelist.model._base_manager.filter(pk__in=self.found)
        return rows

    # -- Counting ----------------------------------------------------------------------------------

    def _count(self) -> dict[str, Counter[str]]:
        """By parameter, then by value."""
        parts = [part for spec in self.specs for part in self._parts(spec)]
        counts: dict[str, Counter[str]] = {_parameter(spec): Counter() for spec in self.specs}
        if parts:
            for parameter, value, count in parts[0].union(*parts[1:], all=True):
                if value not in (None, ""):
                    counts[parameter][value] += count
        return counts

    def _parts(self, spec: Any) -> Iterable[QuerySet[Any, Any]]:
        """Queries for the values of a filter and their numbers of rows."""
        rows = self._rows(spec)
        if field := _counted_by(spec):
            yield _grouped(rows, _parameter(spec), Cast(field, TextField()))
        elif _is_narrow(spec):
            for value, _ in _choices(spec):
                narrowed = self._narrowed(spec, value, rows)
                yield _grouped(narrowed, _parameter(spec), Value(value, output_field=TextField()))

    def _narrowed(self, spec: Any, value: str, rows: QuerySet[Any]) -> QuerySet[Any]:
        """As Django's own facets count a filter: asked for each of its choices."""
        chosen = dict(spec.used_parameters)
        spec.used_parameters[spec.parameter_name] = value
        found: Any = spec.queryset(self.changelist.request, rows)
        spec.used_parameters = chosen
        return rows if found is None else found

    # -- What is shown -----------------------------------------------------------------------------

    def _facet(self, spec: Any) -> Facet:
        parameters = [name for name in spec.expected_parameters() if name]
        kept = self._kept(parameters)
        title = str(spec.title)
        if hasattr(spec, "label_of"):
            fields = [
                TypedField(
                    name, spec.label_of(name), str(spec.used_parameters.get(name, "")), "datetime-local"
                )
                for name in spec.names
            ]
            return Facet(title, [], fields, kept)
        parameter, chosen = _parameter(spec), _value(spec)
        choices = self._choices(spec, parameter, chosen)
        if _choices(spec) and not _takes_names(spec):
            return Facet(title, choices, kept=kept)
        names = dict.fromkeys([*(choice.title for choice in choices), *self._known(spec)])
        field = TypedField(parameter, title.capitalize(), chosen, names=[*names][:NAMES_SUGGESTED])
        return Facet(title, choices[:NAMES_LISTED], [field], kept)

    def _known(self, spec: Any) -> list[str]:
        """Names that may be typed besides those that are counted."""
        if known := [title for _, title in _choices(spec)]:
            return known
        return [] if self.is_counted else list(getattr(spec, "known_names", list)())

    def _choices(self, spec: Any, parameter: str, chosen: str) -> list[Choice]:
        counts = self.counts.get(parameter, Counter())
        is_counted = self.is_counted and bool(_counted_by(spec) or _is_narrow(spec))
        listed = dict(_choices(spec))
        if is_counted and _takes_names(spec):
            listed |= {value: value for value, _ in counts.most_common()}
            listed = {**({chosen: chosen} if chosen else {}), **listed}
        return [
            Choice(
                title,
                self.changelist.narrowed_to(**{parameter: None if value == chosen else value}),
                counts[value] if is_counted else None,
                value == chosen,
            )
            for value, title in listed.items()
            if not is_counted or counts[value] or value == chosen
        ]

    def _kept(self, without: Sequence[str]) -> list[tuple[str, str]]:
        dropped = {*without, PAGE_VAR, ERROR_FLAG}
        params: Mapping[str, Any] = self.changelist.params
        return [(name, str(value)) for name, value in params.items() if name not in dropped]


def _grouped(rows: QuerySet[Any], parameter: str, value: Any) -> QuerySet[Any, Any]:
    chosen = rows.model._base_manager.filter(pk__in=rows.order_by().values("pk")).order_by()
    facet = Value(parameter, output_field=CharField())
    grouped: QuerySet[Any, Any] = chosen.values_list(facet, value.copy()).annotate(
        rows=Count("pk", distinct=True)
    )
    return grouped


def _with_chips(facets: Iterable[Facet]) -> Iterable[Facet]:
    """Opens the filters with few choices, as long as their chips fit beside one another."""
    left = CHIPS
    for facet in facets:
        is_open = not facet.fields and 0 < len(facet.choices) <= min(CHOICES_AS_CHIPS, left)
        left -= len(facet.choices) if is_open else 0
        yield Facet(facet.title, facet.choices, facet.fields, facet.kept, is_open)


def _parameter(spec: Any) -> str:
    """The name in the query string; of a filter with several, the first."""
    return str(next(name for name in spec.expected_parameters() if name))


def _counted_by(spec: Any) -> str:
    """The field whose values are counted: a filter of a field has it, others name it."""
    return str(getattr(spec, "counted_by", "") or getattr(spec, "field_path", ""))


def _takes_names(spec: Any) -> bool:
    """Whether its choices are the names that the rows have, and others may be typed."""
    return bool(getattr(spec, "takes_names", False))


def _is_narrow(spec: Any) -> bool:
    """Whether it has so few choices that a query for each is cheap."""
    is_simple = isinstance(spec, SimpleListFilter) and getattr(spec, "is_counted", True)
    return is_simple and 0 < len(_choices(spec)) <= CHOICES_AS_CHIPS


def _choices(spec: Any) -> list[tuple[str, str]]:
    """Value and title of each choice; none, if a text is typed."""
    field = getattr(spec, "field", None)
    choices = field.flatchoices if field is not None and field.choices else None
    if field is not None and not choices:
        choices = [(1, "yes"), (0, "no")]
    offered = choices if choices is not None else getattr(spec, "lookup_choices", ())
    return [(str(value), str(title)) for value, title in offered]


def _value(spec: Any) -> str:
    """What is chosen, as it stands in the query string; "" for nothing."""
    value = spec.used_parameters.get(_parameter(spec))
    value = value[-1] if isinstance(value, list) and value else value
    return "" if value in (None, [], "") else str(value)
