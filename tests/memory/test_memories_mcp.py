"""Memories over the MCP wire."""

from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Project
from tests.hub import LiveHub, McpClient
from tests.tables import dump_project

TITLE = "Caching the product list"
CONTENT = "Keep it in Redis for five minutes. Without it the page takes two seconds."
ALL_FIELDS: dict[str, Any] = {
    "type": "reference",
    "stack": "Django",
    "difficulty": "hard",
    "tags": ["caching", "shop"],
    "paths": ["shop/views/*.py"],
    "metadata": {"seen": 1},
}


def add(client: McpClient, **rest: Any) -> int:
    return int(client.call("memory", "add", **{"title": TITLE, "content": CONTENT, **rest})["id"])


def titles(client: McpClient, action: str = "list", **query: Any) -> list[str]:
    return [row["title"] for row in client.rows("memory", action, **query)]


def test_one_agent_adds_a_memory_and_another_reads_it(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    made = ada_mcp.call("memory", "add", title=TITLE, content=CONTENT, context="Shop", **ALL_FIELDS)
    digest = "Keep it in Redis for five minutes."
    assert made == {"id": made["id"], "digest": digest, "tokens": made["tokens"], "context_created": True}
    whole = ben_mcp.call("memory", "get", id=made["id"])
    assert whole == {
        "id": made["id"],
        "title": TITLE,
        "content": CONTENT,
        "digest": digest,
        "tokens": made["tokens"],
        "context": "Shop",
        "agent": "ada",
        "revision": 1,
        **ALL_FIELDS,
        **{name: whole[name] for name in ("created", "updated")},
    }
    [opened] = ben_mcp.call("get", refs=[f"memory:{made['id']}"])["items"]
    assert opened == {**whole, "ref": f"memory:{made['id']}"}
    [row] = ben_mcp.rows("memory", "list")
    listed = ("id", "title", "digest", "type", "context", "stack", "tags", "tokens", "updated")
    assert row == {name: whole[name] for name in listed}


def test_a_memory_is_added_updated_and_deleted(ada_mcp: McpClient) -> None:
    row_id = add(ada_mcp)
    changed = ada_mcp.call("memory", "update", id=row_id, content="Do not. It is slow.")
    shown = {"id": row_id, "result": "updated", "digest": "Do not.", "revision": 2}
    assert changed == {**shown, "tokens": changed["tokens"]}
    assert ada_mcp.call("memory", "update", id=row_id, type="note")["result"] == "unchanged"
    ref = f"memory:{row_id}"
    assert ada_mcp.rows("delete", refs=[ref]) == [{"ref": ref, "result": "deleted"}]
    assert ada_mcp.call("memory", "get", id=row_id)["error"] == "not_found"
    verbs = [(row["verb"], row["ref"]) for row in ada_mcp.rows("hub", "activity")]
    assert verbs[:3] == [("deleted", ref), ("updated", ref), ("created", ref)]


def test_adding_a_duplicate_names_the_similar_memory(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    row_id = add(ada_mcp)
    again = ben_mcp.call("memory", "add", title=TITLE, content=CONTENT)
    assert again["similar"] == [{"id": row_id, "title": TITLE, "score": 1.0}]
    assert len(titles(ada_mcp)) == 2


def test_empty_values_clear_and_null_changes_nothing(ada_mcp: McpClient) -> None:
    row_id = add(ada_mcp, context="shop", **ALL_FIELDS)
    cleared: dict[str, Any] = {
        "stack": "",
        "difficulty": "",
        "tags": [],
        "paths": [],
        "metadata": {"seen": None},
    }
    unchanged = ada_mcp.call("memory", "update", id=row_id, **dict.fromkeys(cleared))
    assert unchanged["result"] == "unchanged"
    ada_mcp.call("memory", "update", id=row_id, **cleared)
    whole = ada_mcp.call("memory", "get", id=row_id)
    assert [whole[name] for name in cleared] == ["", None, [], [], {}]
    assert [whole[name] for name in ("title", "content", "context", "type")] == [
        *(TITLE, CONTENT, "shop", "reference")
    ]


def test_an_id_may_come_as_text_or_as_a_ref(ada_mcp: McpClient) -> None:
    row_id = add(ada_mcp)
    assert ada_mcp.call("memory", "get", id=f" {row_id} ")["id"] == row_id


def test_a_context_may_come_as_a_number(ada_mcp: McpClient) -> None:
    row_id = ada_mcp.call("memory", "context_create", name="shop")["id"]
    add(ada_mcp, context=row_id)
    assert titles(ada_mcp, context=row_id) == titles(ada_mcp, context=str(row_id)) == [TITLE]


def test_the_action_is_inferred_from_the_arguments(ada_mcp: McpClient) -> None:
    row_id = ada_mcp.call("memory", title=TITLE, content=CONTENT)["id"]
    assert ada_mcp.call("memory", query="redis")["meta"]["search_method"] == "any"
    assert ada_mcp.call("memory", id=row_id)["title"] == TITLE
    assert ada_mcp.call("memory")["count"] == 1
    assert ada_mcp.call("memory", title="x")["missing"] == ["action"]


def test_lists_and_objects_may_come_as_json_but_contents_are_never_parsed(ada_mcp: McpClient) -> None:
    row_id = add(ada_mcp, content='{"a": [1]}', tags='["a", "b"]', paths="x.py", metadata='{"c": 1}')
    whole = ada_mcp.call("memory", "get", id=row_id)
    assert [whole[name] for name in ("content", "tags", "paths", "metadata")] == [
        *('{"a": [1]}', ["a", "b"], ["x.py"], {"c": 1})
    ]


def test_detail_digest_returns_the_short_fields(ada_mcp: McpClient) -> None:
    row_id = add(ada_mcp, context="shop")
    [item] = ada_mcp.call("get", refs=[f"memory:{row_id}"], detail="digest")["items"]
    assert item == {
        "ref": f"memory:{row_id}",
        "title": TITLE,
        "digest": "Keep it in Redis for five minutes.",
        "type": "note",
        "context": "shop",
        "tokens": item["tokens"],
    }


# -- Lists and searches ----------------------------------------------------------------------------


@pytest.fixture
def filled(ada_mcp: McpClient) -> None:
    """Four memories that differ in every filter."""
    add(ada_mcp, title="one", context="shop", type="idea", stack="Django", difficulty="hard", tags=["a", "b"])
    add(ada_mcp, title="two", context="shop", tags=["a"])
    add(ada_mcp, title="three", context="zoo", type=6, stack="rust", difficulty=1, tags=["b"])
    add(ada_mcp, title="four", content="Llamas spit.", context="zoo")


FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["four", "three", "two", "one"]),
    ({"type": 6}, ["three", "one"]),
    ({"difficulty": 3}, ["one"]),
    ({"tags": "b"}, ["three", "one"]),
]


