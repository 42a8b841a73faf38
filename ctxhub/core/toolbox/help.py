"""`action:"help"`: description, arguments and an example of each action."""

import json
from collections.abc import Iterable
from typing import Any

from ctxhub.core.kit.caller import ADMIN, Caller
from ctxhub.core.kit.tool_names import is_flat
from ctxhub.core.toolbox.actions import Action, Tool
from ctxhub.core.toolbox.common_arguments import AGENT, BUDGET, EXACT, FORMAT, SECRET, SESSION

EVERYWHERE = {
    AGENT: "agent (who speaks)",
    SESSION: "session (its id or name)",
    FORMAT: f"{FORMAT.signature} on lists",
    BUDGET: BUDGET.signature,
    EXACT: "exact=true for paths as they are written",
    SECRET: f"{SECRET.name}=true (stores what looks like a credential)",
}


def help_for(tool: Tool, caller: Caller, name: str | None = None) -> dict[str, Any]:
    """Return the actions the caller may use; `!` marks required arguments, `[]` lists, `{}` objects.

    `name`: only this action. Raises InvalidInput, with suggestions, if there is none, and NotAllowed.
    """
    usable = [action for action in tool.actions.values() if action.is_usable_by(caller)]
    if name:
        asked = tool.pick(name, ())
        if asked not in usable:
            asked.require_scope(caller, {})
        usable = [asked]
    common = [argument for action in usable for argument in action.common]
    taken = [AGENT, SESSION, *(each for each in common if each is not SECRET or caller.may(ADMIN))]
    return {
        "tool": tool.name,
        "does": tool.summary,
        "actions": {action.name or tool.name: _entry(tool, action) for action in usable},
        "everywhere": ", ".join(text for argument, text in EVERYWHERE.items() if argument in taken),
    }


def _entry(tool: Tool, action: Action) -> dict[str, Any]:
    entry: dict[str, Any] = {"does": " ".join(action.doc.split()), "arguments": str(action.arguments)}
    if action.example or action.name:
        entry["example"] = example_of(action, [action] if is_flat() else tool.actions.values())
    return entry


def example_of(action: Action, declaring: Iterable[Action]) -> dict[str, Any]:
    """The example of a call, as the schema of a tool with these actions declares the arguments.

    What is declared as a text, also because two actions differ, is one: some clients send nothing else.
    """
    types: dict[str, set[str]] = {}
    for each in declaring:
        for argument in each.arguments.declared.all:
            types.setdefault(argument.name, set()).add(str(argument.schema.get("type")))
    name = {"action": action.name} if action.name else {}
    return name | {said: _as_declared(value, types.get(said)) for said, value in action.example.items()}


def _as_declared(value: Any, types: set[str] | None) -> Any:
    is_text = types is not None and (len(types) > 1 or types == {"string"})
    return json.dumps(value) if is_text and isinstance(value, bool | int | float) else value
