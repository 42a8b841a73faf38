"""A list read with `agent`, which is no filter, says so where the connection has a name of its own."""

from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from ctxhub.core.text.token_count import count_tokens
from ctxhub.management.commands.runmcp import admission, find_caller
from ctxhub.toolbox.dispatch import call
from tests.hub import LiveHub, McpClient

HINT = "You read as 'ben'; you speak as 'ada'"


@pytest.fixture
def named(ada: Caller) -> Caller:
    return ada.named("ada")


def hint(caller: Caller, tool: str, action: str = "list", **arguments: Any) -> str | None:
    found: str | None = call(caller, tool, {"action": action, **arguments}).get("hint")
    return found


@pytest.mark.parametrize(
    ("tool", "action", "name"),
    [
        ("decision", "list", "by"),
        ("constraint", "list", "by"),
        ("memory", "list", "by"),
        ("snapshot", "list", "by"),
        ("session", "list", "by"),
        ("file", "changes", "by"),
        ("file", "leases", "by"),
        ("scratchpad", "workflows", "by"),
        ("message", "inbox", "by"),
        ("hub", "activity", "by"),
    ],
)
def test_it_names_both_agents_and_the_filter(named: Caller, tool: str, action: str, name: str) -> None:
    call(named, "decision", {"action": "set", "key": "a", "value": 1})
    text = hint(named, tool, action, agent="ben")
    assert text == f"{HINT}; to filter by author: {name}."
    assert count_tokens(text) <= 40


def test_a_search_says_so_as_well(named: Caller) -> None:
    call(named, "decision", {"action": "set", "key": "a", "value": "JWT"})
    found = call(named, "search", {"query": "JWT", "agent": "ben"})
    assert (found["count"], found["hint"]) == (1, f"{HINT}; to filter by author: by.")


def test_a_list_without_authors_has_no_filter_to_name(named: Caller) -> None:
    call(named, "memory", {"action": "context_create", "name": "shop"})
    assert hint(named, "hub", "agents", agent="ben") == f"{HINT}."


def test_it_stands_before_the_names_that_are_unknown(named: Caller) -> None:
    text = hint(named, "decision", by="eve", agent="ben")
    assert text == f"{HINT}; to filter by author: by. There is no agent 'eve'."


@pytest.mark.parametrize("agent", ["ada", "ADA", None])
def test_who_reads_as_itself_is_told_nothing(named: Caller, agent: str | None) -> None:
    assert hint(named, "decision", agent=agent) is None


def test_where_each_call_names_its_agent_nothing_is_told(ada: Caller) -> None:
    assert hint(ada, "decision", agent="ben") is None


def test_a_write_is_spoken_by_whom_it_names(named: Caller) -> None:
    answer = call(named, "decision", {"action": "set", "key": "a", "value": 1, "agent": "ben"})
    assert "hint" not in answer
    assert call(named, "decision", {"action": "get", "key": "a"})["decision"]["agent"] == "ben"


# -- The connection's own name ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "path", "speaker"),
    [
        ({"Ctxhub-Agent": "ada"}, "/mcp", "ada"),
        ({"Ctxhub-Client": "codex"}, "/mcp", "codex"),
        ({}, "/mcp?client=codex", "codex"),
        ({}, "/mcp", None),
    ],
)
def test_over_http_headers_and_the_address_name_it(
    hub: LiveHub, apollo: Project, headers: dict[str, str], path: str, speaker: str | None
) -> None:
    client = hub.mcp(create_token(project=apollo, name="team").secret)
    client.headers |= headers
    client.path = path
    told = client.call("decision", "list", agent="ben").get("hint")
    assert told == (speaker and f"You read as 'ben'; you speak as '{speaker}'; to filter by author: by.")


def test_a_pinned_token_refuses_another_agent(ada_mcp: McpClient) -> None:
    refused = ada_mcp.call("decision", "list", agent="ben")
    assert (refused["error"], "hint" in refused) == ("not_allowed", True)


@pytest.mark.parametrize(("agent", "is_named"), [("ada", True), ("", False)])
def test_on_stdio_the_option_names_it(apollo: Project, agent: str, is_named: bool) -> None:
    caller = find_caller(apollo.slug, agent, "")
    assert (hint(caller, "decision", agent="ben") is not None) == is_named


def test_a_server_for_one_agent_names_it(apollo: Project, ada: Caller) -> None:
    assert admission(None, "ada", "")(ada).has_own_name
    assert not admission(None, "", "")(ada).has_own_name
