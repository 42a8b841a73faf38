"""Suggestions for invalid calls: the arguments, the action or the tool that were probably meant."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ctxhub.core.kit.errors import LONGEST_WORD, nearest
from ctxhub.core.registry import Deletion, find_noun
from ctxhub.core.text.plurals import singular
from ctxhub.core.toolbox.aliases import OTHER_ACTIONS, OTHER_ARGUMENTS, OTHER_CALLS, OTHER_NOUNS, REMOVALS

if TYPE_CHECKING:
    from ctxhub.core.toolbox.actions import Action, Tool

DELETE = "delete"
MOST_NAMES = 20  # Further unknown arguments get no suggestion.

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_REST = re.compile(r"[^a-z0-9]+")


def snake(name: str) -> str:
    """Convert a name to snake case: `contextId`, `Context-ID` and `context id` become context_id."""
    return _REST.sub("_", _HUMP.sub("_", name[:LONGEST_WORD]).lower()).strip("_")


def squeezed(name: str) -> str:
    """Reduce a name to lower-case letters and digits: `quick-set`, `quickSet` and `QUICK_SET` are equal."""
    return _REST.sub("", name[:LONGEST_WORD].lower())


# -- Arguments -------------------------------------------------------------------------------------


def suggest_arguments(
    unknown: Iterable[str], known: Sequence[str], given: Collection[str], *, mends_typos: bool = True
) -> dict[str, str]:
    """Map unknown arguments to the known ones they most likely mean.

    Each known argument is suggested at most once, and never if the call has it. Arguments without a
    suggestion are left out.
    """
    free = [name for name in known if name not in given]
    names = list(unknown)[:MOST_NAMES]
    suggested: dict[str, str] = {}
    for name in names:
        if found := _first(_candidates(name), free):
            suggested[name] = found
            free.remove(found)
    # A name with known meanings is no typo: if none of them fits, there is no suggestion.
    typos = [name for name in names if name not in suggested and snake(name) not in OTHER_ARGUMENTS]
    for name in typos if mends_typos else ():
        if found := nearest(name, free):
            suggested[name] = found
            free.remove(found)
    return {name: suggested[name] for name in names if name in suggested}


def misfit(action: "Action", given: Collection[str], *, mends_typos: bool = True) -> int:
    """Count missing and unknown arguments, after suggestions; 0 if a valid call can be made of them."""
    unknown = [name for name in given if name not in action.known]
    if len(unknown) > MOST_NAMES:
        return len(unknown)
    suggested = suggest_arguments(unknown, action.known, given, mends_typos=mends_typos)
    covered = {*given, *suggested.values()}
    missing = [a.name for a in action.arguments.all if a.required and a.name not in covered]
    return len(unknown) - len(suggested) + len(missing)


def _candidates(name: str) -> tuple[str, ...]:
    plain = snake(name)
    return (plain, *OTHER_ARGUMENTS.get(plain, ()))


def _first(names: Iterable[str], among: Collection[str]) -> str | None:
    return next((name for name in names if name in among), None)


# -- Actions ---------------------------------------------------------------------------------------


def suggest_action(
    tool: "Tool", name: str, given: Collection[str], tools: Mapping[str, "Tool"]
) -> "Action | None":
    """Suggest an action for an unknown name of the tool; of several the one whose arguments fit best.

    It is one of the tool's, or the tool `delete` if that is among `tools`.
    """
    for candidates in _named(tool, name):
        if found := _best(candidates, given):
            return found
    if removal := _removal(tool, name, tools):
        return removal
    known = {alias: action for action in tool.actions.values() for alias in action.names}
    near = nearest(name, list(known))
    return known[near] if near else None


def _named(tool: "Tool", unknown: str) -> Iterator[list["Action"]]:
    """Yield candidate actions: by alias, by alias without the noun (`save_memory`), by other verbs."""
    verb = "_".join(word for word in snake(unknown).split("_") if _noun(word) != tool.name)
    names = list(filter(None, dict.fromkeys((snake(unknown), verb))))
    actions = tool.actions.values()
    for name in names:
        yield [action for action in actions if squeezed(name) in map(squeezed, action.names)]
    for name in names:
        yield [tool.actions[other] for other in OTHER_ACTIONS.get(name, ()) if other in tool.actions]


def _removal(tool: "Tool", name: str, tools: Mapping[str, "Tool"]) -> "Action | None":
    """Return the tool `delete`, for a name that removes one of the objects that the tool is named after."""
    noun = find_noun(tool.name)
    is_deletable = noun is not None and isinstance(noun.deletion, Deletion)
    removes = not set(REMOVALS).isdisjoint(snake(name).split("_"))
    return tools[DELETE].actions[""] if is_deletable and removes and DELETE in tools else None


def fitting_action(action: "Action", tools: Iterable["Tool"], given: Collection[str]) -> "Action | None":
    """Find another operation that the arguments fit, in the same tool or with the same name elsewhere.

    Both must read, or both write. An operation that writes must have every argument by its exact name. A
    typing error is no sign of another operation: `verbose` is not `verbs`.
    """
    of_tools = [other for tool in tools for other in tool.actions.values() if other is not action]
    near = [other for other in of_tools if other.tool == action.tool or other.last_name == action.last_name]
    for other in sorted(near, key=lambda other: other.tool != action.tool):
        is_alike = other.writes == action.writes and not other.destroys
        takes_all = not action.writes or set(given) <= set(other.known)
        if is_alike and takes_all and misfit(other, given, mends_typos=False) == 0:
            return other
    return None


# -- Tools -----------------------------------------------------------------------------------------


def suggest_operation(
    unknown: str, tools: Mapping[str, "Tool"], given: Mapping[str, object]
) -> tuple["Tool", "Action | None"] | None:
    """Suggest a tool for an unknown name, and its action if that is clear; `given` may have an `action`."""
    action = given.get("action")
    arguments = [name for name in given if name != "action"]
    names = [f"{unknown}_{action}"] if isinstance(action, str) and action else []
    for name in (*names, unknown):
        if found := _best(_operations(name, tools), arguments):
            return tools[found.tool], found
    for name in (*names, unknown):
        if about := _about(name, tools, arguments):
            return about
    if found := _best(_operations(snake(unknown).partition("_")[0], tools), arguments):
        return tools[found.tool], found
    operations = [operation for tool in tools.values() for operation in tool.actions.values()]
    known = [name for operation in operations for name in (operation.flat_name, *operation.names)]
    near = nearest(unknown, [*tools, *dict.fromkeys(known)])
    if near is None:
        return None
    if near in tools:
        return tools[near], None
    found = _best(_operations(near, tools), arguments)
    return (tools[found.tool], found) if found else None


def _best(candidates: Iterable["Action"], given: Collection[str]) -> "Action | None":
    return min(candidates, key=lambda action: misfit(action, given), default=None)


def _operations(name: str, tools: Mapping[str, "Tool"]) -> Iterator["Action"]:
    """Yield the operations that have this name."""
    for tool, action in OTHER_CALLS.get(snake(name), ()):
        if tool in tools:
            yield tools[tool].actions[action]
    plain = squeezed(name)
    for tool_ in tools.values():
        for one in tool_.actions.values():
            if plain in (squeezed(one.flat_name), *map(squeezed, one.names)):
                yield one


def _about(
    name: str, tools: Mapping[str, "Tool"], given: Collection[str]
) -> tuple["Tool", "Action | None"] | None:
    """Return the tool whose noun is part of a name, and the action for the rest of the name."""
    words = snake(name).split("_")
    # `search_memory` is about memory, although `search` is a tool as well; `get_brief` is about the brief.
    single = [word for word in words if word in tools and tools[word].is_single]
    for word in (*(word for word in words if word not in single), *reversed(single)):
        if tool := tools.get(_noun(word)):
            listed = tool.actions.get(f"{_singular(word)}s")
            if listed and misfit(listed, given) == 0 and not _removal(tool, name, tools):
                return tool, listed
            verb = "_".join(other for other in words if other is not word)
            return tool, suggest_action(tool, verb, given, tools) if verb else None
    return None


def _noun(word: str) -> str:
    """Return the tool for a word of a name, or the word in the singular."""
    noun = _singular(word)
    return OTHER_NOUNS.get(noun, noun)


def _singular(word: str) -> str:
    return singular(word) if len(word) > 2 else word
