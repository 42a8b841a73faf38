"""System checks: errors for tables and histories that do not match their models."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.core.checks import CheckMessage, Error, register
from django.db.models import NOT_PROVIDED

from ctxhub.core.history import History, compared_field
from ctxhub.core.kit.columns import OWN, by_column, copies_of
from ctxhub.core.kit.rows import Table
from ctxhub.core.registry import all_nouns


def histories() -> list[History[Any]]:
    """The histories of all nouns. Every table in use belongs to a history."""
    return [noun.history for noun in all_nouns() if isinstance(noun.history, History)]


@register
def check_tables(**_: Any) -> list[CheckMessage]:
    return [
        Error(problem, obj=history.table.model, id="core.E001")
        for history in histories()
        for problem in problems_of_table(history.table)
    ]


@register
def check_histories(**_: Any) -> list[CheckMessage]:
    return [
        Error(problem, obj=type(history), id="core.E002")
        for history in histories()
        for problem in problems_of_history(history)
    ]


def problems_of_table(table: Table[Any]) -> list[str]:
    return [*_unknown_fields(table), *_lost_columns(table), *_wrong_derived(table), *_wrong_copies(table)]


def problems_of_history(history: History[Any]) -> list[str]:
    table = history.table
    known = {name for name in history.compared if compared_field(name, table)}
    return [
        *(f"compared: a row has no {name!r}." for name in _not_among(history.compared, known)),
        *(f"compared: {name!r} is missing." for name in _not_among(table.links, history.compared)),
        *(f"counted_by: a row has no {name!r}." for name in _not_among(history.counted_by, table.fields)),
        *(
            f"counted_by: counters have no {name!r}."
            for name in _not_among(history.counted_by, ("layer_id", "status"))
        ),
        *(
            f"shown: {name!r} does not point to a {word.__name__}."
            for word, name in history.shown.items()
            if _related(table, name) is not word
        ),
    ]


def _unknown_fields(table: Table[Any]) -> Iterator[str]:
    """Yields the fields of a row that cannot be read from the model."""
    for name in _not_among(table.fields, {*table.computed, *table.links, *by_column(table.model)}):
        if (key := _key(table, name)) is None:
            yield f"{name!r} is no column, foreign key or many-to-many field, and is not computed."
        elif key.attname not in table.fields:
            yield f"A row has {name!r}, and not {key.attname!r}: its key would not be stored."
        elif (shown := table.shown.get(name, "name")) not in by_column(key.related_model):
            yield f"{name!r} points to what has no {shown!r}."
    for name in _not_among(table.computed, table.fields):
        yield f"computed: a row has no {name!r}."
    for name in _not_among(table.shown, table.fields):
        yield f"shown: a row has no {name!r}."


def _lost_columns(table: Table[Any]) -> Iterator[str]:
    """Yields the required columns of the model that no row writes."""
    for column, field in by_column(table.model).items():
        is_optional = field.null or field.default is not NOT_PROVIDED or field.empty_strings_allowed
        if column not in {*table.fields, *table.derived, *OWN} and not is_optional:
            yield f"A row has no {column!r}, which has no default."


def _wrong_derived(table: Table[Any]) -> Iterator[str]:
    for column, derived in table.derived.items():
        if column not in by_column(table.model):
            yield f"derived: there is no column {column!r}."
        for name in _not_among(derived.of, table.fields):
            yield f"derived: {column!r} is of {name!r}, which a row does not have."


def _wrong_copies(table: Table[Any]) -> Iterator[str]:
    """Yields columns of link tables that have the name of a column of the model, but cannot be its copies."""
    for name, many in table.many.items():
        links = by_column(many.remote_field.through)
        for column in copies_of(many):
            one, other = by_column(table.model)[column], links[column]
            if (type(one), one.max_length) != (type(other), other.max_length):
                yield f"The links of {name!r} have a {column!r} of another type."
            elif column not in {*table.fields, *table.derived}:
                yield f"The links of {name!r} repeat {column!r}, which a row does not have."


def _not_among(names: Iterable[str], known: Iterable[str]) -> list[str]:
    known = {*known}
    return [name for name in names if name not in known]


def _key(table: Table[Any], name: str) -> Any:
    keys = (field for field in table.model._meta.concrete_fields if field.is_relation)
    return next((key for key in keys if key.name == name), None)


def _related(table: Table[Any], name: str) -> Any:
    """The model that a foreign key or a many-to-many field points to."""
    fields = {field.name: field for field in table.model._meta.get_fields()}
    return getattr(fields.get(name), "related_model", None)
