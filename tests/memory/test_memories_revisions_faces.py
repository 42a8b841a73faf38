"""Revisions of memories over MCP and REST."""

from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Project
from memory.models import MemoryRevision
from tests.hub import WHOLE, LiveHub, McpClient, RestClient

pytestmark = pytest.mark.usefixtures("index_is_kept")

LISTED = ["revision", "title", "tokens", "agent", "at"]
LINES = "one\ntwo\nthree"


@pytest.fixture
def memory(ada_mcp: McpClient, ben_mcp: McpClient) -> int:
    """A memory of ada's that ben has changed."""
    row_id = int(ada_mcp.call("memory", "add", title="Cache", content=LINES)["id"])
    ben_mcp.call("memory", "update", id=row_id, title="Caching", content="two")
    return row_id


# -- MCP -------------------------------------------------------------------------------------------


def test_revisions_are_listed(ada_mcp: McpClient, memory: int) -> None:
    answer = ada_mcp.call("memory", "revisions", id=memory)
    assert (answer["columns"], answer["count"]) == (LISTED, 2)
    assert [(row[0], row[1], row[3]) for row in answer["rows"]] == [
        (2, "Caching", "ben"),
        (1, "Cache", "ada"),
    ]


def test_a_page_of_revisions_names_the_next(ada_mcp: McpClient, memory: int) -> None:
    page = ada_mcp.call("memory", "revisions", id=f"memory:{memory}", limit=1)
    following = ada_mcp.call("memory", "revisions", id=memory, limit=1, cursor=page["next"])
    assert ([row[0] for row in page["rows"] + following["rows"]], following.get("next")) == ([2, 1], None)


def test_one_revision_is_read_whole_or_in_part(ada_mcp: McpClient, memory: int) -> None:
    one = ada_mcp.call("memory", "revisions", id=memory, revision=1)
    assert [one[name] for name in ("id", "title", "content", "revision", "agent")] == [
        *(memory, "Cache", LINES, 1, "ada")
    ]
    part = ada_mcp.call("memory", "revisions", id=memory, revision=1, lines="2-3")
    assert (part["content"], part["total_lines"]) == ("two\nthree", 3)
    assert ada_mcp.call("memory", "revisions", id=memory, revision="1", tail=1)["content"] == "three"


def test_a_restore_brings_a_revision_back(ada_mcp: McpClient, memory: int) -> None:
    answer = ada_mcp.call("memory", "restore", id=memory, revision=1)
    assert (answer["result"], answer["revision"]) == ("updated", 3)
    item = ada_mcp.call("memory", "get", id=memory)
    assert (item["title"], item["content"], item["revision"]) == ("Cache", LINES, 3)
    assert ada_mcp.call("memory", "restore", id=memory, revision=3)["result"] == "unchanged"


@pytest.mark.parametrize(
    ("action", "arguments", "error"),
    [
        ("revisions", {"lines": "1"}, "invalid"),
        ("revisions", {"tail": 1}, "invalid"),
        ("revisions", {"revision": 1, "lines": "1", "tail": 1}, "invalid"),
        ("revisions", {"revision": "first"}, "invalid"),
        ("revisions", {"limit": 0}, "invalid"),
        ("revisions", {"cursor": "x"}, "invalid"),
        ("revisions", {"revision": 9}, "not_found"),
        ("revisions", {"id": 999}, "not_found"),
        ("restore", {}, "invalid"),
        ("restore", {"revision": [1]}, "invalid"),
        ("restore", {"revision": 9}, "not_found"),
        ("restore", {"id": 999, "revision": 1}, "not_found"),
    ],
    ids=str,
)
def test_bad_input_is_refused(
    ada_mcp: McpClient, memory: int, action: str, arguments: dict[str, Any], error: str
) -> None:
    assert ada_mcp.call("memory", action, **{"id": memory, **arguments})["error"] == error
    assert MemoryRevision.unscoped.count() == 2


# -- REST ------------------------------------------------------------------------------------------


def test_revisions_are_listed_read_and_restored_over_rest(ada_rest: RestClient, memory: int) -> None:
    path = f"memories/{memory}/"
    items = ada_rest.get(f"{path}revisions/", limit=1).body["items"]
    assert [(item["revision"], item["title"], item["agent"]) for item in items] == [(2, "Caching", "ben")]
    one = ada_rest.get(f"{path}revisions/1/").body
    assert (one["title"], one["content"], one["revision"]) == ("Cache", LINES, 1)
    assert ada_rest.get(f"{path}revisions/1/", tail=1).body["content"] == "three"
    restored = ada_rest.post(f"{path}restore/", {"revision": 1}, WHOLE)
    assert (restored.status, restored.body["result"], restored.body["content"]) == (200, "updated", LINES)
    assert ada_rest.get(path).body["revision"] == 3


def test_a_repeated_restore_answers_the_first_result(ada_rest: RestClient, memory: int) -> None:
    path, key = f"memories/{memory}/restore/", {"Idempotency-Key": "k"}
    first = ada_rest.post(path, {"revision": 1}, headers=key).body
    ada_rest.post(path, {"revision": 2})
    assert ada_rest.post(path, {"revision": 1}, headers=key).body == first
    assert ada_rest.get(f"memories/{memory}/").body["title"] == "Caching"


def test_a_reader_sees_revisions_and_restores_none(hub: LiveHub, apollo: Project, memory: int) -> None:
    secret = create_token(project=apollo, agent="eve", scopes=["read"]).secret
    rest, mcp = hub.rest(secret), hub.mcp(secret)
    assert rest.get(f"memories/{memory}/revisions/1/").body["title"] == "Cache"
    assert rest.post(f"memories/{memory}/restore/", {"revision": 1}).status == 403
    assert mcp.call("memory", "restore", id=memory, revision=1)["error"] == "not_allowed"
    assert mcp.call("memory", "get", id=memory)["revision"] == 2


def test_a_writer_without_the_read_scope_gets_a_short_answer(
    hub: LiveHub, apollo: Project, memory: int
) -> None:
    writer = hub.rest(create_token(project=apollo, agent="ci", scopes=["write"]).secret)
    answer = writer.post(f"memories/{memory}/restore/", {"revision": 1})
    assert set(answer.body) == {"id", "ref", "result", "tokens", "revision"}
    assert writer.get(f"memories/{memory}/revisions/").status == 403
