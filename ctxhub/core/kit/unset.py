"""UNSET marks an argument that was left out, so that None can mean "clear": absent means unchanged."""

from enum import Enum
from typing import Literal, TypeVar

T = TypeVar("T")


class Unset(Enum):
    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> Literal[False]:
        return False


UNSET = Unset.UNSET


def if_set(value: T | Unset, otherwise: T) -> T:
    """The value, or `otherwise` if it is UNSET."""
    return otherwise if isinstance(value, Unset) else value
