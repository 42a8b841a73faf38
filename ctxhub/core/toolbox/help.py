"""`action:"help"`: description, arguments and an example of each action."""

from typing import Any

from ctxhub.core.kit.caller import ADMIN, Caller
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
        "actions": {action.name or tool.name: _entry(action) for action in usable},
        "everywhere": ", ".join(text for argument, text in EVERYWHERE.items() if argument in taken),
    }


def _entry(action: Action) -> dict[str, Any]:
    entry: dict[str, Any] = {"does": " ".join(action.doc.split()), "arguments": str(action.arguments)}
    name = {"action": action.name} if action.name else {}
    if action.example or name:
        entry["example"] = {**name, **action.example}
    return entry
