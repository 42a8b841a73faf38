"""Lists sent as text, over MCP and REST: every list argument reads what models write, and keeps no junk."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.models import Agent, Project, Scope, Tag
from ctxhub.toolbox.actions import all_tools
from ctxhub.toolbox.argument import Argument
from ctxhub.toolbox.argument_types import Agents, Anything, Refs, Words
from ctxhub.toolbox.arguments import Arguments
from memory.models import Decision, Memory
from tests.hub import McpClient, RestClient

JUNK: list[Any] = [
    *(
        "['api",
        '["a", "b"',
        "['api' 'auth']",
        "{}",
        '{"a": 1}',
        "[api, auth]",
        "",
        "'api",
        '["api"] x',
        "null",
        "None",
    ),
    ["['api'"],
]


def list_arguments() -> Iterator[tuple[str, Argument]]:
    """Every list argument of every action, but lists of paths."""
    for tool in all_tools().values():
        for action in tool.actions.values():
            for argument in action.arguments.all:
                if argument.schema.get("type") == "array" and argument.name != "paths":
                    yield f"{action.call} {argument.name}", argument


ARGUMENTS = dict(list_arguments())
every_list = pytest.mark.parametrize("name", ARGUMENTS)


def of_type(argument: Argument, kind: Any) -> bool:
    return set(kind.__metadata__[:1]) <= set(argument.marks)


def entries_of(argument: Argument) -> list[Any]:
    if argument.schema["items"].get("type") == "integer":
        return [3, 4]
    if of_type(argument, Refs):
        return ["decision:a,b", "memory:4"]
    if argument.schema["items"].get("type") == "object":
        return [{"path": "a", "why": "it's"}, {"path": "b", "why": None}]
    return ["One thing, and another.", "x"] if of_type(argument, Anything) else ["api", "auth"]


def texts_of(argument: Argument, entries: list[Any]) -> list[Any]:
    """The ways in which models write this list."""
    written = [
        json.dumps(entries),
        json.dumps(json.dumps(entries)),
        str(entries),
        [json.dumps(entries)],
        f"```json\n{json.dumps(entries)}\n```",
    ]
    if argument.schema["items"].get("type") == "object":
        return [*written[:3], *written[4:], [json.dumps(entry) for entry in entries]]
    if of_type(argument, Anything):
        return written
    lines = [str(entry) for entry in entries]
    split = [
        "\n".join(lines),
        "- " + "\n- ".join(lines),
        ", ".join(lines),
        "; ".join(lines),
        str(tuple(entries)),
    ]
    return written + split


def read(argument: Argument, value: Any, *, over_rest: bool) -> Any:
    alone = Arguments([argument])
    given = {argument.name: value}
    checked = alone.check_json(given) if over_rest else alone.check(given, "call")
    return checked[argument.name]


def test_all_list_arguments_are_found() -> None:
    assert len(ARGUMENTS) > 40
    kinds = {"tags", "scopes", "refs", "ids", "kinds", "agents", "verbs", "to", "include", "require", "items"}
    assert kinds <= {argument.name for argument in ARGUMENTS.values()}


@pytest.mark.parametrize("over_rest", [False, True], ids=["mcp", "rest"])
@every_list
def test_a_list_is_read_however_it_is_written(name: str, over_rest: bool) -> None:
    argument = ARGUMENTS[name]
    entries = entries_of(argument)
    meant = read(argument, entries, over_rest=over_rest)
    assert len(meant) == 2
    # Agents are found in a text where their names are known: tests/messaging/test_recipients.py.
    forms = texts_of(argument, entries)[:3] if of_type(argument, Agents) else texts_of(argument, entries)
    assert [read(argument, form, over_rest=over_rest) for form in forms] == [meant] * len(forms)


@pytest.mark.parametrize("over_rest", [False, True], ids=["mcp", "rest"])
@every_list
def test_what_is_no_list_is_refused_or_kept_whole(name: str, over_rest: bool) -> None:
    argument = ARGUMENTS[name]
    for junk in JUNK[:5]:
        try:
            found = read(argument, junk, over_rest=over_rest)
        except (InvalidInput, ValidationError):
            continue
        # Prose is kept as it is; agents are read by the service; what is no object is refused as an item.
        assert not of_type(argument, Words), found
        assert found in ([junk], [json.loads(junk)] if junk.startswith("{") else None)


def test_ids_are_read_from_refs_too() -> None:
    ids = ARGUMENTS["message.ack ids"]
    for form in ("message:3, message:4", "['message:3', 'message:4']", ["3", "message:4"], "3;4"):
        assert read(ids, form, over_rest=False) == read(ids, form, over_rest=True) == [3, 4]


# -- On the wire -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tags", ["['api', 'auth']", '"[\\"api\\",\\"auth\\"]"', "api; auth", "- api\n- auth"]
)
def test_tags_are_stored_as_meant(ada_mcp: McpClient, ada_rest: RestClient, tags: str) -> None:
    ada_mcp.call("decision", "set", key="t/1", value="x", tags=tags)
    ada_rest.post("decisions/", {"key": "t/2", "value": "x", "tags": tags, "scopes": tags})
    ada_mcp.call("decision", "set_batch", items=str([{"key": "t/3", "value": "x", "tags": tags}]))
    ada_rest.post("decisions/batch/", {"items": [{"key": "t/4", "value": "x", "tags": tags}]})
    assert [sorted(row["tags"]) for row in ada_mcp.rows("decision", "list")] == [["api", "auth"]] * 4
    assert set(Scope.unscoped.values_list("name", flat=True)) == {"api", "auth"}
    assert ada_mcp.call("decision", "list", tags=tags, match="all")["count"] == 4
    assert ada_rest.get("decisions/", tags=tags, match="all").body["count"] == 4
    assert ada_rest.get("search/", query="x", tags=tags, kinds="['decision']").body["count"] == 4


@pytest.mark.parametrize("junk", JUNK, ids=str)
def test_junk_is_never_stored(apollo: Project, ada_mcp: McpClient, ada_rest: RestClient, junk: Any) -> None:
    tags = set(Tag.objects.in_project(apollo).values_list("name", flat=True))
    lists = {"tags": junk, "scopes": junk}
    answers = [
        ada_mcp.call("decision", "set", key="a", value="x", **lists),
        ada_mcp.call("constraint", "add", category="security", text="x", **lists),
        ada_mcp.call("memory", "add", title="x", content="x", tags=junk),
        ada_mcp.call("memory", "context_create", name="x", tags=junk),
        ada_mcp.call("snapshot", "save", content="x", tags=junk),
        ada_mcp.call("message", "send", text="x", to=junk),
        ada_rest.post("decisions/", {"key": "a", "value": "x", **lists}).body,
        ada_rest.post("constraints/", {"category": "security", "text": "x", **lists}).body,
        ada_rest.post("memories/", {"title": "x", "content": "x", "tags": junk}).body,
        ada_rest.post("messages/", {"text": "x", "to": junk}).body,
        ada_mcp.call("decision", "template_set", name="x", require=junk),
        ada_mcp.call("decision", "template_set", name="x", defaults={"tags": junk or "[x"}),
        ada_mcp.call("session", "save", conversation="x", enabled_mcps=junk),
    ]
    assert {answer["error"] for answer in answers} == {"invalid"}
    assert ada_mcp.call("get", refs=junk)["error"] in ("invalid", "not_found")
    assert set(Tag.objects.in_project(apollo).values_list("name", flat=True)) == tags
    assert not Decision.unscoped.exists()
    assert not Memory.unscoped.exists()


def test_an_error_says_how_to_write_a_list(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    for answer in (
        ada_mcp.call("memory", "add", title="x", content="x", tags="['api', 'auth'"),
        ada_rest.post("memories/", {"title": "x", "content": "x", "tags": "['api', 'auth'"}).body,
        ada_rest.get("memories/", tags="['api', 'auth'").body,
    ):
        assert answer["error"] == "invalid"
        assert (
            answer["message"]
            .partition("tags")[2]
            .startswith((": is not written as a list", " is not written"))
        )
        assert '["api", "auth"]' in answer["message"]


def test_an_empty_list_as_text_clears(ada_mcp: McpClient) -> None:
    ada_mcp.call("decision", "set", key="a", value="x", tags=["api"])
    ada_mcp.call("decision", "set", key="a", value="x", tags="[]")
    assert not ada_mcp.call("decision", "get", key="a")["decision"].get("tags")


def test_defaults_of_a_template_are_read_too(ada_mcp: McpClient) -> None:
    ada_mcp.call(
        "decision", "template_set", name="x", defaults={"tags": "['api', 'auth']", "scopes": "[1, 2]"}
    )
    ada_mcp.call("decision", "from_template", name="x", key="a", value="x")
    [row] = ada_mcp.rows("decision", "list")
    assert (sorted(row["tags"]), sorted(row["scopes"])) == (["api", "auth"], ["1", "2"])


def test_prose_is_not_split(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    texts = {
        "alternatives": "- Redis, because it is fast; or\n- files",
        "tradeoffs": {"pros": "Fast, cheap."},
    }
    ada_mcp.call("decision", "set", key="a", value="x", **texts)
    ada_rest.post("decisions/", {"key": "b", "value": "x", **texts})
    for key in ("a", "b"):
        stored = ada_mcp.call("decision", "get", key=key, include=["rationale"])["decision"]
        assert stored["alternatives"] == [texts["alternatives"]]
        assert stored["tradeoffs"] == {"pros": ["Fast, cheap."]}


def test_prose_is_read_from_json_and_python(ada_mcp: McpClient) -> None:
    alternatives = str([{"option": "Redis", "why_not": "it's another server"}, "files"])
    tradeoffs = {"pros": "['Fast', 'cheap']", "cons": '["old"]'}
    ada_mcp.call("decision", "set", key="a", value="x", alternatives=alternatives, tradeoffs=tradeoffs)
    stored = ada_mcp.call("decision", "get", key="a", include=["rationale"])["decision"]
    assert stored["alternatives"] == [{"option": "Redis", "why_not": "it's another server"}, "files"]
    assert stored["tradeoffs"] == {"pros": ["Fast", "cheap"], "cons": ["old"]}


def test_refs_with_commas_in_their_names_stay_whole(ada_mcp: McpClient) -> None:
    for key in ("a,b", 'say "hi"', "c"):
        ada_mcp.call("decision", "set", key=key, value="x")
    found = ada_mcp.call("get", refs='decision:a,b, decision:say "hi"; decision:c')
    assert [item["ref"] for item in found["items"]] == ["decision:a,b", 'decision:say "hi"', "decision:c"]
    assert ada_mcp.call("hub", "confirm", refs="decision:a,b\ndecision:c") == {"confirmed": 0}


def test_a_tag_with_a_semicolon_is_still_found_as_a_list(ada_mcp: McpClient) -> None:
    ada_mcp.call("decision", "set", key="a", value="x", tags=["a;b"])
    assert ada_mcp.call("decision", "list", tags=["a;b"])["count"] == 1


def test_names_may_hold_brackets_and_quotes_inside(ada_mcp: McpClient) -> None:
    scopes = ["app/[id]", "[lang]/[slug]", "it's", "f(x)"]
    ada_mcp.call("decision", "set", key="a", value="x", scopes=scopes)
    [row] = ada_mcp.rows("decision", "list")
    assert sorted(row["scopes"]) == sorted(scopes)
    assert Agent.unscoped.filter(name="ada").exists()
