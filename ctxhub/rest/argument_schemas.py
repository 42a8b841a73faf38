"""The OpenAPI schemas of arguments, from the types that the actions of tools declare."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ctxhub.core.kit.limits import MOST_ENTRIES, TEXT
from ctxhub.rest.ids import id_schema
from ctxhub.toolbox.argument import Argument
from ctxhub.toolbox.argument_types import FROM_NUMBER, About, FromText

Json = dict[str, Any]

BOUNDS = ("minimum", "maximum")
OF_TEXTS = ("minLength", "maxLength", "pattern")
OF_LISTS = ("minItems", "maxItems")
OF_ANY_TYPE = (*BOUNDS, "enum")
SEPARATED = "Repeat it, or separate with commas."


def parameter(argument: Argument) -> Json:
    """A query parameter."""
    schema = _value(argument, in_query=True)
    is_list = schema.get("type") == "array"
    description = " ".join([_description(argument), *([SEPARATED] if is_list else [])]).strip()
    shown = {"description": description} if description else {}
    required = {"required": True} if argument.required else {}
    return {"in": "query", "name": argument.name, "schema": schema, **shown, **required}


def body_field(argument: Argument) -> Json:
    """A property of a body."""
    schema = _value(argument, in_query=False)
    shown = {"description": description} if (description := _description(argument)) else {}
    nullable = {"nullable": True} if argument.nullable else {}
    return {**schema, **nullable, **shown}


def _value(argument: Argument, *, in_query: bool) -> Json:
    limits = _keywords(argument, "schema")
    if kind := argument.id_of:
        return id_schema(kind) if in_query else _either(_one("integer", None), id_schema(kind))
    types = argument.accepted.get("type", "object" if "properties" in argument.accepted else None)
    if types == "array":
        return _array(argument, in_query=in_query)
    if argument.choices:
        return _words(argument, limits, in_query=in_query)
    if types == "object":
        return {"type": "object", "additionalProperties": {}, **(limits or {})}
    if in_query and isinstance(types, list) and "string" in types:
        types = "string"  # A query has no other type.
    texts = {} if in_query else TEXT
    if isinstance(types, str):
        return _one(types, limits, texts)
    if types and in_query:
        return _one("string", limits, texts)
    if types and "object" not in types:
        return _either(*(_one(kind, limits, texts) for kind in types))
    return dict(limits or {})  # Any JSON.


def _one(kind: str, limits: Json | None, texts: Mapping[str, Any] = MappingProxyType({})) -> Json:
    """The schema of one type. `texts`: the limits of texts that have none of their own."""
    if kind == "string":
        own = texts if limits is None else limits
        return {"type": kind, **{name: limit for name, limit in own.items() if name not in BOUNDS}}
    if kind == "array":
        return {"type": kind, "items": {}}
    own = {name: limit for name, limit in (limits or {}).items() if name in OF_ANY_TYPE}
    return {"type": kind, **({"minimum": 1} if kind == "integer" else {}), **own}


def _array(argument: Argument, *, in_query: bool) -> Json:
    entries = _keywords(argument, "items") or {}
    words = {"enum": argument.choices} if argument.choices else {}
    kind = argument.accepted["items"].get("type")
    if in_query:
        listed = {name: limit for name, limit in {**words, **entries}.items() if name == "enum"}
        needed = {"minLength": 1, "pattern": r"\S"} if argument.required else {}
        least = {"minItems": 1} if argument.required else {}
        return {"type": "array", "items": {"type": kind or "string", **needed, **listed}, **least}
    if kind:
        own = {"enum": entries["enum"]} if "enum" in entries else {**words, **entries}
        array = {"type": "array", "items": {"type": kind, **own}, **MOST_ENTRIES}
    else:
        array = {"type": "array", "items": entries}  # Any JSON.
    limits = _keywords(argument, "schema") or {}
    array |= {name: limit for name, limit in limits.items() if name not in OF_TEXTS}
    takes_text = any(isinstance(mark, FromText) and mark.is_shown for mark in argument.marks)
    of_text = {name: limit for name, limit in limits.items() if name not in OF_LISTS}
    return _either(array, _one("string", of_text)) if takes_text else array


def _words(argument: Argument, limits: Json | None, *, in_query: bool) -> Json:
    words = argument.choices
    text = {"type": "string", "enum": words, **(limits or {})}
    number = {"type": "integer", "minimum": 1, "maximum": len(words)}
    return _either(text, number) if FROM_NUMBER in argument.marks and not in_query else text


def _either(*schemas: Json) -> Json:
    return {"oneOf": list(schemas)}


def _keywords(argument: Argument, name: str) -> dict[str, Any] | None:
    """What the annotations say, the outer ones last."""
    all_keywords = [getattr(mark, name) for mark in argument.marks if isinstance(mark, About)]
    given = [keywords for keywords in all_keywords if keywords is not None]
    return {key: value for keywords in given for key, value in keywords.items()} if given else None


def _description(argument: Argument) -> str:
    texts = [mark.description for mark in argument.marks if isinstance(mark, About)]
    return next((text for text in reversed(texts) if text), "")
