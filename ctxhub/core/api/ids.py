"""Ids in addresses and queries: 17, or the ref that lists and events name the thing by (`memory:17`)."""

from collections.abc import Mapping
from typing import Any

from django.urls import register_converter

from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.inputs import read_ref_id

LONGEST_NUMBER = 100
OF_AN_ID = "_id"  # How the names of such parts of an address end.


class IdOrRef:
    """`<id:memory_id>` is the id of a memory. A ref stays a text: the view reads it, knowing who asks."""

    regex = "[0-9]+|[^/]*:[^/]*"

    def to_python(self, value: str) -> int | str:
        return value if ":" in value else int(value)

    def to_url(self, value: object) -> str:
        return str(value)


register_converter(IdOrRef, "id")


def ids_of_refs(address: Mapping[str, Any]) -> dict[str, int]:
    """The ids in those parts of an address that are refs; raises InvalidInput for a ref of another kind."""
    return {
        name: id_said(said, kind_of(name))
        for name, said in address.items()
        if name.endswith(OF_AN_ID) and isinstance(said, str)
    }


def kind_of(name: str) -> str:
    """`memory_id` names a memory."""
    return name.removesuffix(OF_AN_ID)


def id_said(said: str, kind: str) -> int:
    """17 of "17" and of "memory:17"; raises InvalidInput for anything else."""
    number = read_ref_id(said, kind)
    if not (number.isascii() and number.isdecimal() and len(number) <= LONGEST_NUMBER):
        raise InvalidInput(f"{shown(number)} is not the id of a {kind}.")
    return int(number)


def id_schema(kind: str) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^({kind}:)?[1-9][0-9]*$"}
