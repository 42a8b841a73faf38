"""`action:"help"`: description, arguments and an example of each action."""

import json
from collections.abc import Iterable
from typing import Any

from ctxhub.core.kit.caller import ADMIN, Caller
from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.tool_names import is_flat
from ctxhub.toolbox.actions import Action, Tool, all_tools, tools_offered
from ctxhub.toolbox.common_arguments import AGENT, BUDGET, EXACT, FORMAT, SECRET, SESSION
from ctxhub.toolbox.picking import pick_action
from ctxhub.toolbox.spelling import squeezed

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
        asked = _asked(tool, name)
        if not asked.is_usable_by(caller):
            asked.require_scope(caller, {})
        tool, usable = all_tools()[asked.tool], [asked]
    common = [argument for action in usable for argument in action.common]
    taken = [AGENT, SESSION, *(each for each in common if each is not SECRET or caller.may(ADMIN))]
    return {
        "tool": tool.name,
        "does": tool.summary,
        "actions": {action.name or tool.name: _entry(tool, action) for action in usable},
        "everywhere": ", ".join(text for argument, text in EVERYWHERE.items() if argument in taken),
    }


def _asked(tool: Tool, name: str) -> Action:
    """The operation of this name: the tool's own, else that of another tool, if only one has it.

    A whole name (`decision set`, decision.set, `decision_set`) is understood from every tool. Raises
    InvalidInput, naming the operations that may be meant.
    """
    if own := tool.named(name):
        return own
    others = [action for each in tools_offered().values() for action in each.actions.values()]
    whole = [action for action in others if squeezed(action.flat_name) == squeezed(name)]
    named = whole or [action for action in others if squeezed(action.last_name) == squeezed(name)]
    if len(named) > 1:
        raise InvalidInput(
            f"{tool.name} has no action {shown(name)}, and {len(named)} tools have one.",
            hint="Name the tool, too.",
            allowed=[" ".join(filter(None, (action.tool, action.name))) for action in named],
        )
    return named[0] if named else pick_action(tool, name, ())


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
