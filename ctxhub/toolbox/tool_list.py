"""Tool declarations as JSON: grouped tools (few tokens), or flat ones (one tool for each action)."""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from typing_extensions import is_typeddict

from ctxhub.core.hub.partial_reads import Reading
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.listing import Fitting, Listing
from ctxhub.toolbox.actions import Action, Tool, all_tools, kinds_of
from ctxhub.toolbox.common_arguments import COMMON
from ctxhub.toolbox.json_schemas import answer_schema
from ctxhub.toolbox.picking import find_tool
from ctxhub.toolbox.tool_order import in_order

CORE = ("brief", "search", "get", "check", "decision", "message")

ALWAYS_LOAD = "anthropic/alwaysLoad"

_TEXT = {"type": "string"}
_NUMBER = {"type": "integer"}


def list_tools(
    caller: Caller, *, surface: str = "grouped", profile: str = "all", only: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Return the tools the caller may use, in fixed order: name, description, inputSchema, annotations.

    Those that are `always_loaded` have `_meta` for it.
    """
    usable = [
        (tool, actions)
        for tool in chosen_tools(profile, only)
        if (actions := [action for action in tool.actions.values() if action.is_usable_by(caller)])
    ]
    if surface == "flat":
        return [_flat(caller, action) for _, actions in usable for action in actions]
    return [_grouped(caller, tool, actions) for tool, actions in usable]


def find_call(
    name: str, arguments: Mapping[str, Any], *, profile: str = "all", only: Sequence[str] = ()
) -> tuple[str, dict[str, Any]]:
    """Return tool and arguments of a call by a name of either surface: `decision`, or `decision_set`.

    Raises InvalidInput for a tool outside the profile and `only`, as if it did not exist.
    """
    tool, action = (name, "") if name in all_tools() else _flat_names().get(name, (name, ""))
    if (offered := offered_tools(profile, only)) is not None and tool not in offered:
        find_tool(name, offered, arguments)
    return tool, {**arguments, **({"action": action} if action else {})}


def offered_tools(profile: str, only: Sequence[str]) -> list[str] | None:
    """Return the names of the tools in the profile and `only`; None means all."""
    return [tool.name for tool in chosen_tools(profile, only)] if only or profile != "all" else None


@cache
def _flat_names() -> dict[str, tuple[str, str]]:
    actions = [action for tool in all_tools().values() for action in tool.actions.values()]
    return {action.flat_name: (action.tool, action.name) for action in actions if action.name}


def check_choice(profile: str, only: Sequence[str]) -> None:
    """Raise InvalidInput for a profile or a tool that does not exist."""
    chosen_tools(profile, only)


def chosen_tools(profile: str, only: Collection[str]) -> list[Tool]:
    """Return the tools of the profile, or of `only`, in order. Raises InvalidInput for unknown names."""
    if profile not in ("all", "core"):
        raise InvalidInput(f"There is no profile {shown(profile)}.", allowed=["all", "core"])
    known = in_order(all_tools())
    for name in only:
        find_tool(name, known)
    wanted = only or (CORE if profile == "core" else known)
    return [all_tools()[name] for name in known if name in wanted]


def _grouped(caller: Caller, tool: Tool, actions: Sequence[Action]) -> dict[str, Any]:
    properties: dict[str, Any] = {} if tool.is_single else {"action": _TEXT}
    for action in actions:
        for argument in action.arguments.declared.all:
            properties[argument.name] = _either(properties.get(argument.name), argument.schema)
    properties |= _common(actions)
    required = [a.name for a in actions[0].arguments.all if a.required] if tool.is_single else []
    return {
        "name": tool.name,
        "description": _description(tool, actions),
        "inputSchema": _object(properties, required),
        "annotations": _hints(caller, actions),
        **_meta(tool),
    }


def _description(tool: Tool, actions: Sequence[Action]) -> str:
    """The summary, a line for each action, and the names of the quiet ones."""
    listed: set[str] = set()
    lines = [action.signature(listed) for action in actions if not action.quiet]
    if tool.is_single:
        return f"{tool.summary} {lines[0]}"
    if quiet := " ".join(action.name for action in actions if action.quiet):
        lines.append(f"more, see help: {quiet}")
    return "\n".join([tool.summary, *lines])


def _flat(caller: Caller, action: Action) -> dict[str, Any]:
    declared = action.arguments.declared
    properties = {a.name: a.schema for a in declared.all} | _common([action])
    return {
        "name": action.flat_name,
        "description": f"{action.summary} {declared}".strip(),
        "inputSchema": _object(properties, [a.name for a in declared.all if a.required]),
        "annotations": _hints(caller, [action]),
        "outputSchema": _output_schema(action),
        **_meta(all_tools()[action.tool]),
    }


def _meta(tool: Tool) -> dict[str, Any]:
    """What Claude Code reads: it shows these tools to the model without a search for them first."""
    return {"_meta": {ALWAYS_LOAD: True}} if tool.always_loaded else {}


def _common(actions: Sequence[Action]) -> dict[str, Any]:
    """What calls take besides, as far as it is declared."""
    taken = {argument.name for action in actions for argument in action.common}
    return {a.name: a.schema for a in COMMON if a.is_declared and a.name in taken}


def _object(properties: Mapping[str, Any], required: Sequence[str]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": dict(properties)}
    return {**schema, "required": list(required)} if required else schema


def _either(first: dict[str, Any] | None, second: dict[str, Any]) -> dict[str, Any]:
    """Merge the schemas of an argument that two actions share. Every other type is taken as a text, too."""
    return second if first is None or first == second else _TEXT


def _hints(caller: Caller, actions: Sequence[Action]) -> dict[str, Any]:
    """Return the MCP annotations, as far as the caller's scopes reach."""
    writing = [action for action in actions if action.writes_for(caller)]
    return {
        "readOnlyHint": not writing,
        "destructiveHint": any(action.destroys for action in writing),
        "idempotentHint": all(action.idempotent for action in writing),
        "openWorldHint": False,
    }


def _output_schema(action: Action) -> dict[str, Any]:
    kinds = [_schema_of(kind) for kind in kinds_of(get_type_hints(action.run)["return"])]
    if len(kinds) == 1:
        return kinds[0]
    return {"type": "object", "properties": {n: s for kind in kinds for n, s in kind["properties"].items()}}


@cache
def _schema_of(answer: Any) -> dict[str, Any]:
    """Made once: all of them take 60 ms. Nobody may change it."""
    if answer is Listing:
        return _LIST_SCHEMA
    [shape] = get_args(answer) if get_origin(answer) in (Reading, Fitting) else [answer]
    schema = answer_schema(shape)
    if "required" in schema:
        schema["required"] = [name for name in schema["required"] if name not in _lists_of(shape)]
    return schema


def _lists_of(shape: Any) -> set[str]:
    """The fields that are lists: an answer leaves out the empty ones."""
    hints = get_type_hints(shape) if is_typeddict(shape) else {}
    return {name for name, hint in hints.items() if hint is Listing}


_LIST_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "columns": {"type": "array", "items": _TEXT},
        "rows": {"type": "array", "items": {"type": "array"}},
        "items": {"type": "array", "items": {"type": "object"}},
        "count": _NUMBER,
        "total": _NUMBER,
        "next": _TEXT,
        "omitted": _NUMBER,
        "truncated": {"type": "boolean"},
        "hint": _TEXT,
    },
    "required": ["count"],
}