@pytest.mark.parametrize(("query", "expected"), FILTERS, ids=str)
def test_each_filter_narrows_the_list(
    filled: None, ada_mcp: McpClient, query: dict[str, Any], expected: list[str]
) -> None:
    assert titles(ada_mcp, **query) == expected


SEARCHES: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["one", "three", "two"]),
    ({"context": "shop"}, ["one", "two"]),
    ({"type": "idea"}, ["one", "three"]),
    ({"stack": "django"}, ["one"]),
    ({"tags": ["a"]}, ["one", "two"]),
    ({"detail": "detailed", "context": "zoo"}, ["three"]),
]


@pytest.mark.parametrize(("query", "expected"), SEARCHES, ids=str)
def test_each_filter_narrows_the_search(
    filled: None, ada_mcp: McpClient, query: dict[str, Any], expected: list[str]
) -> None:
    assert sorted(titles(ada_mcp, "search", query="is it kept in redis?", **query)) == expected
    assert ada_mcp.call("memory", "search", query="redis", **query)["total"] == len(expected)


def test_a_search_may_be_limited(filled: None, ada_mcp: McpClient) -> None:
    answer = ada_mcp.call("memory", "search", query="redis", limit=1)
    assert (answer["count"], answer["total"]) == (1, 3)
    assert answer["total_tokens"] == answer["avg_tokens"] <= 60


def test_fuzzy_search_finds_mistyped_words(filled: None, ada_mcp: McpClient) -> None:
    [row] = ada_mcp.rows("memory", "fuzzy", query="lamas spti")
    assert (row["title"], row["distance"], row["score"]) == ("four", 2, 0.78)
    for filters in ({"tolerance": 0}, {"context": "shop"}, {"type": "idea"}):
        assert titles(ada_mcp, "fuzzy", query="lamas spti", **filters) == []
    assert ada_mcp.call("memory", "fuzzy", query="rediss", limit=2)["count"] == 2


def test_the_global_search_finds_memories(filled: None, ada_mcp: McpClient) -> None:
    rows = ada_mcp.rows("search", query="llamas", kinds=["memories"], context="zoo")
    assert [row["title"] for row in rows] == ["four"]
    assert ada_mcp.call("search", query="llamas", context="none")["error"] == "not_found"


# -- Bad input -------------------------------------------------------------------------------------

