"""No suggestion leads to a write on something else: every tool with the names of all others, in all ways.

What a name says is judged here by lists and declarations of its own, not by the code that suggests.
"""

from collections.abc import Iterator, Mapping
from itertools import cycle
from typing import Any

import pytest

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.toolbox.actions import Action, Tool, all_tools
from ctxhub.toolbox.aliases import OTHER_ACTIONS, OTHER_ARGUMENTS, OTHER_CALLS
from ctxhub.toolbox.meanings import AGENTS
from ctxhub.toolbox.picking import check_arguments, find_tool, pick_action

pytestmark = pytest.mark.one_engine

READ = [
    "browse",
    "check",
    "count",
    "describe",
    "export",
    "fetch",
    "find",
    "get",
    "history",
    "inspect",
    "list",
    "load",
    "lookup",
    "open",
    "peek",
    "query",
    "read",
    "recall",
    "retrieve",
    "search",
    "select",
    "show",
    "stats",
    "view",
]
KEEP = [
    "add",
    "append",
    "create",
    "edit",
    "insert",
    "log",
    "make",
    "modify",
    "patch",
    "post",
    "put",
    "record",
    "register",
    "save",
    "set",
    "store",
    "update",
    "upsert",
]
REMOVE = ["archive", "delete", "destroy", "drop", "erase", "forget", "purge", "remove"]
END = [
    "cancel",
    "clear",
    "close",
    "end",
    "expire",
    "finish",
    "free",
    "reset",
    "revert",
    "revoke",
    "stop",
    "undo",
    "unlock",
    "wipe",
]
# What takes something back; a name that keeps something never leads there.
TAKING_BACK = {
    *(
        "constraint.deactivate",
        "decision.deprecate",
        "file.release",
        "memory.unrelate",
        "scratchpad.close_workflow",
    ),
    *("memory.restore", "scratchpad.restore"),
}
# The kind of object that each write is on; of the others that of their tool.
KIND = {
    "decision.template_set": "template",
    **dict.fromkeys(["file.lease", "file.renew", "file.release"], "lease"),
    **dict.fromkeys(["file.record", "file.record_batch"], "change"),
    **dict.fromkeys(["memory.context_create", "memory.context_update"], "context"),
    **dict.fromkeys(["memory.relate", "memory.unrelate", "memory.relationships"], "relationship"),
    **dict.fromkeys(["scratchpad.create_workflow", "scratchpad.close_workflow"], "workflow"),
}
NOUNS = {
    **{
        kind: kind
        for kind in ("decision", "constraint", "message", "memory", "context", "snapshot", "session")
    },
    **{kind: kind for kind in ("scratchpad", "workflow", "lease", "template")},
    "note": "memory",
    "rule": "constraint",
    "lock": "lease",
    "pad": "scratchpad",
    "reservation": "lease",
    # The hub has no such objects.
    **dict.fromkeys(
        ("agent", "branch", "project", "tag", "user", "layer", "webhook", "token", "comment"), ""
    ),
}
SPEAKERS = {
    "from_agent",
    "by",
    "parent",
    "author",
    "from",
    "sender",
    "created_by",
    "agent_name",
    "changed_by",
}
# Whoever says them wants exactly that: they stand for nothing else, and are never left out.
FLAGS = {
    "force",
    "dry_run",
    "exclusive",
    "all",
    "undo",
    "atomic",
    "reopen",
    "create",
    "ack",
    "expected_version",
}


def actions() -> list[Action]:
    return [action for tool in all_tools().values() for action in tool.actions.values()]


def value_of(action: Action, name: str) -> Any:
    """A value that the argument may have."""
    argument = next(argument for argument in action.arguments.all if argument.name == name)
    kind = argument.schema.get("type")
    if argument.choices:
        return [argument.choices[0]] if kind == "array" else argument.choices[0]
    values: dict[str, Any] = {
        "integer": 5,
        "number": 0.5,
        "boolean": True,
        "array": ["x"],
        "object": {"x": 1},
    }
    return values.get(str(kind), "x")


def arguments_of(action: Action, *, all_of_them: bool) -> dict[str, Any]:
    asked = [a for a in action.arguments.all if all_of_them or a.required]
    return {argument.name: value_of(action, argument.name) for argument in asked}


