"""UNSET tells an argument that was left out from one that was cleared: absent means unchanged."""

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
    """The value if it was given, else what stands."""
    return otherwise if isinstance(value, Unset) else value
