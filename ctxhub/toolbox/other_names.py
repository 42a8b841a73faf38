"""Other names of an action's arguments: in the other number (`path`, `paths`), and `id` for `lease_id`.

Some declare further ones (`AlsoCalled`).

Calls may use them. Schemas, help and errors have the declared name alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.text_lists import UnreadableList, parse_list, read_names
from ctxhub.core.text.plurals import plural, singular
from ctxhub.toolbox.argument import Argument

# They belong to the call: `agent` speaks, `agents` are those that it is about.
OF_CALLS = frozenset(["action", "agent", "format", "max_tokens", "session"])


def other_names(arguments: Sequence[Argument]) -> dict[str, Argument]:
    """The names that stand for an argument; one that could stand for several stands for none."""
    taken = OF_CALLS | {argument.name for argument in arguments}
    # A flag has one number, and may be what a dry run is told by.
    named = [a for a in arguments if a.name not in OF_CALLS and a.schema.get("type") != "boolean"]
    found = {name: argument for argument in arguments for name in argument.also_called}
    for names in (_in_its_number, _in_the_other_number):
        meanings: dict[str, list[Argument]] = {}
        for argument in named:
            for name in {*names(argument, named)} - taken - found.keys():
                meanings.setdefault(name, []).append(argument)
        found |= {name: meant[0] for name, meant in meanings.items() if len(meant) == 1}
    return found


def _in_its_number(argument: Argument, arguments: Sequence[Argument]) -> Iterator[str]:
    """`memory_id` for the `id` of a memory; `id` for the only id among the arguments."""
    if not _is_named_as_id(argument):
        return
    ending = "ids" if argument.is_list else "id"
    yield f"{argument.kind_of_id}_{ending}"
    if sum(_is_named_as_id(other) and other.is_list == argument.is_list for other in arguments) == 1:
        yield ending


def _in_the_other_number(argument: Argument, arguments: Sequence[Argument]) -> Iterator[str]:
    for name in (argument.name, *_in_its_number(argument, arguments)):
        yield singular(name) if argument.is_list and name.endswith("s") else plural(name)


def _is_named_as_id(argument: Argument) -> bool:
    return bool(argument.kind_of_id) and argument.name.rpartition("_")[2] in ("id", "ids")


# -- Calls -----------------------------------------------------------------------------------------


def by_declared_names(given: Mapping[str, Any], others: Mapping[str, Argument]) -> dict[str, Any]:
    """The arguments of a call under their declared names.

    A list of one is the value of an argument that takes one. Raises InvalidInput for several values there,
    and for an argument under two names with two values.
    """
    named = {name: value for name, value in given.items() if name not in others}
    for said, value in given.items():
        if (argument := others.get(said)) is None:
            continue
        meant = _as_many(value) if argument.is_list else _as_one(value, argument.name)
        if meant == []:
            continue
        if argument.name in named and not _are_same(named[argument.name], meant):
            raise said_twice(said, argument.name)
        named.setdefault(argument.name, meant)
    return named


def said_twice(said: str, name: str) -> InvalidInput:
    return InvalidInput(
        f"{said} and {name} are the same argument, with two values.", hint=f"Say {name} alone."
    )


def _as_many(value: Any) -> Any:
    return value if value is None or isinstance(value, str | list) else [value]


def _as_one(value: Any, name: str) -> Any:
    """The value, or that of a list of one; [] for an empty list."""
    listed = value
    if isinstance(value, str):
        try:
            listed = parse_list(value)
        except UnreadableList:
            return value
    if not isinstance(listed, list) or not listed:
        return value if listed is None else listed
    if len(listed) > 1:
        raise InvalidInput(f"{name} takes one value, not {len(listed):,}.", hint="Make a call for each.")
    return listed[0]


def _are_same(one: Any, other: Any) -> bool:
    return bool(one == other or _entries(one) == _entries(other))


def _entries(value: Any) -> list[str]:
    try:
        listed = read_names(value) if isinstance(value, str) else value
    except UnreadableList:
        listed = value
    return [str(entry) for entry in (listed if isinstance(listed, list) else [listed])]
