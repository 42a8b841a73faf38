"""One call of an agent: which action, may it, and how its answer is shaped."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller, acting, current
from ctxhub.core.kit.errors import InvalidInput, NotAllowed
from ctxhub.core.models import Agent, Project
from ctxhub.core.toolbox.actions import all_tools, find_tool
from ctxhub.core.toolbox.dispatch import as_text, call
from ctxhub.core.toolbox.suggestions import squeezed
from memory.decisions.services.decisions import set_decision


def picked(tool: str, *arguments: str) -> str:
    return find_tool(tool).pick(None, arguments).name


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
    assert picked("decision", *arguments) == action


def test_a_hub_without_an_action_is_its_figures(ada: Caller) -> None:
    call(ada, "hub", {})
    assert call(ada, "hub", {}) == call(ada, "hub", {"action": "stats"})


@pytest.mark.parametrize(
    "arguments", [("key", "reason"), ("items",), ("key", "colour"), ("key", "value", "limit")]
)
def test_what_does_not_fit_is_asked_back(arguments: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput, match="needs an action") as refused:
        picked("decision", *arguments)
    assert refused.value.details["missing"] == ["action"]
    assert refused.value.details["allowed"]


def test_a_missing_action_never_removes(ada: Caller) -> None:
    for tool in all_tools().values():
        for _, action in tool.otherwise:
            assert not tool.actions[action].destroys


@pytest.mark.parametrize("nothing", [None, ""])
def test_an_empty_action_is_a_missing_one(ada: Caller, nothing: Any) -> None:
    assert call(ada, "decision", {"action": nothing})["count"] == 0


# -- Names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("sett", "set"),
        ("set_decision", "set"),
        ("remove", "deprecate"),
        ("store", "set"),
        ("history", "versions"),
    ],
)
def test_an_unknown_action_is_told_what_was_meant(said: str, meant: str | None) -> None:
    with pytest.raises(InvalidInput, match="no action") as refused:
        find_tool("decision").pick(said, ())
    assert refused.value.details["did_you_mean"] == meant


@pytest.mark.parametrize(
    ("said", "meant"), [("decisions", "decision"), ("set_decision", "decision"), ("zzz", None)]
)
def test_an_unknown_tool_is_told_what_was_meant(said: str, meant: str | None) -> None:
    with pytest.raises(InvalidInput, match="no tool") as refused:
        find_tool(said)
    assert refused.value.details.get("did_you_mean") == meant


@pytest.mark.parametrize("said", ["set", "Set", "SET", " set "])
def test_an_action_is_found_in_any_case(said: str) -> None:
    assert find_tool("decision").pick(said, ()).name == "set"


@pytest.mark.parametrize("said", ["quick-set", "quickSet", "Quick Set", "QUICK_SET"])
def test_an_action_is_found_however_its_words_are_joined(said: str) -> None:
    assert find_tool("decision").pick(said, ()).name == "quick_set"


def test_help_is_found_in_any_case(ada: Caller) -> None:
    assert call(ada, "decision", {"action": "HELP"}) == call(ada, "decision", {"action": "help"})


def test_no_two_actions_of_a_tool_are_one_when_written_otherwise() -> None:
    for tool in all_tools().values():
        assert len({squeezed(name) for name in tool.actions}) == len(tool.actions)


# -- Who speaks ------------------------------------------------------------------------------------


def test_an_agent_argument_names_who_speaks_and_registers_them(ada: Caller) -> None:
    call(ada, "decision", {"key": "k", "value": "x", "agent": " Zoe "})
    [row] = call(ada, "decision", {"format": "objects"})["items"]
    assert row["agent"] == "Zoe"
    assert set(Agent.objects.in_project(ada.project).values_list("name", flat=True)) == {"Zoe", "ada"}


@pytest.mark.parametrize("nothing", [None, ""])
def test_an_empty_agent_is_nobody_else(ada: Caller, nothing: Any) -> None:
    call(ada, "decision", {"key": "k", "value": "x", "agent": nothing})
    assert call(ada, "decision", {"by": "ada"})["count"] == 1


def test_a_refused_call_registers_nobody(ada: Caller) -> None:
    with pytest.raises(InvalidInput):
        call(ada, "decision", {"action": "set", "key": "k", "agent": "zoe"})
    assert not Agent.objects.in_project(ada.project).exists()


def test_rights_come_before_arguments(apollo: Project) -> None:
    reader = Caller(project=apollo, agent="eve", scopes=frozenset({"read"}))
    with pytest.raises(NotAllowed):
        call(reader, "decision", {"action": "delete", "nonsense": 1})


def test_who_acts_is_known_during_a_call_and_not_after(ada: Caller, ben: Caller) -> None:
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


def test_a_budget_cuts_a_list_and_the_next_page_goes_on_there(ada: Caller) -> None:
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


def test_texts_are_compact_json_that_is_not_escaped() -> None:
    assert as_text({"a": ["é", None, 1.5]}) == '{"a":["é",null,1.5]}'


def test_a_long_decision_is_cut_to_what_a_client_accepts(ada: Caller) -> None:
    set_decision(caller=ada, key="k", value="many words\n" * 5_900, rationale="more words\n" * 5_900)
    answer = call(ada, "decision", {"action": "get", "key": "k", "include": ["rationale", "history"]})
    assert answer["truncated"] is True
    assert len(as_text(answer)) < 120_000


# -- What a caller says is repeated in short -------------------------------------------------------

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
def test_a_refusal_is_short_whatever_was_said(ada: Caller, tool: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        call(ada, tool, arguments)
    assert len(as_text(refused.value.body())) < 1_000


@pytest.mark.parametrize("wrong", [float("inf"), float("nan"), 50.7, 0, -1, True, "many", "50.5", [50]])
def test_max_tokens_is_a_whole_number(ada: Caller, wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="max_tokens must be a whole number"):
        call(ada, "decision", {"action": "list", "max_tokens": wrong})


@pytest.mark.parametrize("right", [50, 50.0, "50", 10**30])
def test_max_tokens_may_be_written_in_several_ways(ada: Caller, right: Any) -> None:
    assert call(ada, "decision", {"action": "list", "max_tokens": right})["count"] == 0


def test_an_unknown_argument_of_a_list_is_told_all_that_it_takes(ada: Caller) -> None:
    shaped = {"list": ["agent", "format", "max_tokens"], "get": ["agent", "max_tokens"], "delete": ["agent"]}
    for action, common in shaped.items():
        with pytest.raises(InvalidInput) as refused:
            call(ada, "decision", {"action": action, "key": "k", "zzz": 1})
        own = all_tools()["decision"].actions[action].arguments.names
        assert refused.value.details["allowed"] == [*own, *common]


@pytest.mark.parametrize("agent", ["ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2, "${AGENT}"])
def test_nobody_is_called_by_a_credential_or_a_variable(ada: Caller, agent: str) -> None:
    with pytest.raises(InvalidInput, match="agent"):
        call(ada, "hub", {"action": "stats", "agent": agent})
    assert not Agent.objects.in_project(ada.project).exists()
