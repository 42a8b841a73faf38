"""Commas separate tags, scopes, agents, kinds and verbs: a text with commas is read as a list."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import clean_names, clean_words
from ctxhub.core.models import Tag
from ctxhub.core.vocabulary.services import add_word, rename_word
from tests.hub import WHOLE, McpClient, RestClient

pytestmark = pytest.mark.one_engine

TAG_LISTS: list[Any] = [
    "api,security",
    "api, security,",
    ["api,security"],
    ["api", "security"],
    '["api","security"]',
]


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["api,security"], ["api", "security"]),
        (["a, b ", "B", "c,"], ["a", "b", "c"]),
        (["a b"], ["a b"]),
    ],
)
def test_commas_separate_words(texts: list[str], words: list[str]) -> None:
    assert clean_words(texts, "tags") == words


def test_names_of_people_may_hold_commas() -> None:
    assert clean_names(["Doe, Jane"], "to") == ["Doe, Jane"]


@pytest.mark.parametrize("text", [",", " , ", ",,"])
def test_commas_alone_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="blank"):
        clean_words([text], "tags")


def test_the_limit_counts_the_words_between_commas() -> None:
    with pytest.raises(InvalidInput, match="51 entries"):
        clean_words([",".join(map(str, range(51)))], "tags")


@pytest.mark.parametrize("tags", TAG_LISTS, ids=str)
def test_comma_separated_tags_are_two_over_mcp(ada_mcp: McpClient, tags: Any) -> None:
    ada_mcp.call("decision", "set", key="a", value=1, tags=tags, scopes=tags)
    ada_mcp.call("constraint", "add", category="security", text="x", tags=tags, scopes=tags)
    ada_mcp.call("memory", "add", title="x", content="y", tags=tags)
    ada_mcp.call("memory", "context_create", name="shop", tags=tags)
    for tool in ("decision", "constraint", "memory"):
        [row] = ada_mcp.rows(tool, "list")
        assert sorted(row["tags"]) == ["api", "security"]
        assert row.get("scopes", row["tags"]) == row["tags"]
        assert ada_mcp.call(tool, "list", tags=tags)["count"] == 1
    for tool in ("decision", "constraint"):
        assert ada_mcp.call(tool, "list", tags=tags, match="all")["count"] == 1
    assert ada_mcp.call("decision", "list", exclude_tags=tags)["count"] == 0
    assert ada_mcp.call("search", query="x", tags=tags)["count"] == 2
    assert ada_mcp.call("memory", "search", query="x", tags=tags)["count"] == 1
    assert {row["name"]: row["tags"] for row in ada_mcp.rows("memory", "contexts")}["shop"] == [
        "api",
        "security",
    ]
    assert set(ada_mcp.call("hub", "vocabulary")["tags"]) & {"api,security", "security,"} == set()


@pytest.mark.parametrize("tags", TAG_LISTS[:4], ids=str)
def test_comma_separated_tags_are_two_over_rest(ada_rest: RestClient, tags: Any) -> None:
    made = ada_rest.post("decisions/", {"key": "a", "value": 1, "tags": tags, "scopes": tags}, WHOLE).body
    assert sorted(made["tags"]) == sorted(made["scopes"]) == ["api", "security"]
    rule = {"category": "security", "text": "x", "tags": tags, "scopes": tags}
    assert sorted(ada_rest.post("constraints/", rule, WHOLE).body["tags"]) == ["api", "security"]
    note = {"title": "x", "content": "y", "tags": tags}
    assert sorted(ada_rest.post("memories/", note, WHOLE).body["tags"]) == ["api", "security"]
    assert sorted(ada_rest.post("contexts/", {"name": "c", "tags": tags}, WHOLE).body["tags"]) == [
        "api",
        "security",
    ]
    assert (
        ada_rest.post("search/", {"query": "x", "tags": tags, "kinds": "memory,decision"}).body["count"] == 1
    )
    for path in ("decisions/", "constraints/", "memories/"):
        query = {"tags": tags} if isinstance(tags, list) else {"tags": [tags]}
        assert ada_rest.get(path, **query).body["count"] == 1


def test_comma_separated_tags_are_two_in_batches(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    ada_mcp.call("decision", "set_batch", items=[{"key": "a", "value": 1, "tags": "api,security"}])
    ada_rest.post("decisions/batch/", {"items": [{"key": "b", "value": 1, "tags": "api,security"}]})
    assert [sorted(row["tags"]) for row in ada_mcp.rows("decision", "list")] == [["api", "security"]] * 2


def test_other_lists_of_names_are_split_at_commas_too(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    ada_mcp.call("decision", "set", key="a", value=1)
    ben_mcp.call("memory", "add", title="a", content="y")
    assert ada_mcp.call("hub", "activity", agents="ada,ben")["count"] == 3
    assert ada_mcp.call("hub", "activity", agents="ada,ben", verbs="updated,deleted")["count"] == 0
    assert ada_mcp.call("search", query="a", kinds="decision,memory")["count"] == 2
    whole = ada_mcp.call("decision", "get", key="a", include="rationale,history")["decision"]
    assert {"rationale", "history"} <= set(whole)


def test_a_path_may_hold_a_comma(ada_mcp: McpClient) -> None:
    lease = ada_mcp.call("file", "lease", paths=["src/a,b.py"], exact=True)
    assert "error" not in lease
    assert ada_mcp.rows("file", "leases")[0]["paths"] == ["src/a,b.py"]


def test_tags_and_scope_inferred_from_a_key_hold_no_comma(ada_mcp: McpClient) -> None:
    made = ada_mcp.call("decision", "quick_set", key="api,web/limit", value=1)
    assert made["inferred"] == {"layer": "business", "tags": ["api", "web", "limit"], "scope": "api web"}


def test_adding_or_renaming_a_tag_refuses_commas(ada: Caller) -> None:
    with pytest.raises(InvalidInput, match="comma"):
        add_word(caller=ada, model=Tag, name="api,security")
    tag = add_word(caller=ada, model=Tag, name="own")
    with pytest.raises(InvalidInput, match="comma"):
        rename_word(caller=ada, word=tag, name="api,security")