def details(error: InvalidInput, tool: Tool | None) -> tuple[Action | None, dict[str, Any]]:
    """The operation that an error leads to, if it does, and the details."""
    found, call = error.details.get("did_you_mean"), error.details.get("call")
    if call:
        return all_tools()[call["tool"]].actions[call.get("action", "")], error.details
    if tool is not None and isinstance(found, str):
        return next(action for action in tool.actions.values() if action.last_name == found), error.details
    return None, error.details


def refusal_of_action(tool: Tool, name: str, given: Mapping[str, Any]) -> InvalidInput | None:
    try:
        pick_action(tool, name, given)
    except InvalidInput as error:
        return error
    return None


def refusal_of_tool(name: str, given: Mapping[str, Any]) -> InvalidInput | None:
    try:
        find_tool(name, given=given)
    except InvalidInput as error:
        return error
    return None


def words(name: str) -> list[str]:
    return name.replace("-", "_").lower().split("_")


def says_removal(name: str) -> bool:
    return not {*REMOVE, *END}.isdisjoint(words(name))


def judge(
    name: str, to: Action, found: Mapping[str, Any], *, tool: str, kinds: set[str], reads: bool
) -> None:
    """Assert that the call of a `name` may lead to an operation.

    `tool`: the one that was called. `kinds`: of the objects that the call is about. `reads`: what it says.
    """
    what = f"{name!r} of {tool} leads to {to.call} {dict(found)}"
    if (
        not to.writes
        or to.scope == "read"
        or (to.tool == tool and not {name, name.removeprefix(f"{tool}_")}.isdisjoint(to.names))
    ):
        return
    assert not reads, what
    if to.call == "delete":
        assert not set(words(name)).isdisjoint(REMOVE), what
        assert {ref.partition(":")[0] for ref in found["call"].get("refs", ())} <= kinds, what
        return
    assert not to.destroys, what
    assert to.call not in TAKING_BACK or says_removal(name), what
    if "refs" in found.get("call", {}):
        assert {ref.partition(":")[0] for ref in found["call"]["refs"]} <= kinds, what
    else:
        assert to.tool == tool or KIND.get(to.call, to.tool) in kinds, what


def names_of_other_tools(tool: Tool) -> Iterator[tuple[str, Action]]:
    for action in actions():
        for name in action.names if action.tool != tool.name else ():
            yield name, action


def reads(name: str) -> bool:
    """Whether any operation of this name reads."""
    return any(not action.writes or action.scope == "read" for action in actions() if name in action.names)


def declared_names() -> set[str]:
    return {name for action in actions() for name in (*action.names, action.flat_name)}


def kinds_in(name: str) -> set[str]:
    return {NOUNS[word.removesuffix("s")] for word in words(name) if word.removesuffix("s") in NOUNS}


def kinds_of(tool: Tool) -> set[str]:
    return {tool.name, *(KIND.get(action.call, tool.name) for action in tool.actions.values())}


@pytest.mark.parametrize("tool", list(all_tools()))
def test_the_actions_of_other_tools(tool: str) -> None:
    called = all_tools()[tool]
    led = 0
    for name, action in names_of_other_tools(called):
        for given in (
            {},
            {"id": 5},
            arguments_of(action, all_of_them=False),
            arguments_of(action, all_of_them=True),
        ):
            flat = f"{tool}_{name}".replace("-", "_")
            for error, of, said in (
                (refusal_of_action(called, name, given), called, name),
                (None if called.is_single else refusal_of_tool(flat, given), None, flat),
            ):
                to, found = details(error, of) if error else (None, {})
                if to is not None:
                    led += 1
                    kinds = {*kinds_of(called), *kinds_in(name)}
                    judge(said, to, found, tool=tool, kinds=kinds, reads=reads(name))
    assert led


GIVEN: list[dict[str, Any]] = [{}, {"id": 5, "text": "x", "all": True}, {"title": "x", "content": "y"}]


def test_verbs_of_other_servers_for_all_nouns() -> None:
    aliases = {f"{action.tool}{s}_{name}" for action in actions() for name in action.names for s in ("", "s")}
    reversed_ = {f"{name}_{action.tool}" for action in actions() for name in action.names}
    declared = {*OTHER_CALLS, *declared_names(), *aliases, *reversed_}
    led = 0
    given = cycle(GIVEN)
    for noun, kind in NOUNS.items():
        for verb in (*READ, *KEEP, *REMOVE, *END, "frobnicate"):
            for name in (f"{verb}_{noun}", f"{noun}s_{verb}"):
                error = refusal_of_tool(name, next(given)) if name not in declared else None
                to, found = details(error, None) if error else (None, {})
                if to is not None:
                    led += 1
                    judge(name, to, found, tool="", kinds={kind}, reads=verb in READ)
    assert led


