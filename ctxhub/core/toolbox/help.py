"""`action:"help"`: description, arguments and an example of each action."""

from typing import Any

from ctxhub.core.kit.caller import Caller
from ctxhub.core.toolbox.actions import Action, Tool


def help_for(tool: Tool, caller: Caller) -> dict[str, Any]:
    """Return the actions the caller may use; `!` marks required arguments, `[]` lists, `{}` objects."""
    usable = [action for action in tool.actions.values() if action.is_usable_by(caller)]
    return {
        "tool": tool.name,
        "does": tool.summary,
        "actions": {action.name or tool.name: _entry(action) for action in usable},
        "everywhere": "".join(
            [
                "agent (who speaks), session (its id or name)",
                ", format=rows|objects on lists" if any(action.holds_lists for action in usable) else "",
                ", max_tokens" if any(action.takes_budget for action in usable) else "",
            ]
        ),
    }


def _entry(action: Action) -> dict[str, Any]:
    entry: dict[str, Any] = {"does": " ".join(action.doc.split()), "arguments": str(action.arguments)}
    name = {"action": action.name} if action.name else {}
    if action.example or name:
        entry["example"] = {**name, **action.example}
    return entry
