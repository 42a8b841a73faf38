"""`max_tokens` and `budget_tokens` are one argument wherever there is one budget."""

import pytest

from tests.hub import McpClient, RestClient

pytestmark = pytest.mark.one_engine

BUDGETS = ["budget_tokens", "max_tokens", "token_budget", "budget"]


@pytest.mark.parametrize("name", BUDGETS)
@pytest.mark.parametrize("tool", ["brief", "check"])
def test_a_brief_and_a_check_take_either(ada_mcp: McpClient, tool: str, name: str) -> None:
    refused = ada_mcp.call(tool, **({"paths": ["a"]} if tool == "check" else {}), **{name: 5})
    assert "budget_tokens" in refused["message"]
    answer = ada_mcp.call(tool, **({"paths": ["a"]} if tool == "check" else {}), **{name: 300})
    assert "error" not in answer


@pytest.mark.parametrize("name", BUDGETS)
def test_a_restored_session_takes_either(ada_mcp: McpClient, name: str) -> None:
    ada_mcp.call("session", "save", summary="Stopped at the parser.")
    assert "error" not in ada_mcp.call("session", "restore", **{name: 400})
    assert "budget_tokens" in ada_mcp.call("session", "restore", **{name: 5})["message"]


@pytest.mark.parametrize("name", BUDGETS)
def test_a_list_takes_either(ada_mcp: McpClient, name: str) -> None:
    for n in range(20):
        ada_mcp.call("decision", "set", key=f"k{n}", value="Some words about it. " * 5)
    answer = ada_mcp.call("decision", "list", **{name: 150})
    assert answer["count"] < 20
    assert "max_tokens" in ada_mcp.call("decision", "list", **{name: 0})["message"]


def test_both_names_with_two_values_are_refused(ada_mcp: McpClient) -> None:
    for tool, action in (("brief", None), ("decision", "list")):
        answer = ada_mcp.call(tool, action, budget_tokens=300, max_tokens=400)
        assert "the same argument, with two values" in answer["message"]
        assert "error" not in ada_mcp.call(tool, action, budget_tokens=300, max_tokens=300)


def test_what_a_file_may_cost_is_no_budget_of_the_answer(ada_mcp: McpClient) -> None:
    assert ada_mcp.call("session", "prioritize", max_tokens=300)["did_you_mean"] == {
        "max_tokens": "budget_tokens"
    }


def test_queries_over_rest_take_either(ada_rest: RestClient) -> None:
    assert ada_rest.get("brief/", max_tokens=300).status == 200
    assert ada_rest.get("decisions/", budget_tokens=300).status == 200
    assert ada_rest.get("brief/", max_tokens=5).status == 400
