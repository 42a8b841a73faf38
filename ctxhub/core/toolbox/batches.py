"""The items of a batch, each checked as a call of the action that it stands for."""

from collections.abc import Mapping, Sequence
from typing import Any

from ctxhub.core.kit.errors import CtxhubError, InvalidInput, shown
from ctxhub.core.toolbox.batch_writes import Items
from ctxhub.core.toolbox.registry import Action, all_tools


def checked_items(items: Sequence[Any], tool: str, action: str) -> Items:
    """What the service takes; an item that is wrong is its error, which need not stop the others."""
    one = all_tools()[tool].actions[action]
    return [_checked(item, one) for item in items]


def _checked(item: Any, action: Action) -> Mapping[str, Any] | CtxhubError:
    if not isinstance(item, Mapping):
        needed = ", ".join(f'"{argument.name}"' for argument in action.arguments.all if argument.required)
        return InvalidInput(
            f"An item is an object, not {shown(item)}.",
            hint=f"Each takes what `{action.told_name}` takes: {{{needed}}}.",
        )
    # Some models write an item as they would write the call.
    said = {name: value for name, value in item.items() if (name, value) != ("action", action.name)}
    try:
        return action.arguments.check(said, action.shown_name)
    except CtxhubError as error:
        return error
