"""The instructions of a connection name the operations that its list of tools has, and no others."""

import re
from collections.abc import Sequence

import pytest

from ctxhub.core.kit.caller import READ, Caller
from ctxhub.core.kit.tool_names import naming_tools
from ctxhub.core.models import Project
from ctxhub.toolbox.actions import all_tools
from ctxhub.toolbox.instructions import SENTENCES, instructions
from ctxhub.toolbox.tool_list import CORE
from tests.stdio import stdio_hub

pytestmark = pytest.mark.one_engine

OPERATIONS = {name for sentence in SENTENCES for name in sentence.phrases}
WORDS = {"get": "get opens", "search": "search in", "check": "check them", "message ack": "ack what"}


def named_in(text: str) -> set[str]:
    return {name for name in OPERATIONS if re.search(rf"\b{WORDS.get(name, name)}\b", text)}


def test_they_are_short_and_name_operations_that_exist(ada: Caller) -> None:
    assert len(instructions(ada).split()) < 120
    assert named_in(instructions(ada)) == OPERATIONS
    for name in OPERATIONS:
        tool, _, action = name.partition(" ")
        assert action in all_tools()[tool].actions


@pytest.mark.parametrize("only", [*([name] for name in all_tools()), ["get", "hub"], ["file", "check"], CORE])
def test_they_name_only_chosen_tools(ada: Caller, only: Sequence[str]) -> None:
    said = instructions(ada, only=only)
    assert named_in(said) == {name for name in OPERATIONS if name.partition(" ")[0] in only}
    assert len(said.split()) < 120


def test_those_of_the_core_profile_name_its_tools(ada: Caller) -> None:
    assert instructions(ada, profile="core") == instructions(ada, only=CORE)
    assert "scratchpad" not in instructions(ada, profile="core")


def test_a_reader_is_told_of_nothing_that_writes(apollo: Project) -> None:
    said = instructions(Caller(project=apollo, agent="ada", scopes=frozenset({READ})))
    assert named_in(said) == {"brief", "check", "search", "get", "message inbox", "hub wait"}


def test_flat_tools_are_named_as_they_are_and_have_no_help(ada: Caller) -> None:
    with naming_tools(flat=True):
        said = instructions(ada)
    assert "file_lease" in said
    assert "memory_add" in said
    assert "help" not in said
    assert "help" in instructions(ada, only=["hub"])
    assert "help" not in instructions(ada, only=["get"])


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("chosen", [("--profile", "core"), ("--tools", "get,hub"), ("--surface", "flat")])
def test_over_stdio_they_follow_the_options(apollo: Project, chosen: tuple[str, str]) -> None:
    surface, profile = ("flat", "all") if "flat" in chosen else ("grouped", "core")
    only = chosen[1].split(",") if "--tools" in chosen else []
    caller = Caller(project=apollo, agent="system")
    with naming_tools(flat=surface == "flat"):
        expected = instructions(caller, profile="all" if only else profile, only=only)
    with stdio_hub("--project", "apollo", *chosen) as client:
        assert client.start()["instructions"] == expected
