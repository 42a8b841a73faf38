"""Query parameters: declared once, checked, shown in the schema. What they mean, the selectors know."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.http import QueryDict
from django_filters import Filter, FilterSet
from drf_spectacular.drainage import set_override
from drf_spectacular.utils import extend_schema_field
from rest_framework.filters import BaseFilterBackend

from ctxhub.core.api.ids import id_said, id_schema
from ctxhub.core.api.limits import ANY_LENGTH, Limits
from ctxhub.core.api.problems import refuse_unknown
from ctxhub.core.kit.answers import MAX_TOKENS
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import MAX_LIMIT

REQUIRED = "ctxhub_required"


class CommaSeparated(forms.Widget):
    """`tags=api&tags=db` and `tags=api,db` are the same list."""

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> list[str]:
        said = data.getlist(name) if isinstance(data, QueryDict) else data.get(name, ())
        return [word.strip() for text in said for word in str(text).split(",") if word.strip()]


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
    """The id of a thing of one kind, or its ref."""

    def __init__(self, kind: str, **options: Any) -> None:
        super().__init__(**options)
        self.kind = kind

    def to_python(self, value: Any) -> Any:
        try:
            return id_said(super().to_python(value) or "", self.kind)
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
    says: str, *, one_of: Sequence[str] = (), limits: Limits = ANY_LENGTH, required: bool = False
) -> Filter:
    """`limits` and `required` are for the schema; who uses the text refuses it."""
    enum = {"enum": list(one_of)} if one_of else {}
    return _declared(TextParameter(), says, {"type": "string", **enum, **limits}, required=required)


def number(
    says: str, *, at_least: int | None = 1, at_most: int | None = None, required: bool = False
) -> Filter:
    said = {"minimum": at_least, "maximum": at_most}
    bounds = {name: bound for name, bound in said.items() if bound is not None}
    return _declared(NumberParameter(), says, {"type": "integer", **bounds}, required=required)


def id_of(kind: str, says: str, *, required: bool = False) -> Filter:
    """17, or the ref of a thing of this kind."""
    return _declared(IdParameter(kind=kind), says, id_schema(kind), required=required)


def share(says: str) -> Filter:
    return _declared(ShareParameter(), says, {"type": "number", "minimum": 0, "maximum": 1})


def flag(says: str) -> Filter:
    return _declared(FlagParameter(), says, {"type": "boolean"})


def words(says: str, *, one_of: Sequence[str] = ()) -> Filter:
    items = {"type": "string", **({"enum": list(one_of)} if one_of else {})}
    return _declared(
        WordsParameter(), f"{says} Repeat it, or separate with commas.", {"type": "array", "items": items}
    )


def _declared(parameter: Filter, says: str, schema: dict[str, Any], *, required: bool = False) -> Filter:
    """`required` is for the schema: who uses the parameter says in its own words that it is missing."""
    extend_schema_field({**schema, "description": says})(parameter)  # type: ignore[type-var]
    set_override(parameter, REQUIRED, required)
    return parameter


class Query(FilterSet):
    """The parameters that one operation takes."""

    @classmethod
    def read(cls, given: QueryDict, *, also: Sequence[str] = ()) -> dict[str, Any]:
        """What was given, typed; raises InvalidInput for what is unknown or unreadable."""
        refuse_unknown(given, [*cls.base_filters, *also], "parameter")
        return {name: _read(given, name, said) for name, said in cls.base_filters.items() if name in given}


def _read(given: QueryDict, name: str, parameter: Filter) -> Any:
    if len(given.getlist(name)) > 1 and not isinstance(parameter, WordsParameter):
        raise InvalidInput(f"{name} is given more than once.")
    field: forms.Field = parameter.field
    try:
        value = field.clean(field.widget.value_from_datadict(given, {}, name))
    except forms.ValidationError as error:
        raise InvalidInput(f"{name}: {' '.join(error.messages)}") from error
    if value is None:
        raise InvalidInput(f"{name}: nothing follows the equals sign.")
    return value


class DeclaredQuery(BaseFilterBackend):
    """Shows a view's query in the schema; it filters nothing."""

    def filter_queryset(self, request: Any, queryset: Any, view: Any) -> Any:
        return queryset


class ListQuery(Query):
    """What every list takes beside its filters."""

    limit = number("How many items a page holds; left out: 20.", at_most=MAX_LIMIT)
    cursor = text("`next` of the page before, as it is.")
    max_tokens = number(f"A budget for the page, {MAX_TOKENS:,} at most; `omitted` counts what did not fit.")


class ReadQuery(Query):
    """What an address of one thing takes, to read a long text in parts."""

    lines = text(
        'Only these lines of its main text: "10-40", "10-", "12"; "12@21000-": from the 21,000th character '
        'of line 12; "rationale:1-": of another field. `next_lines`, as it is, reads on.'
    )
    tail = number("Only so many of the last lines.")
    max_tokens = number(f"A budget, {MAX_TOKENS:,} at most, also where `lines` or `tail` is given.")
