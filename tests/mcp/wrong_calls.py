"""Wrong calls, and what a client makes of the errors that answer them, without any knowledge of the hub."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.toolbox.actions import all_tools
from ctxhub.toolbox.picking import find_tool, pick_action

NOTE = {"title": "Pools", "content": "They leak when a worker is killed."}
# After these a row that the guesses name is gone, or not what it was.
SPENDING = {
    *(
        "delete",
        "decision.deprecate",
        "constraint.deactivate",
        "message.ack",
        "message.claim",
        "message.read",
    ),
    *("file.release", "scratchpad.close_workflow"),
}


class Client(Protocol):
    def call(self, tool: str, action: str | None = None, /, **arguments: Any) -> dict[str, Any]: ...


def prepare(ada: Client, ben: Client) -> dict[str, int]:
    """Create the rows that the guesses name; return their ids."""
    ben.call("message", "inbox")
    ada.call("decision", "set", key="api/auth", value="JWT", tags=["api"], status="active")
    ada.call("memory", "context_create", name="shop")
    workflow = ada.call("scratchpad", "create_workflow")["workflow_id"]
    pad = ada.call("scratchpad", "create", workflow_id=workflow, name="notes", content="1. Some")
    return {
        "memory": ada.call("memory", "add", **NOTE, context="shop")["id"],
        "constraint": ada.call("constraint", "add", category="security", text="Sign tokens.")["id"],
        "message": ben.call("message", "send", text="Who knows?", to=["ada"], ack=True)["id"],
        "request": ben.call("message", "send", text="Mend it.", to=["ada"], type="request")["id"],
        "lease": ada.call("file", "lease", paths=["lib/**"])["lease_id"],
        "snapshot": ada.call("snapshot", "save", content="We chose Redis.")["id"],
        "session": ada.call("session", "save", conversation="We chose Redis.")["session"],
        "workflow": workflow,
        "pad": pad["scratchpad_id"],
    }


def filled(value: Any, ids: Mapping[str, int]) -> Any:
    """The value with placeholders replaced by ids: `<memory>`, also within a text."""
    if isinstance(value, Mapping):
        return {name: filled(one, ids) for name, one in value.items()}
    if isinstance(value, list):
        return [filled(entry, ids) for entry in value]
    if not isinstance(value, str):
        return value
    for name, row_id in ids.items():
        if value == f"<{name}>":
            return row_id
        value = value.replace(f"<{name}>", str(row_id))
    return value


def corrected(
    tool: str, arguments: Mapping[str, Any], error: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """The next call, derived from the error only; the same call if the error has no suggestion."""
    suggestion, other = error.get("did_you_mean"), error.get("call")
    left = {name: value for name, value in arguments.items() if name not in error.get("leave_out", ())}
    if isinstance(suggestion, dict):
        left = renamed(left, suggestion)
    if other:
        left = {name: value for name, value in left.items() if name != "action"}
        return other["tool"], {**left, **{name: value for name, value in other.items() if name != "tool"}}
    if isinstance(suggestion, str):
        named = [name for name in left if is_named_in(name, error["message"])]
        left = {**left, **dict.fromkeys(named[:1], suggestion)}
    return tool, left


def renamed(arguments: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The arguments under other names; `params.key` is the `key` that `params` holds."""
    emptied = {said.partition(".")[0] for said in names if "." in said}
    kept = {names.get(name, name): value for name, value in arguments.items() if name not in emptied}
    return {
        **kept,
        **{meant: held(arguments, *said.split(".", 1)) for said, meant in names.items() if "." in said},
    }


def held(arguments: Mapping[str, Any], name: str, inner: str) -> Any:
    return parsed(arguments[name])[inner]


def parsed(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) and value.lstrip().startswith("{") else value


def is_named_in(name: str, message: str) -> bool:
    return message.startswith(f"{name}: ") or (name == "action" and "has no action" in message)


def operation(tool: str, arguments: Mapping[str, Any]) -> str:
    flat = {action.flat_name: action for each in all_tools().values() for action in each.actions.values()}
    if tool in flat:
        return flat[tool].call
    given = {name: value for name, value in arguments.items() if name != "action"}
    try:
        return pick_action(find_tool(tool), arguments.get("action"), given).call
    except InvalidInput as error:
        return error.message


def said_in(value: Any) -> Iterator[str]:
    """All that arguments say, without names: what a correction has to keep."""
    value = parsed(value)
    if isinstance(value, Mapping):
        for name, one in value.items():
            yield from () if name == "action" else said_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from said_in(one)
    else:
        yield str(value)


def lost(arguments: Mapping[str, Any], error: Mapping[str, Any], mended: Mapping[str, Any]) -> list[str]:
    """What a correction says no more, but for what the error tells to leave out. A ref says its id."""
    left_out = {"action", *error.get("leave_out", ())}
    said = said_in({name: value for name, value in arguments.items() if name not in left_out})
    kept = set(said_in(mended))
    return [one for one in said if one not in kept and not any(other.endswith(f":{one}") for other in kept)]
