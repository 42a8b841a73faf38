"""Picks the tool and the action of a call, and checks its arguments; errors suggest what may be meant."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxhub.core.kit.errors import InvalidInput, shown, shown_all
from ctxhub.core.kit.likeness import LONGEST_WORD, few_of, nearest
from ctxhub.core.kit.tool_names import call_of, flat_name, is_flat, operation
from ctxhub.toolbox.actions import COMMON_ARGUMENTS, Action, Tool, all_tools, tools_offered
from ctxhub.toolbox.argument_repairs import MOST_NAMES
from ctxhub.toolbox.argument_types import present
from ctxhub.toolbox.leading import called
from ctxhub.toolbox.meanings import DONE_OTHERWISE
from ctxhub.toolbox.spelling import snake, squeezed
from ctxhub.toolbox.suggestions import (
    Suggestion,
    fitting_action,
    for_files,
    said_action,
    suggest_action,
    suggest_default,
    suggest_operation,
    suggestion,
)
from ctxhub.toolbox.tool_order import in_order

_OPERATION = re.compile(r"\{([a-z_ ]+)\}")


def find_tool(name: str, among: Sequence[str] | None = None, given: Mapping[str, Any] | None = None) -> Tool:
    """Return the tool of this name, among some names or all. Raises InvalidInput with a suggestion.

    `given`: the arguments of the call, to choose between suggestions.
    """
    every = all_tools()
    if name in (every if among is None else among):
        return every[name]
    known = in_order(tools_offered() if among is None else among)
    arguments = present(given or {})
    tool_, found = suggest_operation(name, {tool: every[tool] for tool in known}, arguments) or (None, None)
    message = f"There is no tool {shown(name)}."
    if squeezed(name) == "help" and not is_flat():
        call = _help_of(arguments, known)
        raise InvalidInput(
            message, hint='Each tool has an action "help".', call=call, allowed=[] if call else known
        )
    if found:
        raise InvalidInput(message, **_details_of(found), **_told_of(found))
    if tool_ and not is_flat():
        raise InvalidInput(message, did_you_mean=tool_.name, hint=_hint_of(tool_))
    shown_names = _shown_tools(known)
    offered = few_of(name, shown_names)
    more = f"tools/list has all {len(shown_names)}; these are the nearest."
    raise InvalidInput(message, allowed=offered, hint=more if len(offered) < len(shown_names) else "")


def _help_of(given: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """The call that explains the tool, or the operation, that a call of `help` names; none is near: {}."""
    said = [value for value in given.values() if isinstance(value, str) and len(value) <= LONGEST_WORD]
    name = next((value for value in said if value not in known), "")
    near = next((value for value in said if value in known), nearest(name, known) if name else None)
    tool_name = near or next((tool for tool in known if name in all_tools()[tool].actions), "")
    if not tool_name:
        return {}
    return {"tool": tool_name, "action": "help", **({"name": name} if name else {})}


# -- Actions ---------------------------------------------------------------------------------------


def pick_action(tool: Tool, name: str | None, arguments: Collection[str]) -> Action:
    """Return the action of this name; without one the default for the arguments, never destructive."""
    name = name.strip() if name else ""
    if tool.is_single and (not name or squeezed(name) == tool.name):
        return tool.actions[""]
    if name:
        return tool.named(name) or _refuse_unknown(tool, name, arguments)
    given = set(arguments)
    default = next((tool.actions[action] for needed, action in tool.otherwise if needed <= given), None)
    if default and default.takes(given):
        return default
    if by_other_names := _default_by_other_names(tool, given):
        return by_other_names
    raise _missing_action(tool, arguments)


def _default_by_other_names(tool: Tool, given: set[str]) -> Action | None:
    for needed, name in tool.otherwise:
        default = tool.actions[name]
        others = default.arguments.others
        declared = {others[said].name if said in others else said for said in given}
        if needed and needed <= declared and default.takes(declared):
            return default
    return None


def _missing_action(tool: Tool, given: Collection[str]) -> InvalidInput:
    fitting = [a for a in tool.actions.values() if set(given) <= {*a.arguments.names, *COMMON_ARGUMENTS}]
    missing = [] if is_flat() else ["action"]
    details: dict[str, Any] = {"missing": missing}
    advice: Sequence[str] = ()
    if meant := _meant_action(tool, given) or suggest_default(tool, given):
        advice = meant.repair.advice
        details |= {**meant.repair.details, "missing": [*missing, *meant.repair.missing]}
        details["call"] = _call_of(meant)
    return InvalidInput(
        f"There is no tool {shown(tool.name)}." if is_flat() else f"{tool.name} needs an action.",
        **details,
        allowed=few_of("", [action.call_name for action in fitting or tool.actions.values()]),
        hint=" ".join([*advice, _hint_of(tool)]),
    )


def _meant_action(tool: Tool, given: Collection[str]) -> Suggestion | None:
    """What a call means that has its action under another name, or within an object."""
    strange = [name for name in given if all(name not in a.known for a in tool.actions.values())]
    said = said_action(given, strange)
    if said is None:
        return None
    name, value = said
    rest = {other: given[other] for other in given if other != name}  # type: ignore[index]
    action = tool.named(value)
    found = suggestion(action, rest) if action else suggest_action(tool, value, rest, tools_offered())
    if found is None or not name:
        return found
    return Suggestion(found.action, replace(found.repair, left_out=[name, *found.repair.left_out]))


def _refuse_unknown(tool: Tool, name: str, given: Collection[str]) -> Action:
    found = suggest_action(tool, name, given, tools_offered())
    told = _told_of(found) if found else {}
    raise InvalidInput(
        f"There is no tool {shown(flat_name(tool.name, name))}."
        if is_flat()
        else f"{tool.name} has no action {shown(name)}.",
        **(_details_of(found, tool.name) if found else {}),
        **(told or _offer(tool, name)),
    )


def _offer(tool: Tool, name: str) -> dict[str, Any]:
    """The actions, or the few that are nearest, for an unknown one of which nothing is suggested."""
    names = [action.call_name for action in tool.actions.values()]
    return {"allowed": few_of(name, names), "hint": f"{_elsewhere(tool, name)}{_hint_of(tool)}"}


def _elsewhere(tool: Tool, name: str) -> str:
    """How it is done, or where an action of this name is: not suggested, as it writes something else."""
    if told := DONE_OTHERWISE.get((tool.name, snake(name))):
        return f"{_OPERATION.sub(lambda found: operation(found[1]), told)} "
    others = [a for a in called(name, tools_offered().values()) if squeezed(a.name) == squeezed(name)]
    if not others or len(others) > 2:
        return ""
    if is_flat():
        return f"There is {' and '.join(action.flat_name for action in others)}. "
    return f"{name} is an action of {' and '.join(action.tool for action in others)}. "


def _hint_of(tool: Tool) -> str:
    if is_flat():
        return "Each of these is a tool of its own."
    return f'{tool.name} with action "help" lists the actions and their arguments.'


# -- Arguments -------------------------------------------------------------------------------------


def check_arguments(action: Action, given: Mapping[str, Any]) -> dict[str, Any]:
    """Validate and convert the arguments. Raises InvalidInput with suggestions.

    If the unknown arguments fit another operation, `call` in the error names it.
    """
    try:
        return action.arguments.check(
            given, action.shown_name, also=action.also_allowed, writes=action.writes, noun=action.tool
        )
    except InvalidInput as error:
        arguments = present(given)
        unknown = [name for name in arguments if name not in action.known]
        if unknown:
            _suggest_other(action, error, arguments, unknown)
        raise


def _suggest_other(
    action: Action, error: InvalidInput, given: Mapping[str, Any], unknown: Sequence[str]
) -> None:
    own = suggestion(action, given)
    other = None
    if own.repair.unknown and len(unknown) <= MOST_NAMES:
        tools = tools_offered()
        other = for_files(action, given, tools) or fitting_action(action, tools.values(), given)
    if other or own.repair.instead:
        chosen = other or own
        error.hint = " ".join(chosen.repair.advice)
        error.details |= {**chosen.repair.details, "allowed": [], "call": _call_of(chosen)}
    elif "refs" in action.taken.required and "refs" not in {*given, *own.repair.renamed.values()}:
        error.hint = error.hint or f"{action.shown_name} takes refs: a kind, a colon and an id or key."


# -- Errors ----------------------------------------------------------------------------------------


def _details_of(found: Suggestion, tool: str = "") -> dict[str, Any]:
    """The details of an error about a name. `tool`: the one that was called, if it exists.

    An action of that tool is only named, unless the arguments are wrong, too.
    """
    action, repaired = found.action, found.repair
    details = {name: value for name, value in repaired.details.items() if value}
    if not repaired.given:
        details.pop("missing", None)
    if action.tool == tool and not details and not is_flat():
        return {"did_you_mean": action.call_name}
    call = _call_of(found)
    word = action.call_name if action.tool == tool else call["tool"]
    return {"did_you_mean": word, **details, "call": call}


def _told_of(found: Suggestion) -> dict[str, Any]:
    """What an error tells beside a suggestion: a hint, and what is taken if a name stays unknown."""
    told, unknown = list(found.repair.advice), found.repair.unknown
    if not unknown:
        return {"hint": " ".join(told)}
    names = found.action.arguments.names
    told.append(f"{found.action.shown_name} has no argument {shown_all(unknown)}.")
    return {"hint": " ".join(told), "allowed": few_of(unknown[0], names)}


def _call_of(found: Suggestion) -> dict[str, Any]:
    return {**call_of(found.action.tool, found.action.name), **found.repair.instead}


def _shown_tools(names: Sequence[str]) -> list[str]:
    if not is_flat():
        return list(names)
    return [action.flat_name for name in names for action in all_tools()[name].actions.values()]
