"""Golden files of the lists of tools of each surface, and of the help of each tool and action."""

import json
from itertools import product
from typing import Any

import pytest

from ctxhub.core.kit.caller import ALL_SCOPES, READ, WRITE, Caller
from ctxhub.core.models import Project
from ctxhub.toolbox.actions import all_tools
from ctxhub.toolbox.help import help_for
from ctxhub.toolbox.instructions import instructions
from ctxhub.toolbox.tool_list import list_tools
from tests.golden.comparing import compare
from tests.golden.readable import readable

SCOPES = {"admin": ALL_SCOPES, "write": frozenset({READ, WRITE}), "read": frozenset({READ})}


@pytest.fixture
def project() -> Project:
    """Not stored: neither lists of tools nor help execute queries."""
    return Project(pk=1, slug="apollo")


@pytest.mark.parametrize("surface", ["grouped", "flat"])
def test_tools(project: Project, surface: str) -> None:
    """The tools of each scope and profile; a tool that an earlier list contains is only named."""
    shown: dict[str, str] = {}
    lists: dict[str, list[Any]] = {}
    for (scope, scopes), profile in product(SCOPES.items(), ("all", "core")):
        caller = Caller(project=project, agent="ada", scopes=scopes)
        tools = list_tools(caller, surface=surface, profile=profile)
        lists[f"{surface} {scope} {profile}"] = [_once(tool, shown) for tool in tools]
    compare(f"tools_{surface}.json", readable(lists) + "\n")


def test_help(project: Project) -> None:
    """The help of each tool with all scopes, and the names of the actions with fewer scopes."""
    helped: dict[str, Any] = {}
    all_scopes = Caller(project=project, agent="ada")
    for name, tool in all_tools().items():
        helped[name] = help_for(tool, all_scopes)
        for scope in ("write", "read"):
            less = help_for(tool, Caller(project=project, agent="ada", scopes=SCOPES[scope]))
            assert less["actions"].items() <= helped[name]["actions"].items()
            helped[f"{name} {scope}"] = {**less, "actions": list(less["actions"])}
    compare("help.json", readable({"instructions": instructions(all_scopes), **helped}) + "\n")


def _once(tool: dict[str, Any], shown: dict[str, str]) -> Any:
    """The tool at its first occurrence, then its name, with a number if another tool has that name."""
    text = json.dumps(tool)
    if text in shown:
        return shown[text]
    again = sum(1 for label in shown.values() if label.split(" #")[0] == tool["name"])
    shown[text] = f"{tool['name']} #{again + 1}" if again else tool["name"]
    return {**tool, "description": tool["description"].split("\n")}
