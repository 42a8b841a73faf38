"""Dispatch of a tool call: choice of the action, permissions, and the shape of the answer."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller, acting, current
from ctxhub.core.kit.errors import InvalidInput, NotAllowed
from ctxhub.core.models import Agent, Project
from ctxhub.toolbox.actions import all_tools
from ctxhub.toolbox.dispatch import as_text, call
from ctxhub.toolbox.picking import find_tool, pick_action
from ctxhub.toolbox.spelling import squeezed
from memory.decisions.services import set_decision

pytestmark = pytest.mark.one_engine


def picked_action(tool: str, *arguments: str) -> str:
    return pick_action(find_tool(tool), None, arguments).name


# -- Without an action -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "action"),
    [
        (("key", "value"), "set"),
        (("key", "value", "tags", "agent"), "set"),
        (("key",), "get"),
        (("key", "include"), "get"),
        ((), "list"),
        (("tags", "limit", "format"), "list"),
    ],
)
def test_a_decision_without_an_action_is_set_got_or_listed(arguments: tuple[str, ...], action: str) -> None:
    assert picked_action("decision", *arguments) == action


def test_a_hub_call_without_an_action_returns_its_stats(ada: Caller) -> None:
    call(ada, "hub", {})
    assert call(ada, "hub", {}) == call(ada, "hub", {"action": "stats"})


@pytest.mark.parametrize(
    "arguments", [("key", "reason"), ("items",), ("key", "colour"), ("key", "value", "limit")]
)
def test_ambiguous_arguments_need_an_action(arguments: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput, match="needs an action") as refused:
        picked_action("decision", *arguments)
    assert refused.value.details["missing"] == ["action"]
    assert refused.value.details["allowed"]


def test_a_missing_action_never_picks_a_destructive_one(ada: Caller) -> None:
    for tool in all_tools().values():
        for _, action in tool.otherwise:
            assert not tool.actions[action].destroys


@pytest.mark.parametrize("empty", [None, ""])
def test_an_empty_action_is_a_missing_one(ada: Caller, empty: Any) -> None:
    assert call(ada, "decision", {"action": empty})["count"] == 0


# -- Names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("sett", "set"),
        ("set_decision", "set"),
        ("remove", "deprecate"),
        ("store", "set"),
        ("history", "versions"),
    ],
)
def test_an_unknown_action_gets_a_suggestion(action: str, expected: str | None) -> None:
    with pytest.raises(InvalidInput, match="no action") as refused:
        pick_action(find_tool("decision"), action, ())
    assert refused.value.details["did_you_mean"] == expected


@pytest.mark.parametrize(
    ("tool", "expected"), [("decisions", "decision"), ("set_decision", "decision"), ("zzz", None)]
)
def test_an_unknown_tool_gets_a_suggestion(tool: str, expected: str | None) -> None:
    with pytest.raises(InvalidInput, match="no tool") as refused:
        find_tool(tool)
    assert refused.value.details.get("did_you_mean") == expected


@pytest.mark.parametrize("action", ["set", "Set", "SET", " set "])
def test_an_action_is_found_in_any_case(action: str) -> None:
    assert pick_action(find_tool("decision"), action, ()).name == "set"


@pytest.mark.parametrize("action", ["quick-set", "quickSet", "Quick Set", "QUICK_SET"])
def test_an_action_is_found_however_its_words_are_joined(action: str) -> None:
    assert pick_action(find_tool("decision"), action, ()).name == "quick_set"


def test_help_is_found_in_any_case(ada: Caller) -> None:
    assert call(ada, "decision", {"action": "HELP"}) == call(ada, "decision", {"action": "help"})


def test_action_names_of_a_tool_stay_distinct_when_normalised() -> None:
    for tool in all_tools().values():
        assert len({squeezed(name) for name in tool.actions}) == len(tool.actions)


# -- Agents and callers ----------------------------------------------------------------------------


def test_the_agent_argument_sets_the_agent_and_registers_it(ada: Caller) -> None:
    call(ada, "decision", {"key": "k", "value": "x", "agent": " Zoe "})
    [row] = call(ada, "decision", {"format": "objects"})["items"]
    assert row["agent"] == "Zoe"
    assert set(Agent.objects.in_project(ada.project).values_list("name", flat=True)) == {"Zoe", "ada"}


@pytest.mark.parametrize("empty", [None, ""])
def test_an_empty_agent_leaves_the_caller_as_agent(ada: Caller, empty: Any) -> None:
    call(ada, "decision", {"key": "k", "value": "x", "agent": empty})
    assert call(ada, "decision", {"by": "ada"})["count"] == 1


def test_a_refused_call_registers_no_agent(ada: Caller) -> None:
    with pytest.raises(InvalidInput):
        call(ada, "decision", {"action": "set", "key": "k", "agent": "zoe"})
    assert not Agent.objects.in_project(ada.project).exists()


def test_scopes_are_checked_before_arguments(apollo: Project) -> None:
    reader = Caller(project=apollo, agent="eve", scopes=frozenset({"read"}))
    with pytest.raises(NotAllowed):
        call(reader, "decision", {"action": "set", "nonsense": 1})


def test_the_current_caller_is_known_only_during_a_call(ada: Caller, ben: Caller) -> None:
    assert current() is None
    with acting(ada):
        with acting(ben):
            assert current() is ben
        assert current() is ada
    assert current() is None


# -- Shape -----------------------------------------------------------------------------------------


def test_a_list_comes_as_rows_or_as_objects(ada: Caller) -> None:
    set_decision(caller=ada, key="k", value="x")
    assert "rows" in call(ada, "decision", {"action": "list", "format": "rows"})
    assert call(ada, "decision", {"action": "list", "format": " Objects "})["items"][0]["key"] == "k"


def test_a_budget_cuts_a_list_and_the_next_page_continues_there(ada: Caller) -> None:
    for n in range(10):
        set_decision(caller=ada, key=f"k{n}", value="some words " * 10)
    seen: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(20):
        page = call(
            ada, "decision", {"action": "list", "sort": "key", "order": "asc", "max_tokens": 200, **cursor}
        )
        seen += [row[0] for row in page["rows"]]
        if "next" not in page:
            break
        cursor = {"cursor": page["next"]}
    assert seen == [f"k{n}" for n in range(10)]


def test_answers_are_compact_unescaped_json() -> None:
    assert as_text({"a": ["é", None, 1.5]}) == '{"a":["é",null,1.5]}'


def test_a_long_decision_is_cut_to_what_a_client_accepts(ada: Caller) -> None:
    set_decision(caller=ada, key="k", value="many words\n" * 5_900, rationale="more words\n" * 5_900)
    answer = call(ada, "decision", {"action": "get", "key": "k", "include": ["rationale", "history"]})
    assert answer["truncated"] is True
    assert len(as_text(answer)) < 120_000


# -- Errors quote their input in short -------------------------------------------------------------

LONG = "x" * 1_000_000


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (LONG, {}),
        ("decision", {"action": LONG}),
        ("decision", {"action": "list", LONG: 1}),
        ("decision", {"action": "list", "status": LONG}),
        ("decision", {"action": "list", "format": LONG}),
        ("decision", {"action": "list", "max_tokens": LONG}),
        ("decision", {"action": "list", "max_tokens": [LONG] * 3}),
        ("decision", {"action": "list", "limit": 10**4_000}),
        ("decision", {"action": "list", "layer": LONG}),
        ("decision", {"action": "list", "since": LONG}),
        ("decision", {"action": "list", "sort": LONG}),
        ("decision", {"action": "set", "key": "k", "value": "x", "paths": ["/" + LONG[:900]]}),
        ("decision", {"action": "set_batch", "items": [LONG]}),
        ("get", {"refs": [LONG]}),
        ("get", {"refs": [LONG + ":x"]}),
        ("hub", {"action": "stats", "agent": LONG}),
    ],
)
def test_an_error_is_short_whatever_the_input(ada: Caller, tool: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        call(ada, tool, arguments)
    assert len(as_text(refused.value.body())) < 1_000


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 50.7, 0, -1, True, "many", "50.5", [50]])
def test_max_tokens_is_a_whole_number(ada: Caller, value: Any) -> None:
    with pytest.raises(InvalidInput, match="max_tokens must be a whole number"):
        call(ada, "decision", {"action": "list", "max_tokens": value})


@pytest.mark.parametrize("value", [50, 50.0, "50", 10**30])
def test_max_tokens_may_be_written_in_several_ways(ada: Caller, value: Any) -> None:
    assert call(ada, "decision", {"action": "list", "max_tokens": value})["count"] == 0


def test_an_unknown_argument_gets_the_list_of_allowed_ones(ada: Caller) -> None:
    common_arguments = {
        "list": ["agent", "format", "max_tokens"],
        "get": ["agent", "format", "max_tokens"],
        "set": ["agent"],
    }
    for action, common in common_arguments.items():
        with pytest.raises(InvalidInput) as refused:
            call(ada, "decision", {"action": action, "key": "k", "zzz": 1})
        own = all_tools()["decision"].actions[action].arguments.names
        assert refused.value.details["allowed"] == [*own, *common]


@pytest.mark.parametrize("agent", ["ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2, "${AGENT}"])
def test_an_agent_name_may_not_be_a_credential_or_a_variable(ada: Caller, agent: str) -> None:
    with pytest.raises(InvalidInput, match="agent"):
        call(ada, "hub", {"action": "stats", "agent": agent})
    assert not Agent.objects.in_project(ada.project).exists()
