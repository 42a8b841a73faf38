"""Ids in URLs and queries: 17, or a ref as in lists and events (`memory:17`)."""

from collections.abc import Mapping
from typing import Any

from django.urls import register_converter

from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.inputs import read_ref_id

LONGEST_NUMBER = 100
ID_SUFFIX = "_id"  # Ends the names of URL arguments that are ids.


class IdOrRef:
    """URL converter: `<id:memory_id>` is the id of a memory. A ref stays a text, which the view parses."""

    regex = "[0-9]+|[^/]*:[^/]*"

    def to_python(self, value: str) -> int | str:
        return value if ":" in value else int(value)

    def to_url(self, value: object) -> str:
        return str(value)


register_converter(IdOrRef, "id")


def ids_of_refs(kwargs: Mapping[str, Any]) -> dict[str, int]:
    """The ids in the URL arguments that are refs. Raises InvalidInput for a ref of another kind."""
    return {
        name: parse_id(value, kind_of(name))
        for name, value in kwargs.items()
        if name.endswith(ID_SUFFIX) and isinstance(value, str)
    }


def kind_of(name: str) -> str:
    """The kind in the name of a URL argument: `memory_id` is of the kind `memory`."""
    return name.removesuffix(ID_SUFFIX)


def parse_id(value: str, kind: str) -> int:
    """17 for "17" and for "memory:17". Raises InvalidInput for anything else."""
    number = read_ref_id(value, kind)
    if not (number.isascii() and number.isdecimal() and len(number) <= LONGEST_NUMBER):
        raise InvalidInput(f"{shown(number)} is not the id of a {kind}.")
    return int(number)


def id_schema(kind: str) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^({kind}:)?[1-9][0-9]*$"}
