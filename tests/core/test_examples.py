"""Every example of a tool, also those in its help, validates against the schema of the tool."""

from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ctxhub.core.kit.caller import ALL_SCOPES, Caller
from ctxhub.core.models import Project
from ctxhub.toolbox import dispatch
from ctxhub.toolbox.actions import all_tools
from ctxhub.toolbox.help import example_of
from ctxhub.toolbox.tool_list import list_tools

pytestmark = pytest.mark.one_engine

ACTIONS = [action for tool in all_tools().values() for action in tool.actions.values()]


def faults(schema: dict[str, Any], value: Any) -> list[str]:
    return [
        f"{'.'.join(map(str, error.path))}: {error.message}"
        for error in Draft202012Validator(schema).iter_errors(value)
    ]


@cache
def schemas(surface: str) -> dict[str, dict[str, Any]]:
    caller = Caller(project=Project(slug="apollo"), agent="ada", scopes=frozenset(ALL_SCOPES))
    return {tool["name"]: tool["inputSchema"] for tool in list_tools(caller, surface=surface)}


@pytest.mark.parametrize("surface", ["grouped", "flat"])
def test_schemas_are_valid(surface: str) -> None:
    for schema in schemas(surface).values():
        Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.call)
def test_the_example_of_an_action_matches_its_schemas(action: Any) -> None:
    of_tool = all_tools()[action.tool].actions.values()
    assert faults(schemas("grouped")[action.tool], example_of(action, of_tool)) == []
    assert faults(schemas("flat")[action.flat_name], example_of(action, [action])) == []


@pytest.mark.parametrize("tool", all_tools())
def test_the_examples_in_help_match_the_schema(ada: Caller, tool: str) -> None:
    shown = dispatch.call(ada, tool, {"action": "help"})["actions"]
    examples = [entry["example"] for entry in shown.values() if "example" in entry]
    assert examples
    for example in examples:
        assert faults(schemas("grouped")[tool], example) == []


def test_a_ref_is_declared_as_a_text_on_every_surface() -> None:
    for schema in (schemas("grouped")["memory"], schemas("flat")["memory_relate"]):
        assert [schema["properties"][name]["type"] for name in ("source", "target")] == ["string"] * 2
