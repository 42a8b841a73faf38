"""What a refused call may have meant: its arguments by name, its action, its tool."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ctxhub.core.kit.errors import LONGEST_WORD, nearest
from ctxhub.core.text.plurals import singular
from ctxhub.core.toolbox.other_names import OTHER_ACTIONS, OTHER_ARGUMENTS, OTHER_CALLS, OTHER_NOUNS

if TYPE_CHECKING:
    from ctxhub.core.toolbox.registry import Action, Tool

MOST_NAMES = 20  # Of more unknown arguments the first are looked at.

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_REST = re.compile(r"[^a-z0-9]+")


def snake(name: str) -> str:
    """`contextId`, `Context-ID` and `context id` are context_id."""
    return _REST.sub("_", _HUMP.sub("_", name[:LONGEST_WORD]).lower()).strip("_")


def squeezed(name: str) -> str:
    """A name by its letters and digits alone: `quick-set`, `quickSet` and `QUICK_SET` are one."""
    return _REST.sub("", name[:LONGEST_WORD].lower())


# -- Arguments -------------------------------------------------------------------------------------


def meant_arguments(unknown: Iterable[str], known: Sequence[str], given: Collection[str]) -> dict[str, str]:
    """For each unknown argument the known one that it most likely means, said -> meant.

    No two mean the same one, and none means one that is given already. What means nothing is left out.
    """
    free = [name for name in known if name not in given]
    said = list(unknown)[:MOST_NAMES]
    meant: dict[str, str] = {}
    for name in said:
        if found := _first(_candidates(name), free):
            meant[name] = found
            free.remove(found)
    # A name that is known by its meanings is no slip of the pen: where none fits, nothing is meant.
    for name in (name for name in said if name not in meant and snake(name) not in OTHER_ARGUMENTS):
        if found := nearest(name, free):
            meant[name] = found
            free.remove(found)
    return {name: meant[name] for name in said if name in meant}


def misfit(action: "Action", given: Collection[str]) -> int:
    """How many arguments it lacks, or does not take under any name; 0 for a call that can be made of them."""
    unknown = [name for name in given if name not in action.known]
    if len(unknown) > MOST_NAMES:
        return len(unknown)
    meant = meant_arguments(unknown, action.known, given)
    there = {*given, *meant.values()}
    lacking = [a.name for a in action.arguments.all if a.required and a.name not in there]
    return len(unknown) - len(meant) + len(lacking)


def _candidates(name: str) -> tuple[str, ...]:
    plain = snake(name)
    return (plain, *OTHER_ARGUMENTS.get(plain, ()))


def _first(names: Iterable[str], among: Collection[str]) -> str | None:
    return next((name for name in names if name in among), None)


# -- Actions ---------------------------------------------------------------------------------------


def meant_action(tool: "Tool", said: str, given: Collection[str]) -> "Action | None":
    """The action of the tool that a name means which it does not have; of several the one that fits best."""
    for candidates in _named(tool, said):
        if found := _best(candidates, given):
            return found
    known = {name: action for action in tool.actions.values() for name in action.names}
    near = nearest(said, list(known))
    return known[near] if near else None


def _named(tool: "Tool", said: str) -> Iterator[list["Action"]]:
    """By another name of it; by that name without the tool's (`save_memory`); by another word for it."""
    verb = "_".join(word for word in snake(said).split("_") if _noun(word) != tool.name)
    names = list(filter(None, dict.fromkeys((snake(said), verb))))
    actions = tool.actions.values()
    for name in names:
        yield [action for action in actions if squeezed(name) in map(squeezed, action.names)]
    for name in names:
        yield [tool.actions[other] for other in OTHER_ACTIONS.get(name, ()) if other in tool.actions]


def fitting_action(action: "Action", tools: Iterable["Tool"], given: Collection[str]) -> "Action | None":
    """Another operation that takes what this one does not: of its tool, or of the same name elsewhere.

    One that reads for one that reads. For one that writes it must take every argument by its own name.
    """
    of_tools = [other for tool in tools for other in tool.actions.values() if other is not action]
    near = [other for other in of_tools if other.tool == action.tool or other.last_name == action.last_name]
    for other in sorted(near, key=lambda other: other.tool != action.tool):
        is_alike = other.writes == action.writes and not other.destroys
        takes_all = not action.writes or set(given) <= set(other.known)
        if is_alike and takes_all and misfit(other, given) == 0:
            return other
    return None


# -- Tools -----------------------------------------------------------------------------------------


def meant_operation(
    said: str, tools: Mapping[str, "Tool"], given: Mapping[str, object]
) -> tuple["Tool", "Action | None"] | None:
    """The tool that a name means, and its action where one can be told; `given` may name an action, too."""
    action = given.get("action")
    arguments = [name for name in given if name != "action"]
    names = [f"{said}_{action}"] if isinstance(action, str) and action else []
    for name in (*names, said):
        if found := _best(_operations(name, tools), arguments):
            return tools[found.tool], found
    for name in (*names, said):
        if about := _about(name, tools, arguments):
            return about
    if found := _best(_operations(snake(said).partition("_")[0], tools), arguments):
        return tools[found.tool], found
    operations = [one for tool in tools.values() for one in tool.actions.values()]
    known = [name for one in operations for name in (one.flat_name, *one.names)]
    near = nearest(said, [*tools, *dict.fromkeys(known)])
    if near is None:
        return None
    if near in tools:
        return tools[near], None
    found = _best(_operations(near, tools), arguments)
    return (tools[found.tool], found) if found else None


def _best(candidates: Iterable["Action"], given: Collection[str]) -> "Action | None":
    return min(candidates, key=lambda action: misfit(action, given), default=None)


def _operations(said: str, tools: Mapping[str, "Tool"]) -> Iterator["Action"]:
    """Those that a name is a name of."""
    for tool, action in OTHER_CALLS.get(snake(said), ()):
        if tool in tools:
            yield tools[tool].actions[action]
    plain = squeezed(said)
    for tool_ in tools.values():
        for one in tool_.actions.values():
            if plain in (squeezed(one.flat_name), *map(squeezed, one.names)):
                yield one


def _about(
    said: str, tools: Mapping[str, "Tool"], given: Collection[str]
) -> tuple["Tool", "Action | None"] | None:
    """The tool whose noun is in a name, and its action that the rest of the name means."""
    words = snake(said).split("_")
    # `search_memory` is about memory, though there is a tool of the other name, too.
    for word in sorted(words, key=lambda word: word in tools and tools[word].is_single):
        if tool := tools.get(_noun(word)):
            listed = tool.actions.get(f"{_singular(word)}s")
            if listed and misfit(listed, given) == 0:
                return tool, listed
            verb = "_".join(other for other in words if other is not word)
            return tool, meant_action(tool, verb, given) if verb else None
    return None


def _noun(word: str) -> str:
    """The tool that a word of a name is about, if it is about one."""
    noun = _singular(word)
    return OTHER_NOUNS.get(noun, noun)


def _singular(word: str) -> str:
    return singular(word) if len(word) > 2 else word
