"""Converts the lists among the arguments of a call: what a text means depends on what the list holds."""

import re
from typing import TYPE_CHECKING, Any

from ctxhub.core.kit.text_lists import (
    NULLS,
    UnreadableList,
    lines_of,
    names_of,
    parse_list,
    parse_value,
    read_entries,
    read_names,
)

if TYPE_CHECKING:
    from pydantic_core import PydanticCustomError

HOW_TO_WRITE_NAMES = 'is not written as a list; write ["api", "auth"], or: api, auth'
HOW_TO_WRITE_REFS = 'is not written as a list; write ["decision:api/auth", "memory:17"]'

# A comma within a key or a path is part of the ref.
_BETWEEN_REFS = re.compile(r"""\s*[,;]\s*(?=["'`]?[a-z]+:)""")
# What a name holds that is itself a list, or is left over from one.
_OF_LISTS = re.compile(r"[][(){}\"'`]")


def conversion_error(kind: str, message: str) -> "PydanticCustomError":
    from pydantic_core import PydanticCustomError

    return PydanticCustomError(kind, "{why}", {"why": message})


def word(value: Any) -> Any:
    """A number as text; other values as they are."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def names(value: Any) -> Any:
    """Read names from a text, or from the entries of a list that are lists. Others stay as they are."""
    try:
        if isinstance(value, str):
            return read_names(value)
        if isinstance(value, list) and _may_hold_lists(value):
            return names_of(value)
    except UnreadableList:
        raise conversion_error("list", HOW_TO_WRITE_NAMES) from None
    return value


def name_globs(value: Any) -> Any:
    """Read names that may be globs: `{api,auth}` is one, and no list."""
    try:
        return read_names(value, are_globs=True) if isinstance(value, str) else names(value)
    except UnreadableList:
        raise conversion_error("list", HOW_TO_WRITE_NAMES) from None


def _may_hold_lists(values: list[Any]) -> bool:
    return any(not isinstance(one, str) or _OF_LISTS.search(one) for one in values)


def ids(value: Any) -> Any:
    value = names(value)
    return [value] if isinstance(value, int) and not isinstance(value, bool) else value


def agents(value: Any) -> Any:
    """Read a list of agents. What else a text means is decided where the names of agents are known."""
    try:
        listed = parse_list(value) if isinstance(value, str) else value
    except UnreadableList:
        listed = None
    return [value] if listed is None and isinstance(value, str) else listed


def refs(value: Any) -> Any:
    """Read refs from a list, or from a text with lines or commas between them. A number is no ref."""
    try:
        listed = parse_list(value) if isinstance(value, str) else value
        if isinstance(value, str) and listed is None:
            listed = [ref for line in lines_of(value) for ref in _BETWEEN_REFS.split(line.strip())] or [""]
        if not isinstance(listed, list):
            return listed
        return [word(ref) for ref in (names_of(listed) if _may_hold_lists(listed) else listed)]
    except UnreadableList:
        raise conversion_error("list", HOW_TO_WRITE_REFS) from None


def objects(value: Any) -> Any:
    """Read objects, each of which may be a text. What is no object stays as it is."""
    listed = read_entries(value)
    if isinstance(value, str) and listed == [value]:
        return value
    return [as_object(entry) for entry in listed] if isinstance(listed, list) else listed


def objects_or_texts(value: Any) -> Any:
    """Read objects and texts: a text that is no object is an entry of its own, unless it says null."""
    if isinstance(value, str) and value.strip() in NULLS:
        return value
    listed = read_entries(value)
    return [as_object(entry) for entry in listed] if isinstance(listed, list) else listed


def as_object(value: Any) -> Any:
    parsed = parse_value(value) if isinstance(value, str) else None
    return parsed if isinstance(parsed, dict) else value