def test_verbs_of_other_servers_as_actions() -> None:
    for tool in all_tools().values():
        for verb in (*READ, *KEEP, *REMOVE, *END, *OTHER_ACTIONS, "frobnicate"):
            for given in GIVEN:
                error = refusal_of_action(tool, verb, given)
                to, found = details(error, tool) if error else (None, {})
                if to is not None:
                    judge(verb, to, found, tool=tool.name, kinds=kinds_of(tool), reads=verb in READ)


def test_typing_errors_lead_to_the_mistyped_name() -> None:
    """One letter too few; what is mistyped may not become the name of another operation."""
    for action in actions():
        for name in action.names if action.name else ():
            for mistyped in {name[:at] + name[at + 1 :] for at in range(1, len(name))} - declared_names():
                error = refusal_of_action(all_tools()[action.tool], mistyped, {})
                to, _ = details(error, all_tools()[action.tool]) if error else (None, {})
                if to is not None and to.writes:
                    assert action.writes, (name, mistyped, to.call)
                    assert not to.destroys or action.destroys, (name, mistyped, to.call)


def unknown_arguments() -> dict[str, Any]:
    """The names of all arguments, also those of other servers, with values."""
    own = {
        argument.name: value_of(action, argument.name)
        for action in actions()
        for argument in action.arguments.all
    }
    return {
        **dict.fromkeys(OTHER_ARGUMENTS, "x"),
        **dict.fromkeys(SPEAKERS, "ben"),
        **own,
        **dict.fromkeys(FLAGS, True),
    }


@pytest.mark.parametrize("tool", list(all_tools()))
def test_the_arguments_of_other_operations(tool: str) -> None:
    for action in all_tools()[tool].actions.values():
        required = arguments_of(action, all_of_them=False)
        for name, value in unknown_arguments().items():
            if name in action.known:
                continue
            what = f"{action.call} with {name}"
            with pytest.raises(InvalidInput) as refused:
                check_arguments(action, {**required, name: value})
            found = refused.value.details
            renamed = found["did_you_mean"]
            assert "agent" not in renamed.values(), what
            assert name not in FLAGS or not {name} & {*renamed, *found["leave_out"]}, what
            assert set(found["leave_out"]) <= SPEAKERS or {"refs", "superseded_by"} & {
                *found.get("call", {})
            }, what
            assert name not in SPEAKERS or not action.writes or renamed.get(name) not in {"to", "agents"}, (
                what
            )
            to, _ = details(refused.value, None)
            if to is not None and to is not action:
                judge_other(action, to, found, what)


def judge_other(action: Action, to: Action, found: Mapping[str, Any], what: str) -> None:
    """Assert that a call whose arguments do not fit may lead to another operation."""
    what = f"{what} leads to {to.call} {found}"
    assert action.writes or not to.writes, what
    assert to.writes or action.scope == "read", what
    assert not to.writes or KIND.get(to.call, to.tool) == KIND.get(action.call, action.tool), what
    assert not to.writes or {action.name, to.name} <= {"set", "quick_set", "from_template"}, what
    assert not to.destroys, what


def test_a_missing_action_leads_to_no_write_but_the_default() -> None:
    for tool in all_tools().values():
        defaults = {name for _, name in tool.otherwise}
        for action in tool.actions.values():
            for all_of_them in (False, True):
                given = arguments_of(action, all_of_them=all_of_them)
                try:
                    pick_action(tool, None, given)
                except InvalidInput as error:
                    to, _ = details(error, None)
                    assert to is None or not to.writes or to.name in defaults, (action.call, to)


@pytest.mark.parametrize("name", sorted(SPEAKERS))
def test_agent_is_never_suggested(name: str) -> None:
    for action in actions():
        if name not in action.known:
            with pytest.raises(InvalidInput) as refused:
                check_arguments(action, {name: "ben"})
            assert refused.value.details["did_you_mean"].get(name) != "agent", action.call
            is_reader = action.tool == "message" and name in AGENTS  # `by` of an inbox is who sent.
            by = "by" in action.arguments.names and not action.writes and name not in ("parent", "from")
            by = by and not is_reader
            assert not by or refused.value.details["did_you_mean"].get(name) == "by", action.call
