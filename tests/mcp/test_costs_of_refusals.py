"""What refusals of unknown names cost: every tool, action, argument and word, mistyped and made up."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from ctxhub.core.kit.errors import CtxhubError, unknown_word
from ctxhub.core.kit.tool_names import naming_tools
from ctxhub.toolbox.actions import Action, all_tools
from ctxhub.toolbox.dispatch import as_text
from ctxhub.toolbox.picking import check_arguments, find_tool, pick_action
from tests.tokens import o200k

pytestmark = pytest.mark.one_engine

MOST_TOKENS = 120
MADE_UP = "zzqx"


def mistyped(name: str) -> str:
    return f"{name[:2]}{name[3:]}" if len(name) > 4 else f"{name}{name[-1]}"


def actions() -> list[Action]:
    return [action for tool in all_tools().values() for action in tool.actions.values()]


def of_tools() -> Iterator[tuple[str, Callable[[], object]]]:
    for name in (*all_tools(), *(action.flat_name for action in actions()), MADE_UP, f"{MADE_UP}_set"):
        yield mistyped(name), partial(find_tool, mistyped(name))


def of_actions() -> Iterator[tuple[str, Callable[[], object]]]:
    for tool in all_tools().values():
        for name in (*tool.actions, MADE_UP):
            yield f"{tool.name} {name}", partial(pick_action, tool, mistyped(name or tool.name), ())
        yield tool.name, partial(pick_action, tool, "", [MADE_UP])


def of_arguments() -> Iterator[tuple[str, Callable[[], object]]]:
    for action in actions():
        required = {argument.name: "x" for argument in action.arguments.all if argument.required}
        for name in (*action.arguments.names, MADE_UP):
            given = {other: value for other, value in required.items() if other != name}
            arguments = {**given, mistyped(name): "x"}
            yield f"{action.call} {name}", partial(check_arguments, action, arguments)


def of_words() -> Iterator[tuple[str, Callable[[], object]]]:
    for argument in (argument for action in actions() for argument in action.arguments.all):
        for word in (*argument.choices, MADE_UP):
            yield (
                f"{argument.name}={word}",
                partial(raised, argument.name, mistyped(word), argument.choices or ["x"]),
            )


def raised(name: str, word: str, known: list[str]) -> None:
    raise unknown_word(name, word, known)


@pytest.mark.parametrize("flat", [False, True], ids=["grouped", "flat"])
@pytest.mark.parametrize("names", [of_tools, of_actions, of_arguments, of_words])
def test_no_refusal_of_an_unknown_name_costs_more_than_120_tokens(
    names: Callable[[], Iterator[tuple[str, Callable[[], object]]]], flat: bool
) -> None:
    refused = 0
    with naming_tools(flat=flat):
        for what, make in names():
            try:
                make()
            except CtxhubError as error:
                refused += 1
                text = as_text(error.body())
                assert o200k(text) <= MOST_TOKENS, f"{what}: {text}"
    assert refused > 10


def test_an_unknown_flat_tool_names_the_five_nearest_and_how_to_see_all() -> None:
    with naming_tools(flat=True), pytest.raises(CtxhubError) as refused:
        find_tool("session_depends_on_what")
    body = refused.value.body()
    assert len(body["allowed"]) == 5
    assert "session_depend" in body["allowed"]
    assert "tools/list has all" in body["hint"]


def test_a_complete_repair_has_no_list_beside_it() -> None:
    decision = all_tools()["decision"]
    for make in (
        partial(check_arguments, decision.actions["set"], {"name": "k", "value": "x"}),
        partial(pick_action, decision, "create", {"key": "k", "value": "x"}),
        partial(find_tool, "decisions", given={"action": "list"}),
        partial(raised, "status", "archived", ["active", "deprecated"]),
    ):
        with pytest.raises(CtxhubError) as refused:
            make()
        body = refused.value.body()
        assert ("did_you_mean" in body, "allowed" in body) == (True, False), body


def test_what_stays_unknown_in_the_operation_that_is_meant_is_told() -> None:
    with pytest.raises(CtxhubError) as refused:
        pick_action(all_tools()["scratchpad"], "read", {"name": "Plan"})
    body = refused.value.body()
    assert (body["did_you_mean"], body["hint"]) == ("get", "scratchpad.get has no argument 'name'.")
    assert "scratchpad_id" in body["allowed"]
