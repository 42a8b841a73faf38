"""`help` of one operation by all names that it has, asked of any tool."""

import pytest

from ctxhub.toolbox.actions import all_tools
from tests.hub import McpClient

pytestmark = pytest.mark.one_engine


@pytest.mark.parametrize("tool", ["decision", "hub"])
@pytest.mark.parametrize("name", ["decision set", "decision.set", "decision_set", "Decision-Set", "set"])
def test_an_operation_is_explained_by_each_of_its_names(ada_mcp: McpClient, tool: str, name: str) -> None:
    answer = ada_mcp.call(tool, "help", name=name)
    assert (answer["tool"], list(answer["actions"])) == ("decision", ["set"])


@pytest.mark.parametrize("name", ["get", "check"])
def test_a_tool_of_one_operation_is_explained_by_its_name(ada_mcp: McpClient, name: str) -> None:
    assert list(ada_mcp.call("hub", "help", name=name)["actions"]) == [name]


def test_a_name_that_several_tools_have_names_them(ada_mcp: McpClient) -> None:
    answer = ada_mcp.call("hub", "help", name="list")
    having = [tool.name for tool in all_tools().values() if "list" in tool.actions]
    assert (answer["error"], answer["allowed"]) == ("invalid", [f"{tool} list" for tool in having])


def test_the_own_operation_comes_before_others_of_its_name(ada_mcp: McpClient) -> None:
    assert ada_mcp.call("memory", "help", name="list")["tool"] == "memory"


def test_a_mistyped_name_gets_a_suggestion(ada_mcp: McpClient) -> None:
    assert ada_mcp.call("decision", "help", name="verions")["did_you_mean"] == "versions"