ADDED = {"title": "x", "content": "x"}
BAD: list[tuple[str, dict[str, Any], str]] = [
    ("add", {**ADDED, "content": ""}, "content"),
    ("add", {**ADDED, "type": "poem"}, "type"),
    ("add", {**ADDED, "difficulty": "odd"}, "difficulty"),
    ("add", {**ADDED, "paths": ["/etc"]}, "paths"),
    ("add", {**ADDED, "context": " "}, "context"),
    ("update", {"id": 1, "title": ""}, "title"),
    ("update", {"id": 1, "content": ""}, "content"),
    ("update", {"id": 1, "type": ""}, "type"),
    ("list", {"type": "poem"}, "type"),
    ("list", {"difficulty": "odd"}, "difficulty"),
    ("list", {"limit": 0}, "limit"),
    ("list", {"cursor": "zzz"}, "cursor"),
    ("search", {"query": " "}, "query"),
    ("search", {"query": "x", "detail": "ids"}, "detail"),
    ("search", {"query": "x", "limit": 201}, "limit"),
    ("search", {"query": "x", "cursor": "x"}, "cursor"),
    ("fuzzy", {"query": "x", "tolerance": 11}, "tolerance"),
    ("fuzzy", {"query": "x", "stack": "x"}, "stack"),
]


@pytest.mark.parametrize(("action", "arguments", "named"), BAD, ids=str)
def test_bad_input_is_named_and_nothing_is_written(
    ada_mcp: McpClient, apollo: Project, action: str, arguments: dict[str, Any], named: str
) -> None:
    before = dump_project(apollo)["memory_memory"]
    answer = ada_mcp.call("memory", action, **arguments)
    assert answer["error"] == "invalid"
    assert named in answer["message"]
    assert dump_project(apollo)["memory_memory"] == before


@pytest.mark.parametrize("unknown", [-1, 2**63])
def test_an_unknown_id_is_not_found(ada_mcp: McpClient, unknown: Any) -> None:
    answers = [ada_mcp.call("memory", action, id=unknown) for action in ("get", "update")]
    for answer in (*answers, ada_mcp.call("delete", refs=[f"memory:{unknown}"])):
        assert answer["error"] == "not_found"
        assert answer["hint"]


def test_an_unknown_context_is_not_found_with_the_nearest(ada_mcp: McpClient) -> None:
    row_id = add(ada_mcp, context="Shop")
    for action, arguments in (
        ("list", {}),
        ("search", {"query": "x"}),
        ("fuzzy", {"query": "x"}),
        ("update", {"id": row_id}),
    ):
        answer = ada_mcp.call("memory", action, context="shpo", **arguments)
        assert (answer["error"], answer["did_you_mean"]) == ("not_found", "Shop")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("add_memory", "add"),
        ("get_memory", "get"),
        ("update_memory", "update"),
        ("delete_memory", "delete"),
        ("list_memories", "list"),
        ("search_memories", "search"),
        ("smart_search", "search"),
        ("fuzzy_search", "fuzzy"),
    ],
)
def test_action_names_of_other_tools_get_a_suggestion(ada_mcp: McpClient, name: str, expected: str) -> None:
    assert ada_mcp.call("memory", name)["did_you_mean"] == expected


@pytest.mark.parametrize(
    ("action", "name", "expected"),
    [
        ("add", "contextId", "context"),
        ("get", "memoryId", "id"),
        ("search", "mode", "detail"),
        ("list", "offset", "cursor"),
    ],
)
def test_argument_names_of_other_tools_get_a_suggestion(
    ada_mcp: McpClient, action: str, name: str, expected: str
) -> None:
    assert ada_mcp.call("memory", action, **{name: "x"})["did_you_mean"] == {name: expected}


# -- Rights and requests ---------------------------------------------------------------------------


def test_the_agent_argument_sets_the_author(hub: LiveHub, apollo: Project) -> None:
    client = hub.mcp(create_token(project=apollo, name="ci").secret)
    assert client.call("memory", "get", id=add(client, agent="zoe"))["agent"] == "zoe"


def test_a_repeated_request_is_written_once(ada_mcp: McpClient) -> None:
    meta = {"ctxhub/request_id": "r-1"}
    arguments = {"action": "add", "title": TITLE, "content": CONTENT}
    first, again = (ada_mcp.result("memory", arguments, meta)["content"] for _ in range(2))
    assert first == again
    assert ada_mcp.call("hub", "stats")["memories"] == 1


def test_updates_count_new_memories_and_contexts(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    cursor = ben_mcp.call("hub", "updates")["cursor"]
    add(ada_mcp, context="new")
    news = ben_mcp.call("hub", "updates", since=cursor)
    assert (news["memories"], news["contexts"]) == (1, 1)
