"""Classes of values that do not change: `@frozen`, a dataclass that costs a fifth to define.

A dataclass compiles each of its methods: half a millisecond a class with `frozen=True`, a fifth of the time
in which a stdio server starts. Here only `__init__` is compiled. That nothing assigns to a field is checked
by mypy, not at run time; `dataclasses.replace`, `field` and `fields` work as with any dataclass.
"""

from collections.abc import Callable, Iterable
from dataclasses import Field, dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@overload
def frozen(cls: type[T], /) -> type[T]: ...
@overload
def frozen(*, slots: bool = True, kw_only: bool = False, eq: bool = True) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(
    cls: type[Any] | None = None, /, *, slots: bool = True, kw_only: bool = False, eq: bool = True
) -> Any:
    """Make a dataclass whose instances are equal if their fields are (`eq`), else only to themselves."""

    def decorate(cls: type[Any]) -> Any:
        made: Any = dataclass(slots=slots, kw_only=kw_only, eq=False, repr=False)(cls)
        methods = {"__repr__": _repr, **(_compared_by_fields(made) if eq else {})}
        for name, method in methods.items():
            if vars(cls).get(name) is None:  # A class with an __eq__ has None for __hash__.
                setattr(made, name, method)
        return made

    return decorate(cls) if cls else decorate


def _compared_by_fields(cls: type[Any]) -> dict[str, Callable[..., Any]]:
    values = _getter(each for each in fields(cls) if each.compare)
    hashed = _getter(each for each in fields(cls) if (each.compare if each.hash is None else each.hash))

    def is_equal(self: Any, other: Any) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hash_of(self: Any) -> int:
        return hash(hashed(self))

    return {"__eq__": is_equal, "__hash__": hash_of}


def _getter(found: Iterable[Field[Any]]) -> Callable[[Any], Any]:
    names = [each.name for each in found]
    return attrgetter(*names) if names else lambda _: ()


def _repr(self: Any) -> str:
    shown = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{type(self).__qualname__}({shown})"
