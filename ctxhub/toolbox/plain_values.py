"""Checks arguments that have the declared types already, as nearly all calls send them.

For what needs more, pydantic is loaded: it converts other types, and finds the errors.
"""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, get_args, get_origin

from ctxhub.toolbox.argument_types import Checks, Converts, OverRest

Reader = Callable[[Any], Any]


class NotPlain(ValueError):
    """The value is not of the declared type, or the type is not one of those that are checked here."""


def reader_of(annotation: Any) -> Reader:
    """Return a function that converts and checks a value over MCP. Raises ValueError: NotPlain."""
    kind, *marks = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    read = _reader_of_type(kind)
    for mark in marks:
        if isinstance(mark, Checks):
            read = mark.convert
        elif isinstance(mark, Converts) and not isinstance(mark, OverRest):
            read = _converting(mark.convert, read)
    return read


def _converting(convert: Reader, read: Reader) -> Reader:
    return lambda value: read(convert(value))


def _reader_of_type(kind: Any) -> Reader:
    plain = get_origin(kind) or kind
    if kind is Any:
        return lambda value: value
    if plain is str:
        return _text
    if plain is list:
        [items] = get_args(kind) or [Any]
        return partial(_list, reader_of(items))
    if kind == dict[str, Any]:
        return _object
    return partial(_exactly, plain) if plain in (int, float, bool) else _refuse


def _exactly(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise NotPlain
    return value


def _text(value: Any) -> Any:
    if not _exactly(str, value).isascii():
        value.encode()  # Half a surrogate pair is no text: UnicodeError is a ValueError.
    return value


def _list(read: Reader, value: Any) -> list[Any]:
    return [read(item) for item in _exactly(list, value)]


def _object(value: Any) -> dict[str, Any]:
    return {_text(name): inner for name, inner in _exactly(dict, value).items()}


def _refuse(_: Any) -> Any:
    raise NotPlain
