"""Memories over MCP and REST: what they have beside what all nouns do."""

from typing import Any

import pytest

from tests.hub import WHOLE, McpClient, RestClient

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


def test_a_context_may_come_as_a_number(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    row_id = ada_mcp.call("memory", "context_create", name="shop")["id"]
    add(ada_mcp, context=row_id)
    assert titles(ada_mcp, context=row_id) == titles(ada_mcp, context=str(row_id)) == [TITLE]
    made = {"title": TITLE, "content": CONTENT}
    assert ada_rest.post("memories/", {**made, "context": str(row_id)}, WHOLE).body["context"] == "shop"
    assert ada_rest.post("memories/", {**made, "context": 999}).status == 404


def test_the_action_is_inferred_from_the_arguments(ada_mcp: McpClient) -> None:
    row_id = ada_mcp.call("memory", title=TITLE, content=CONTENT)["id"]
    assert ada_mcp.call("memory", query="redis")["meta"]["search_method"] == "any"
    assert ada_mcp.call("memory", id=row_id)["title"] == TITLE
    assert ada_mcp.call("memory")["count"] == 1
    assert ada_mcp.call("memory", title="x")["missing"] == ["action"]


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


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["one", "three", "two"]),
        ({"context": "shop", "detail": "standard"}, ["one", "two"]),
        ({"type": "idea"}, ["one", "three"]),
        ({"stack": "DJANGO"}, ["one"]),
        ({"tags": "a"}, ["one", "two"]),
        ({"detail": "detailed", "context": "zoo"}, ["three"]),
    ],
    ids=str,
)
def test_each_filter_narrows_the_search(
    filled: None, ada_mcp: McpClient, ada_rest: RestClient, query: dict[str, Any], expected: list[str]
) -> None:
    asked = {"query": "is it kept in redis?", **query}
    assert sorted(titles(ada_mcp, "search", **asked)) == expected
    found = ada_rest.get("memories/search/", **asked).body
    assert (sorted(item["title"] for item in found["items"]), found["total"]) == (expected, len(expected))


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


def test_fuzzy_search_over_rest_takes_its_filters(filled: None, ada_rest: RestClient) -> None:
    [item] = ada_rest.get("memories/fuzzy/", query="lamas", context="zoo").body["items"]
    assert (item["title"], item["distance"], item["score"]) == ("four", 1, 0.8)
    for filters in ({"tolerance": 0}, {"context": "shop"}, {"type": "idea"}):
        assert ada_rest.get("memories/fuzzy/", query="lamas", **filters).body["items"] == []


def test_a_search_over_rest_reports_its_tokens(filled: None, ada_rest: RestClient) -> None:
    body = ada_rest.get("memories/search/", query="rediss", limit=1).body
    [item] = body["items"]
    names = ("id", "title", "excerpt", "type", "context", "stack", "score", "tokens")
    assert tuple(item) == (*names, "lines", "size", "stale")
    assert (body["count"], body["total"], body["next"]) == (1, 3, None)
    assert (body["total_tokens"], body["did_you_mean"]) == (item["tokens"], "redis")
    assert set(body["meta"]) == {"search_method", "excerpt_strategy"}


def test_the_global_search_finds_memories(filled: None, ada_mcp: McpClient) -> None:
    rows = ada_mcp.rows("search", query="llamas", kinds=["memories"], context="zoo")
    assert [row["title"] for row in rows] == ["four"]
    assert ada_mcp.call("search", query="llamas", context="none")["error"] == "not_found"


# -- Bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "named", "value"),
    [
        ("search", "query", " "),
        ("search", "detail", "ids"),
        ("search", "limit", 201),
        ("search", "cursor", "x"),
        ("fuzzy", "tolerance", 11),
        ("fuzzy", "tolerance", -1),
        ("fuzzy", "stack", "x"),
    ],
)
def test_a_bad_search_is_refused(
    ada_mcp: McpClient, ada_rest: RestClient, action: str, named: str, value: Any
) -> None:
    query = {"query": "x", named: value}
    for answer in (
        ada_mcp.call("memory", action, **query),
        ada_rest.get(f"memories/{action}/", **query).body,
    ):
        assert (answer["error"], named in answer["message"]) == ("invalid", True)


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


def test_updates_count_new_memories_and_contexts(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    cursor = ben_mcp.call("hub", "updates")["cursor"]
    add(ada_mcp, context="new")
    news = ben_mcp.call("hub", "updates", since=cursor)
    assert (news["memories"], news["contexts"]) == (1, 1)
