"""The OpenAPI schemas of responses, from the TypedDicts that services and queries answer."""

import types
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints

from typing_extensions import TypedDict, is_typeddict

from ctxhub.core.kit.listing import Listing
from ctxhub.toolbox.argument_types import About, RowsOf, Wrote

Json = dict[str, Any]

# Who wrote a thing: as tools name it, and as REST also does.
AUTHOR, BY = "agent", "by"
HISTORY = "history"

BASIC: dict[Any, Json] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number", "format": "double"},
    bool: {"type": "boolean"},
    Any: {},
}


def schema_of(shape: Any, resolve: Callable[[Any], Json]) -> Json:
    """The schema of a TypedDict. `resolve`: the schema, or the reference, of one inside it."""
    hints = get_type_hints(shape, include_extras=True)
    properties = {name: _value(hint, resolve) for name, hint in hints.items()}
    required = [name for name in hints if name in shape.__required_keys__]
    if AUTHOR in hints and BY not in hints and any(isinstance(m, Wrote) for m in _marks(hints[AUTHOR])):
        properties = _with_author(properties, {**properties[AUTHOR], "description": "The same as agent."})
        required = [other for name in required for other in ((AUTHOR, BY) if name == AUTHOR else (name,))]
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def with_author(item: Mapping[str, Any]) -> Json:
    """The item with `by` beside `agent`, also in its history: REST names all authors alike."""
    shown = dict(item)
    if HISTORY in shown:
        shown[HISTORY] = [with_author(state) for state in shown[HISTORY]]
    return _with_author(shown, shown[AUTHOR]) if AUTHOR in shown and BY not in shown else shown


def _with_author(fields: Json, author: Any) -> Json:
    """The fields with `by` behind `agent`."""
    return {
        other: shown
        for name, value in fields.items()
        for other, shown in (((name, value), (BY, author)) if name == AUTHOR else ((name, value),))
    }


def _marks(hint: Any) -> tuple[Any, ...]:
    plain = _required(hint)
    return get_args(plain)[1:] if get_origin(plain) is Annotated else ()


def _value(hint: Any, resolve: Callable[[Any], Json]) -> Json:
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (NotRequired, Required):
        return _value(parts[0], resolve)
    if origin is Annotated:
        schema = _rows(parts, resolve) if parts[0] is Listing else _value(parts[0], resolve)
        return _described(schema, [mark for mark in parts[1:] if isinstance(mark, About)])
    if origin in (Union, types.UnionType):
        return _one_of([part for part in parts if part is not type(None)], resolve, type(None) in parts)
    if origin is Literal:
        return {"type": "string", "enum": list(parts)}
    if origin is list:
        return {"type": "array", "items": _value(parts[0], resolve)}
    if is_typeddict(hint):
        return resolve(hint)
    if origin is dict or hint is dict:
        return {"type": "object", "additionalProperties": _value(parts[1], resolve) if parts else {}}
    return dict(BASIC[hint])


def _rows(parts: Iterable[Any], resolve: Callable[[Any], Json]) -> Json:
    """The schema of a list inside a response."""
    [shape] = [part.shape for part in parts if isinstance(part, RowsOf)]
    return {"type": "array", "items": _value(shape, resolve)}


def _one_of(hints: list[Any], resolve: Callable[[Any], Json], nullable: bool) -> Json:
    if int in hints and float in hints:  # JSON has one kind of number.
        hints = [hint for hint in hints if hint not in (int, float)]
        schemas = [*(_value(hint, resolve) for hint in hints), {"type": "number"}]
    else:
        schemas = [_value(hint, resolve) for hint in hints]
    [schema] = schemas if len(schemas) == 1 else [{"oneOf": schemas}]
    return {**_beside(schema), "nullable": True} if nullable else schema


def _described(schema: Json, marks: list[About]) -> Json:
    for mark in marks:
        described = {"description": mark.description} if mark.description else {}
        schema = {**_beside(schema), **(mark.schema or {}), **described}
        if mark.items:
            schema["items"] = {**schema["items"], **mark.items}
    return schema


def _beside(schema: Json) -> Json:
    """A reference to which keywords can be added."""
    return {"allOf": [schema]} if "$ref" in schema else schema


# -- Shapes made of others -------------------------------------------------------------------------


