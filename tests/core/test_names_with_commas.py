"""A comma stands between two tags, scopes, agents, kinds or verbs: a text with commas is a list."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import clean_names, clean_words
from ctxhub.core.models import Tag
from ctxhub.core.vocabulary.services.changes import add_word, rename_word
from tests.hub import McpClient, RestClient

SAID: list[Any] = [
    "api,security",
    "api, security,",
    ["api,security"],
    ["api", "security"],
    '["api","security"]',
]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (["api,security"], ["api", "security"]),
        (["a, b ", "B", "c,"], ["a", "b", "c"]),
        (["a b"], ["a b"]),
    ],
)
def test_a_comma_stands_between_two_words(said: list[str], words: list[str]) -> None:
    assert clean_words(said, "tags") == words


def test_names_of_people_may_hold_commas() -> None:
    assert clean_names(["Doe, Jane"], "to") == ["Doe, Jane"]


@pytest.mark.parametrize("said", [",", " , ", ",,"])
def test_commas_alone_name_nothing(said: str) -> None:
    with pytest.raises(InvalidInput, match="blank"):
        clean_words([said], "tags")


def test_the_limit_counts_what_stands_between_commas() -> None:
    with pytest.raises(InvalidInput, match="51 entries"):
        clean_words([",".join(map(str, range(51)))], "tags")


@pytest.mark.parametrize("said", SAID, ids=str)
def test_tags_in_a_text_are_two_over_mcp(ada_mcp: McpClient, said: Any) -> None:
    ada_mcp.call("decision", "set", key="a", value=1, tags=said, scopes=said)
    ada_mcp.call("constraint", "add", category="security", text="x", tags=said, scopes=said)
    ada_mcp.call("memory", "add", title="x", content="y", tags=said)
    ada_mcp.call("memory", "context_create", name="shop", tags=said)
    for tool in ("decision", "constraint", "memory"):
        [row] = ada_mcp.rows(tool, "list")
        assert sorted(row["tags"]) == ["api", "security"]
        assert row.get("scopes", row["tags"]) == row["tags"]
        assert ada_mcp.call(tool, "list", tags=said)["count"] == 1
    for tool in ("decision", "constraint"):
        assert ada_mcp.call(tool, "list", tags=said, match="all")["count"] == 1
    assert ada_mcp.call("decision", "list", exclude_tags=said)["count"] == 0
    assert ada_mcp.call("search", query="x", tags=said)["count"] == 2
    assert ada_mcp.call("memory", "search", query="x", tags=said)["count"] == 1
    assert {row["name"]: row["tags"] for row in ada_mcp.rows("memory", "contexts")}["shop"] == [
        "api",
        "security",
    ]
    assert set(ada_mcp.call("hub", "vocabulary")["tags"]) & {"api,security", "security,"} == set()


@pytest.mark.parametrize("said", SAID[:4], ids=str)
def test_tags_in_a_text_are_two_over_rest(ada_rest: RestClient, said: Any) -> None:
    made = ada_rest.post("decisions/", {"key": "a", "value": 1, "tags": said, "scopes": said}).body
    assert sorted(made["tags"]) == sorted(made["scopes"]) == ["api", "security"]
    rule = {"category": "security", "text": "x", "tags": said, "scopes": said}
    assert sorted(ada_rest.post("constraints/", rule).body["tags"]) == ["api", "security"]
    note = {"title": "x", "content": "y", "tags": said}
    assert sorted(ada_rest.post("memories/", note).body["tags"]) == ["api", "security"]
    assert sorted(ada_rest.post("contexts/", {"name": "c", "tags": said}).body["tags"]) == ["api", "security"]
    assert (
        ada_rest.post("search/", {"query": "x", "tags": said, "kinds": "memory,decision"}).body["count"] == 1
    )
    for path in ("decisions/", "constraints/", "memories/"):
        query = {"tags": said} if isinstance(said, list) else {"tags": [said]}
        assert ada_rest.get(path, **query).body["count"] == 1


def test_tags_in_a_text_are_two_in_batches(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    ada_mcp.call("decision", "set_batch", items=[{"key": "a", "value": 1, "tags": "api,security"}])
    ada_rest.post("decisions/batch/", {"items": [{"key": "b", "value": 1, "tags": "api,security"}]})
    assert [sorted(row["tags"]) for row in ada_mcp.rows("decision", "list")] == [["api", "security"]] * 2


def test_other_lists_of_names_are_read_alike(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    ada_mcp.call("decision", "set", key="a", value=1)
    ben_mcp.call("memory", "add", title="a", content="y")
    assert ada_mcp.call("hub", "activity", agents="ada,ben")["count"] == 3
    assert ada_mcp.call("hub", "activity", agents="ada,ben", verbs="updated,deleted")["count"] == 0
    assert ada_mcp.call("search", query="a", kinds="decision,memory")["count"] == 2
    whole = ada_mcp.call("decision", "get", key="a", include="rationale,history")["decision"]
    assert {"rationale", "history"} <= set(whole)


def test_a_recipient_and_a_path_may_hold_a_comma(ada_mcp: McpClient) -> None:
    """Names of agents and of files are what others call them; `unknown` tells of a list that was none."""
    sent = ada_mcp.call("message", "send", text="x", to="ben,eve")
    assert (sent["to"], sent["unknown"]) == (["ben,eve"], ["ben,eve"])
    lease = ada_mcp.call("file", "lease", paths="src/a,b.py")
    assert "error" not in lease
    assert ada_mcp.rows("file", "leases")[0]["paths"] == ["src/a,b.py"]


def test_what_follows_from_a_key_with_a_comma_holds_none(ada_mcp: McpClient) -> None:
    made = ada_mcp.call("decision", "quick_set", key="api,web/limit", value=1)
    assert made["inferred"] == {"layer": "business", "tags": ["api", "web", "limit"], "scope": "api web"}


def test_people_name_no_tag_with_a_comma(ada: Caller) -> None:
    with pytest.raises(InvalidInput, match="comma"):
        add_word(caller=ada, model=Tag, name="api,security")
    tag = add_word(caller=ada, model=Tag, name="own")
    with pytest.raises(InvalidInput, match="comma"):
        rename_word(caller=ada, word=tag, name="api,security")
