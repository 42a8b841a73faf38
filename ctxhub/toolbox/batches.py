"""Validates each item of a batch as a call of its action."""

from collections.abc import Mapping, Sequence
from typing import Any

from ctxhub.core.kit.errors import CtxhubError, InvalidInput, shown
from ctxhub.toolbox.actions import Action, all_tools
from ctxhub.toolbox.batch_writes import Items, refuse_too_many


def checked_items(items: Sequence[Any], tool: str, action: str) -> Items:
    """Return the validated arguments of each item, or its error. Raises InvalidInput for too many items."""
    refuse_too_many(items)
    declared = all_tools()[tool].actions[action]
    return [_checked(item, declared) for item in items]


def _checked(item: Any, action: Action) -> Mapping[str, Any] | CtxhubError:
    if not isinstance(item, Mapping):
        needed = ", ".join(f'"{argument.name}"' for argument in action.arguments.all if argument.required)
        return InvalidInput(
            f"An item is an object, not {shown(item)}.",
            hint=f"Each takes what `{action.call_name}` takes: {{{needed}}}.",
        )
    # Some models write an item as they would write the call.
    arguments = {name: value for name, value in item.items() if (name, value) != ("action", action.name)}
    try:
        declared = action.arguments.by_declared_names(arguments)
        return action.arguments.check(declared, action.shown_name, writes=action.writes, noun=action.tool)
    except CtxhubError as error:
        return error