def joined(name: str, *shapes: Any) -> Any:
    """A TypedDict with the fields of several; the later ones win."""
    fields: dict[str, Any] = {}
    for shape in shapes:
        for field, hint in get_type_hints(shape, include_extras=True).items():
            plain = _required(hint)
            fields[field] = plain if field in shape.__required_keys__ else NotRequired[plain]
    return TypedDict(name, fields)  # type: ignore[operator]


def written(name: str, answer: Any, item: Any) -> Any:
    """What a write answers: that of the service, the names of the item, and if preferred the item."""
    hints = get_type_hints(item, include_extras=True)
    fields = {field: NotRequired[_required(hint)] for field, hint in hints.items()}
    names = Named if "id" in hints or "id" in answer.__annotations__ else Referred
    return joined(name, TypedDict("Item", fields), names, answer)  # type: ignore[operator]


@cache
def named(answer: Any) -> Any:
    """What a write below the address of an object answers: its names, and what the service answers."""
    return joined(f"Named{answer.__name__}", Named, answer)


@cache
def page_of(item: Any, name: str = "") -> Any:
    """The page of a list."""
    return joined(name or f"{item.__name__}Page", TypedDict("Items", {"items": list[item]}), PageFields)  # type: ignore[operator]


@cache
def batch_of(answer: Any) -> Any:
    """The answer of a batch whose items are answered with `answer`, or with an error."""
    hints = get_type_hints(joined("Whole", answer), include_extras=True)
    fields = {name: NotRequired[_required(hint)] for name, hint in hints.items()}
    outcome = joined(f"{answer.__name__}Outcome", TypedDict("Item", fields), ItemError)  # type: ignore[operator]
    results = Annotated[list[outcome], About("In the order of the items.")]  # type: ignore[valid-type]
    return joined(f"{answer.__name__}Batch", BatchCounts, TypedDict("Results", {"results": results}))  # type: ignore[operator]


@cache
def in_parts(shape: Any) -> Any:
    """An object that is read in parts, so that any field may be missing.

    Lists and objects are texts if `lines` reads a part of their JSON.
    """
    hints = get_type_hints(joined("Whole", shape), include_extras=True)
    fields = {name: NotRequired[_text_or(hint)] for name, hint in hints.items()}
    name = f"{shape.__name__}InParts"
    return joined(name, TypedDict("Parts", fields), PartFields)  # type: ignore[operator]


def _required(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) in (NotRequired, Required) else hint


def _text_or(hint: Any) -> Any:
    plain = _required(hint)
    schema = _value(plain, lambda _: {"type": "object"})
    marks = get_args(plain)[1:] if get_origin(plain) is Annotated else ()
    described = [About(mark.description) for mark in marks if isinstance(mark, About) and mark.description]
    if schema.get("type") not in ("array", "object"):
        return plain
    return Annotated[(Any, *described)] if described else Any


class Referred(TypedDict):
    ref: Annotated[str, About("What opens it everywhere: memory:17.")]


class Named(Referred):
    id: int


class BatchCounts(TypedDict):
    done: int
    failed: int


class ItemError(TypedDict, total=False):
    """What went wrong with one item, and which it is."""

    index: int
    error: str
    message: str


class PageFields(TypedDict):
    next: Annotated[str | None, About("Pass it as `cursor`.")]
    count: Annotated[int, About("How many items this page has.")]
    total: NotRequired[Annotated[int, About("How many there are, counted to 1,000.")]]
    more: NotRequired[Annotated[bool, About("There are more than `total`.")]]
    omitted: NotRequired[Annotated[int, About("Left out to keep to `max_tokens`.")]]
    truncated: NotRequired[Annotated[bool, About("The one item is longer than that, and cut.")]]
    hint: NotRequired[Annotated[str, About("What the filters name that is not there.")]]


class PartFields(TypedDict, total=False):
    """What stands in an object that is read in parts."""

    lines: Annotated[str, About("Which lines of the text these are: 10-40.")]
    total_lines: int
    truncated: Annotated[bool, About("Not all that was asked for is here.")]
    next_lines: Annotated[str, About("Reads on: pass it as `lines`.")]
    also_cut: Annotated[list[str], About('Other fields that are not whole; `lines` "metadata:1-" reads one.')]
    hint: Annotated[str, About("What lists the headings of a long text.")]
