"""Suggestions for invalid calls: the operation that was probably meant, with the repair of the arguments."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.registry import Deletion, find_noun
from ctxhub.toolbox.actions import Action, Tool
from ctxhub.toolbox.aliases import OTHER_ACTIONS, OTHER_CALLS, OTHER_NOUNS, REMOVALS
from ctxhub.toolbox.argument_repairs import Repair, held_in, repair
from ctxhub.toolbox.argument_types import About
from ctxhub.toolbox.leading import (
    Does,
    Said,
    called,
    is_about,
    is_called,
    may_lead_to,
    may_stand_for,
    names_an_object,
    names_its_object,
    said_by,
    takes_back,
)
from ctxhub.toolbox.meanings import ACTION_WORDS, CHECKED, FILES, FILLING, READING, WRAPPERS
from ctxhub.toolbox.spelling import in_singular, meant_by_slip, snake, squeezed

DELETE = "delete"
SEARCH = "search"
CHECK = "check"
# What a read of one object is, if the call does not name the object.
FINDING = ("search", "list")

Tools = Mapping[str, Tool]


@frozen
class Suggestion:
    """An operation, and how the arguments of the call become its own."""

    action: Action
    repair: Repair

    @property
    def cost(self) -> int:
        return self.repair.cost


def suggestion(
    action: Action, given: Collection[str], kind: str = "", *, mends_slips: bool = True
) -> Suggestion:
    return Suggestion(action, repair(given, action.taken, kind=kind, mends_slips=mends_slips))


# -- Actions ---------------------------------------------------------------------------------------


def suggest_action(
    tool: Tool, name: str, given: Collection[str], tools: Tools, noun: str = ""
) -> Suggestion | None:
    """Suggest an operation for an unknown action of a tool; of several the one whose arguments fit best.

    It is one of the tool's, one of another tool that reads, or one that takes the object by its ref. `noun`:
    what the call is about, if that is not in the name.
    """
    if (
        tool.is_single
        and not tool.actions[""].writes
        and (own := suggestion(tool.actions[""], given)).cost == 0
    ):
        return own
    said = Said.of(name, noun, tools)
    found: Suggestion | None = None
    for candidates in _named(tool, name):
        fitting = [suggestion(action, given) for action in candidates]
        if found := _cheapest(one for one in fitting if may_lead_to(one.action, said, one.repair)):
            break
    if found and not found.repair.unknown:
        return found
    if removal := _removal(tool, said, given, tools) if found is None else None:
        return removal
    is_open = found is None and not (noun and name in READING)
    others = [other for other in tools.values() if other is not tool and (other.is_single or is_open)]
    return _elsewhere(tool, name, given, others) or found or _mistyped(tool, name, given, tools)


def _named(tool: Tool, unknown: str) -> Iterator[list[Action]]:
    """Yield candidate actions: by alias, by alias without the noun (`save_memory`), by other verbs."""
    words = [word for word in snake(unknown).split("_") if word not in FILLING]
    own = "_".join(word for word in words if in_singular(word) != tool.name)
    verb = "_".join(word for word in words if noun_of(word) != tool.name)
    names = list(filter(None, dict.fromkeys((snake(unknown), own, verb))))
    actions = tool.actions.values()
    for name in names:
        yield [action for action in actions if is_called(action, name)]
    for name in names:
        yield [tool.actions[other] for other in OTHER_ACTIONS.get(name, ()) if other in tool.actions]
        yield [tool.actions[other] for of, other in OTHER_CALLS.get(name, ()) if of == tool.name]
    first, _, rest = verb.partition("_")
    if rest:
        yield [action for action in actions if first in READING and action.reads and is_called(action, rest)]
    for name in names:
        head, _, last = name.rpartition("_")
        yield [action for action in actions if last in READING and action.reads and is_called(action, head)]
    if rest:
        yield [tool.actions[other] for other in OTHER_ACTIONS.get(first, ()) if other in tool.actions]


def _removal(tool: Tool, said: Said, given: Collection[str], tools: Tools) -> Suggestion | None:
    """Return the tool `delete`, for a name that removes one of the objects that the tool is about."""
    if DELETE not in tools or set(REMOVALS).isdisjoint(said.words) or len(said.kinds) > 1 or said.is_unclear:
        return None
    kind = next(iter(said.kinds), tool.name)
    noun = find_noun(kind)
    if noun is None or not isinstance(noun.deletion, Deletion):
        return None
    found = suggestion(tools[DELETE].actions[""], given, kind)
    # What is not understood may be what keeps the call from deleting more.
    return None if found.repair.unknown else found


def _elsewhere(tool: Tool, name: str, given: Collection[str], others: Iterable[Tool]) -> Suggestion | None:
    """Return an operation of this name in another tool, if it fits: one that reads, or that takes refs.

    A bare id is one of this tool's objects, and means another one there.
    """
    verb = "_".join(word for word in snake(name).split("_") if noun_of(word) != tool.name)
    for other in others:
        for action in other.actions.values():
            if not (is_called(action, name) or (other.is_single and is_called(action, verb))):
                continue
            found = suggestion(action, given, tool.name)
            if found.cost or (action.writes and (action.destroys or not found.repair.instead)):
                continue
            if action.writes or found.repair.instead or not names_an_object(found.repair, action):
                return _about_kind(found, tool.name)
    return None


def _about_kind(found: Suggestion, kind: str) -> Suggestion:
    """A search for objects of one kind stays one."""
    kinds = found.action.taken.arguments.get("kinds") if found.action.call == SEARCH else None
    if kinds is None or "kinds" in {*found.repair.given, *found.repair.renamed.values()}:
        return found
    words = next(
        (mark.items.get("enum", ()) for mark in kinds.marks if isinstance(mark, About) and mark.items), ()
    )
    if kind not in words:
        return found
    return Suggestion(found.action, replace(found.repair, instead={**found.repair.instead, "kinds": [kind]}))


def _mistyped(tool: Tool, name: str, given: Collection[str], tools: Tools) -> Suggestion | None:
    """The action of which the name is a slip. The name of another operation, or a word, is none."""
    reading_first = sorted(tool.actions.values(), key=lambda action: action.writes)
    own = {alias: action for action in reading_first for alias in action.names}
    near = None if is_word(name, tools) else meant_by_slip(name, own)
    found = suggestion(own[near], given) if near else None
    return found if found and not found.action.destroys else None


def is_word(name: str, tools: Tools) -> bool:
    """Whether a name is that of an operation, or a verb that is known."""
    return snake(name) in OTHER_ACTIONS or bool(called(name, tools.values()))


def fitting_action(action: Action, tools: Iterable[Tool], given: Collection[str]) -> Suggestion | None:
    """Find another operation that the arguments fit, in the same tool or with the same name elsewhere.

    A typing error is no sign of another operation: `verbose` is not `verbs`.
    """
    of_tools = [other for tool in tools for other in tool.actions.values() if other is not action]
    near = [other for other in of_tools if other.tool == action.tool or other.last_name == action.last_name]
    for other in sorted(near, key=lambda other: (other.tool != action.tool, other.name not in FINDING)):
        found = suggestion(other, given, mends_slips=False)
        if found.cost == 0 and may_stand_for(action, other, found.repair):
            return found
    return None


def for_files(action: Action, given: Collection[str], tools: Tools) -> Suggestion | None:
    """The tool `check`, for a list of what bears on files that is asked for paths."""
    if (action.tool, action.name) not in CHECKED or CHECK not in tools:
        return None
    if FILES.isdisjoint(snake(name) for name in given if name not in action.known):
        return None
    found = suggestion(tools[CHECK].actions[""], given)
    return found if found.cost == 0 else None


# -- Calls without an action -----------------------------------------------------------------------


def suggest_default(tool: Tool, given: Collection[str]) -> Suggestion | None:
    """Suggest what a call without an action means: the tool's default for the arguments, or a read that fits.

    No other write is suggested: the call does not say that it writes.
    """
    for needed, name in tool.otherwise:
        found = suggestion(tool.actions[name], given, mends_slips=False)
        if found.cost == 0 and needed <= {*given, *found.repair.renamed.values()}:
            return found
    reading = [action for action in tool.actions.values() if not action.writes]
    fitting = [suggestion(action, given, mends_slips=False) for action in reading]
    return min(
        (found for found in fitting if found.cost == 0),
        key=lambda found: len(found.repair.renamed),
        default=None,
    )


def said_action(given: Collection[str], strange: Collection[str]) -> tuple[str, str] | None:
    """Where a call says its action: in one of its `strange` arguments, or ("") within an object."""
    if not isinstance(given, Mapping):
        return None
    for name in strange:
        value = given[name]
        is_action = snake(name) in ACTION_WORDS or meant_by_slip(name, ["action"]) is not None
        if is_action and isinstance(value, str) and value.strip():
            return name, value.strip()
        inner = held_in(value) if snake(name) in WRAPPERS else None
        if inner and isinstance(action := inner.get("action"), str) and action.strip():
            return "", action.strip()
    return None


# -- Tools -----------------------------------------------------------------------------------------


def suggest_operation(
    unknown: str, tools: Tools, given: Mapping[str, object]
) -> tuple[Tool, Suggestion | None] | None:
    """Suggest a tool for an unknown name, and its operation if that is clear. `given` may have `action`."""
    said = given.get("action")
    said = said if isinstance(said, str) and said.strip() else ""
    arguments = {name: value for name, value in given.items() if name != "action"}
    found = _with_action(unknown, said, tools, arguments) if said else _by_name(unknown, tools, arguments)
    if found:
        return tools[found.action.tool], found
    if tool := tools.get(noun_in(unknown, tools)):
        is_plain = not _without_noun(unknown, tool.name)
    elif near := meant_by_slip(unknown, tools):
        tool, is_plain = tools[near], True
    else:
        return None
    if said and (named := tool.named(said)):
        return tool, suggestion(named, arguments)
    return tool, suggest_default(tool, arguments) if is_plain and not said else None


def _with_action(unknown: str, said: str, tools: Tools, arguments: Mapping[str, Any]) -> Suggestion | None:
    """What is meant by an unknown tool and an action."""
    for name in (f"{unknown}_{said}", f"{said}_{unknown}"):
        if found := _called(name, tools, arguments):
            return found
    tool = tools.get(noun_in(unknown, tools))
    if tool is None:
        return _called(said, tools, arguments)
    word = _noun_word(unknown, tools)
    own = [action for action in tool.actions.values() if is_called(action, said)]
    fitting = [suggestion(action, arguments) for action in own if is_about(action, word)]
    if found := _cheapest(fitting) or suggest_action(tool, said, arguments, tools, word):
        return found
    # `config` `get`: the tool's name is the operation, and the action says that it reads.
    found = _called(unknown, tools, arguments) if said_by(said, tools.values()) is Does.READS else None
    return found if found and not found.action.writes else None


def _by_name(unknown: str, tools: Tools, arguments: Mapping[str, Any]) -> Suggestion | None:
    """What is meant by the name of an unknown tool alone."""
    if found := _called(unknown, tools, arguments) or _turned_round(unknown, tools, arguments):
        return found
    tool = tools.get(noun_in(unknown, tools))
    if tool is None:
        first, _, rest = snake(unknown).partition("_")
        found = _called(first, tools, arguments) if rest else None
        return found if found and found.action.reads else _mistyped_operation(unknown, tools, arguments)
    if not (verb := _without_noun(unknown, tool.name)):
        return None
    word = _noun_word(unknown, tools)
    if said_by(verb, tools.values()) is not Does.READS:
        return suggest_action(tool, verb, arguments, tools, word)
    # A plain `list` says less than the noun: `list_locks` are the leases.
    called_so = [] if verb in READING else [a for a in tool.actions.values() if is_called(a, verb)]
    named = [suggestion(action, arguments) for action in called_so]
    found = (
        _cheapest(named)
        or _reading(tool, word, arguments)
        or suggest_action(tool, verb, arguments, tools, word)
    )
    return found if found and found.action.reads else None


def _turned_round(unknown: str, tools: Tools, arguments: Mapping[str, Any]) -> Suggestion | None:
    """The operation whose flat name was said the other way round: `lease_file`."""
    turned = squeezed("_".join(reversed(snake(unknown).split("_"))))
    every = (action for tool in tools.values() for action in tool.actions.values())
    meant = next((action for action in every if action.name and squeezed(action.flat_name) == turned), None)
    return _called(meant.flat_name, tools, arguments) if meant else None


def _reading(tool: Tool, word: str, given: Mapping[str, Any]) -> Suggestion | None:
    """What reads the things of a noun, and fits: `leases` of the tool `file`."""
    names = (
        word,
        f"{in_singular(word)}s",
        *OTHER_ACTIONS.get(word, ()),
        *OTHER_ACTIONS.get(in_singular(word), ()),
    )
    reading = [a for a in tool.actions.values() if not a.writes and any(is_called(a, name) for name in names)]
    found = _cheapest(suggestion(action, given) for action in reading)
    return found if found and found.cost == 0 else None


def _called(name: str, tools: Tools, given: Mapping[str, Any]) -> Suggestion | None:
    """The operation of this name that the arguments fit best, if the call says what it writes on."""
    whole = [
        tools[tool].actions[action] for tool, action in OTHER_CALLS.get(snake(name), ()) if tool in tools
    ]
    if whole:
        return _cheapest(suggestion(action, given) for action in whole)
    named = called(name, tools.values())
    found = _cheapest(suggestion(action, given) for action in named)
    if found is None or not found.action.writes:
        return found
    is_whole = squeezed(name) == squeezed(found.action.flat_name) or "_" in snake(name)
    if found.action.destroys and not is_whole:
        return found if "refs" in found.action.taken.required else None
    if takes_back(found.action) and not names_its_object(found.action, found.repair):
        return None
    writing = {action.tool for action in named if action.writes}
    return None if len(writing) > 1 and _names_bare_id(found) else found


def _names_bare_id(found: Suggestion) -> bool:
    given = {snake(name) for name in found.repair.given}
    return not given.isdisjoint({"id", "ids", "identifier"})


def _mistyped_operation(unknown: str, tools: Tools, given: Mapping[str, Any]) -> Suggestion | None:
    if is_word(unknown, tools):
        return None
    operations = [operation for tool in tools.values() for operation in tool.actions.values()]
    known = [name for operation in operations for name in (operation.flat_name, *operation.names)]
    near = meant_by_slip(unknown, dict.fromkeys(known))
    return _called(near, tools, given) if near and near not in tools else None


def _cheapest(found: Iterable[Suggestion]) -> Suggestion | None:
    return min(found, key=lambda one: one.cost, default=None)


# -- Nouns -----------------------------------------------------------------------------------------


def noun_of(word: str) -> str:
    """Return the tool for a word of a name, or the word in the singular."""
    noun = in_singular(word)
    return OTHER_NOUNS.get(noun, noun)


def noun_in(name: str, tools: Tools) -> str:
    """Return the tool whose noun is part of a name; "" if none is."""
    word = _noun_word(name, tools)
    return noun_of(word) if word else ""


def _noun_word(name: str, tools: Tools) -> str:
    """`search_memory` is about memory, although `search` is a tool, too; `get_brief` is about the brief."""
    words = snake(name).split("_")
    single = [word for word in words if word in tools and tools[word].is_single]
    others = [word for word in words if word not in single]
    return next((word for word in (*others, *reversed(single)) if noun_of(word) in tools), "")


def _without_noun(name: str, tool: str) -> str:
    """The rest of a name, without the first word that names the tool."""
    words = snake(name).split("_")
    index = next((i for i, word in enumerate(words) if noun_of(word) == tool), None)
    return "_".join(word for i, word in enumerate(words) if i != index)
