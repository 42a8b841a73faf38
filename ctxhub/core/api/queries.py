"""Query parameters: declares them for the schema, and parses their types. Selectors check the values."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.http import QueryDict
from django_filters import Filter, FilterSet
from drf_spectacular.drainage import set_override
from drf_spectacular.utils import extend_schema_field
from rest_framework.filters import BaseFilterBackend

from ctxhub.core.api.ids import id_schema, parse_id
from ctxhub.core.api.problems import refuse_unknown
from ctxhub.core.kit.answers import MAX_TOKENS
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import MAX_LIMIT
from ctxhub.core.kit.limits import ANY_LENGTH, Limits

REQUIRED = "ctxhub_required"


class CommaSeparated(forms.Widget):
    """Reads a list: `tags=api&tags=db` and `tags=api,db` are the same."""

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> list[str]:
        values = data.getlist(name) if isinstance(data, QueryDict) else data.get(name, ())
        return [word.strip() for value in values for word in str(value).split(",") if word.strip()]


class WordsField(forms.Field):
    widget = CommaSeparated


class FlagField(forms.CharField):
    def to_python(self, value: Any) -> Any:
        known = {"true": True, "1": True, "false": False, "0": False}
        if value and value.lower() not in known:
            raise forms.ValidationError("Say true or false.")
        return known[value.lower()] if value else None


class TextParameter(Filter):
    field_class = forms.CharField


class NumberParameter(Filter):
    field_class = forms.IntegerField


class IdField(forms.CharField):
    """The id of an object of one kind, or its ref."""

    def __init__(self, kind: str, **options: Any) -> None:
        super().__init__(**options)
        self.kind = kind

    def to_python(self, value: Any) -> Any:
        try:
            return parse_id(super().to_python(value) or "", self.kind)
        except InvalidInput as error:
            raise forms.ValidationError(error.message) from error


class IdParameter(Filter):
    field_class = IdField


class ShareParameter(Filter):
    field_class = forms.FloatField


class FlagParameter(Filter):
    field_class = FlagField


class WordsParameter(Filter):
    field_class = WordsField


def text(
    description: str, *, one_of: Sequence[str] = (), limits: Limits = ANY_LENGTH, required: bool = False
) -> Filter:
    """`limits` and `required` are only for the schema; the service enforces them."""
    enum = {"enum": list(one_of)} if one_of else {}
    return _declared(TextParameter(), description, {"type": "string", **enum, **limits}, required=required)


def number(
    description: str, *, at_least: int | None = 1, at_most: int | None = None, required: bool = False
) -> Filter:
    keywords = {"minimum": at_least, "maximum": at_most}
    bounds = {name: bound for name, bound in keywords.items() if bound is not None}
    return _declared(NumberParameter(), description, {"type": "integer", **bounds}, required=required)


def id_of(kind: str, description: str, *, required: bool = False) -> Filter:
    """17, or the ref of an object of this kind."""
    return _declared(IdParameter(kind=kind), description, id_schema(kind), required=required)


def share(description: str) -> Filter:
    return _declared(ShareParameter(), description, {"type": "number", "minimum": 0, "maximum": 1})


def flag(description: str) -> Filter:
    return _declared(FlagParameter(), description, {"type": "boolean"})


def words(description: str, *, one_of: Sequence[str] = ()) -> Filter:
    items = {"type": "string", **({"enum": list(one_of)} if one_of else {})}
    schema = {"type": "array", "items": items}
    return _declared(WordsParameter(), f"{description} Repeat it, or separate with commas.", schema)


def _declared(
    parameter: Filter, description: str, schema: dict[str, Any], *, required: bool = False
) -> Filter:
    """`required` is only for the schema: the view raises its own error if the parameter is missing."""
    extend_schema_field({**schema, "description": description})(parameter)  # type: ignore[type-var]
    set_override(parameter, REQUIRED, required)
    return parameter


class Query(FilterSet):
    """The query parameters of an operation."""

    @classmethod
    def read(cls, query: QueryDict, *, also: Sequence[str] = ()) -> dict[str, Any]:
        """The parsed parameters. Raises InvalidInput for unknown names and values of the wrong type."""
        refuse_unknown(query, [*cls.base_filters, *also], "parameter")
        parameters = cls.base_filters.items()
        return {name: _read(query, name, parameter) for name, parameter in parameters if name in query}


def _read(query: QueryDict, name: str, parameter: Filter) -> Any:
    if len(query.getlist(name)) > 1 and not isinstance(parameter, WordsParameter):
        raise InvalidInput(f"{name} is given more than once.")
    field: forms.Field = parameter.field
    try:
        value = field.clean(field.widget.value_from_datadict(query, {}, name))
    except forms.ValidationError as error:
        raise InvalidInput(f"{name}: {' '.join(error.messages)}") from error
    if value is None:
        raise InvalidInput(f"{name}: nothing follows the equals sign.")
    return value


class DeclaredQuery(BaseFilterBackend):
    """Adds a view's query parameters to the schema; it does not filter."""

    def filter_queryset(self, request: Any, queryset: Any, view: Any) -> Any:
        return queryset


class ListQuery(Query):
    """The parameters that every list takes besides its filters."""

    limit = number("How many items a page holds; left out: 20.", at_most=MAX_LIMIT)
    cursor = text("`next` of the page before, as it is.")
    max_tokens = number(f"A budget for the page, {MAX_TOKENS:,} at most; `omitted` counts what did not fit.")


class ReadQuery(Query):
    """The parameters for reading a long text of one object in parts."""

    lines = text(
        'Only these lines of its main text: "10-40", "10-", "12"; "12@21000-": from the 21,000th character '
        'of line 12; "rationale:1-": of another field. `next_lines`, as it is, reads on.'
    )
    tail = number("Only so many of the last lines.")
    max_tokens = number(f"A budget, {MAX_TOKENS:,} at most, also where `lines` or `tail` is given.")
