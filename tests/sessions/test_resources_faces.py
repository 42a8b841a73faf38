"""Files in sessions over MCP and REST: every argument, bad input, readers and strangers."""

from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Project
from sessions.models import Access, ResourceDependency
from tests.hub import LiveHub, McpClient, RestClient
from tracking.models import Resource

TOKEN = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
ALL_OF_TRACK = {
    "path": "src/app.py",
    "access": "edited",
    "session": "window 1",
    "content": f"key = '{TOKEN}'",
    "hash": "git:1",
    "size": 50,
    "token_count": 12,
    "type": "research",
    "importance": 77,
}


def read_back(client: McpClient) -> dict[str, Any]:
    [item] = client.call("get", refs=["resource:src/app.py"])["items"]
    return dict(item)


# -- MCP -------------------------------------------------------------------------------------------


def test_every_argument_of_track_over_mcp(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    answer = ada_mcp.call("session", "track", **ALL_OF_TRACK)
    assert (answer["tokens"], answer["importance"], answer["masked"]) == (12, 77, 1)
    assert read_back(ben_mcp) == {
        "ref": "resource:src/app.py",
        "path": "src/app.py",
        "type": "research",
        "size": 50,
        "tokens": 12,
        "hash": "git:1",
        "importance": 77,
        "importance_parts": {"mark": 77.0},
        "content": "key = '[credential: GitHub token]'",
    }
    [row] = ben_mcp.rows("session", "resources", session="window 1")
    assert (row["access"], row["count"], row["modified"]) == ("edited", 1, True)


def test_a_call_that_names_no_session_belongs_to_the_agents_last_one(ada_mcp: McpClient) -> None:
    first = ada_mcp.call("session", "track", path="a", access="viewed")["session"]
    assert ada_mcp.call("session", "track", path="b", access=4)["session"] == first
    assert {row["path"] for row in ada_mcp.rows("session", "resources")} == {"a", "b"}


def test_an_edited_file_stands_before_viewed_ones(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    session = ada_mcp.call("session", "track", path="edited", access="edited")["session"]
    for path in ("a", "b"):
        ada_mcp.call("session", "track", path=path, access="viewed")
    first = ada_mcp.call("session", "resources", limit=2)
    rest = ada_mcp.call("session", "resources", cursor=first["next"])
    assert [row[0] for row in first["rows"] + rest["rows"]] == ["edited", "b", "a"]
    page = ada_rest.get(f"sessions/{session}/resources/", limit=1).body
    assert [item["path"] for item in page["items"]] == ["edited"]


def test_every_filter_over_mcp(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    session = ada_mcp.call("session", "track", path="a", access="viewed")["session"]
    ben_mcp.call("session", "track", path="a", access="edit", session="mine")
    named = {"path": "a", "session": session, "access": "VIEW", "since": "1h", "limit": 5}
    [row] = ben_mcp.rows("session", "accesses", **named)
    assert row.pop("at")[-1] == "Z"
    assert row == {"path": "a", "access": "viewed", "agent": "ada", "session": session}
    first = ada_mcp.call("session", "accesses", limit=1)
    [row] = ada_mcp.rows("session", "accesses", cursor=first["next"])
    assert (row["agent"], first["total"]) == ("ada", 2)
    assert ada_mcp.call("session", "resources", session=f"session:{session}", sort="recent")["count"] == 1


def test_dependencies_over_mcp(ada_mcp: McpClient) -> None:
    made = ada_mcp.call("session", "depend", source="a", target="b", type="imports", strength=2)
    assert made == {"source": "a", "target": "b", "type": "imports", "strength": 2, "result": "created"}
    ada_mcp.call("session", "depend", source="b", target="c", type="tests")
    query = {"path": "a", "direction": "outgoing", "depth": 2}
    rows = ada_mcp.rows("session", "dependencies", **query)
    assert [(row["source"], row["target"], row["depth"]) for row in rows] == [("a", "b", 1), ("b", "c", 2)]
    first = ada_mcp.call("session", "dependencies", **query, limit=1)
    [row] = ada_mcp.rows("session", "dependencies", **query, cursor=first["next"])
    assert row["target"] == "c"


@pytest.mark.parametrize(
    ("action", "arguments", "expected"),
    [
        ("track", {"path": "a"}, {"missing": ["access"]}),
        (
            "track",
            {"path": "a", "access": "deleted"},
            {"allowed": ["viewed", "referenced", "executed", "edited"]},
        ),
        ("track", {"path": "a", "access": "view", "size": "big"}, {}),
        ("track", {"path": "a", "access": "view", "token_count": True}, {}),
        ("track", {"path": "a", "access": "view", "content": ["x"]}, {}),
        ("track", {"path": "a", "access": "view", "importance": 101}, {}),
        ("track", {"path": "a", "access": "view", "session": ["x"]}, {}),
        ("depend", {"source": "a", "target": "a", "type": "x"}, {}),
        ("depend", {"source": "a", "target": "b"}, {"missing": ["type"]}),
        ("dependencies", {}, {"missing": ["path"]}),
        (
            "dependencies",
            {"path": "a", "direction": "up"},
            {"allowed": ["both", "incoming", "outgoing"]},
        ),
        ("resources", {"sort": "name"}, {"allowed": ["relevance", "accessed", "recent"]}),
        ("accesses", {"since": "soon"}, {}),
        ("track_resource_access", {}, {"did_you_mean": "track"}),
    ],
    ids=str,
)
def test_a_wrong_call_is_told_and_writes_nothing(
    ada_mcp: McpClient, apollo: Project, action: str, arguments: dict[str, Any], expected: dict[str, Any]
) -> None:
    answer = ada_mcp.call("session", action, **arguments)
    assert answer["error"] == "invalid", answer
    assert expected.items() <= answer.items()
    assert not Resource.objects.in_project(apollo).exists()


def test_another_agents_session_is_not_allowed_over_mcp(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    session = ben_mcp.call("session", "track", path="a", access="viewed")["session"]
    answer = ada_mcp.call("session", "track", path="b", access="viewed", session=session)
    assert answer["error"] == "not_allowed"


# -- REST ------------------------------------------------------------------------------------------


def test_every_argument_of_track_over_rest(ada_rest: RestClient, ada_mcp: McpClient) -> None:
    reply = ada_rest.post("accesses/", ALL_OF_TRACK)
    assert (reply.status, reply.body["masked"]) == (201, 1)
    assert read_back(ada_mcp)["importance"] == 77
    [file] = ada_rest.get("resources/").body["items"]
    assert file == {
        "path": "src/app.py",
        "change": None,
        "by": None,
        "at": None,
        "type": "research",
        "size": 50,
        "tokens": 12,
        "hash": "git:1",
        "importance": 77,
    }


def test_lists_of_a_session_over_rest(ada_rest: RestClient, ben_rest: RestClient) -> None:
    session = ada_rest.post("accesses/", {"path": "a", "access": "viewed"}).body["session"]
    ben_rest.post("accesses/", {"path": "b", "access": 4, "session": "ben's"})
    for address in (f"sessions/{session}/", f"sessions/session:{session}/"):
        assert [item["path"] for item in ben_rest.get(f"{address}resources/").body["items"]] == ["a"]
        assert [item["path"] for item in ben_rest.get(f"{address}accesses/").body["items"]] == ["a"]
    page = ada_rest.get(f"sessions/{session}/resources/", sort="accessed", limit=1).body
    assert (page["next"], page["total"]) == (None, 1)
    assert ada_rest.get(f"sessions/{session}/accesses/", access="edited").body["items"] == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["b", "a"]),
        ({"path": "a"}, ["a"]),
        ({"access": "edit"}, ["b"]),
        ({"session": "second"}, ["b"]),
        ({"since": "2099-01-01"}, []),
        ({"limit": 1}, ["b"]),
    ],
    ids=str,
)
def test_accesses_by_each_filter_over_rest(
    ada_rest: RestClient, query: dict[str, Any], expected: list[str]
) -> None:
    ada_rest.post("accesses/", {"path": "a", "access": "viewed"})
    ada_rest.post("accesses/", {"path": "b", "access": "edited", "session": "second"})
    assert [item["path"] for item in ada_rest.get("accesses/", **query).body["items"]] == expected


def test_dependencies_over_rest(ada_rest: RestClient) -> None:
    body = {"source": "a", "target": "b", "type": "imports", "strength": 2}
    made = ada_rest.post("dependencies/", body)
    assert (made.status, made.body["result"]) == (201, "created")
    again = ada_rest.post("dependencies/", body)
    assert (again.status, again.body["strength"]) == (200, 4)
    query = {"path": "b", "direction": "incoming", "depth": 2, "limit": 1}
    [item] = ada_rest.get("dependencies/", **query).body["items"]
    assert item == {**body, "strength": 4, "depth": 1}


@pytest.mark.parametrize(
    ("method", "address", "body"),
    [
        ("POST", "accesses/", {"path": "a"}),
        ("POST", "accesses/", {"path": "a", "access": "moved"}),
        ("POST", "accesses/", {"path": "a", "access": "viewed", "size": "5"}),
        ("POST", "accesses/", {"path": "a", "access": "viewed", "who": "x"}),
        ("POST", "dependencies/", {"source": "a", "target": "a", "type": "x"}),
        ("POST", "dependencies/", {"source": "a", "target": "b", "type": "x", "strength": 0}),
        ("GET", "accesses/?since=soon", None),
        ("GET", "accesses/?cursor=x", None),
        ("GET", "accesses/?who=x", None),
        ("GET", "dependencies/", None),
        ("GET", "dependencies/?path=a&direction=up", None),
        ("GET", "dependencies/?path=a&depth=101", None),
    ],
)
def test_bad_requests_are_refused(
    ada_rest: RestClient, apollo: Project, method: str, address: str, body: Any
) -> None:
    reply = ada_rest.send(method, f"/api/v1/projects/apollo/{address}", body)
    assert (reply.status, reply.body["error"]) == (400, "invalid"), reply
    assert not Resource.objects.in_project(apollo).exists()


def test_a_retried_track_counts_once(ada_rest: RestClient, apollo: Project) -> None:
    for _ in range(2):
        reply = ada_rest.post(
            "accesses/", {"path": "a", "access": "viewed"}, headers={"Idempotency-Key": "k1"}
        )
        assert reply.status == 201
    assert Resource.objects.in_project(apollo).get().access_count == 1


# -- Readers and strangers -------------------------------------------------------------------------


def test_a_reader_reads_and_writes_nothing(hub: LiveHub, apollo: Project, ada_rest: RestClient) -> None:
    session = ada_rest.post("accesses/", {"path": "a", "access": "viewed"}).body["session"]
    secret = create_token(project=apollo, agent="vi", scopes=["read"]).secret
    mcp, rest = hub.mcp(secret), hub.rest(secret)
    for action, arguments in (
        ("track", {"path": "b", "access": "viewed"}),
        ("depend", {"source": "a", "target": "b", "type": "x"}),
    ):
        assert mcp.call("session", action, **arguments)["error"] == "not_allowed"
    assert rest.post("accesses/", {"path": "b", "access": "viewed"}).status == 403
    assert rest.post("dependencies/", {"source": "a", "target": "b", "type": "x"}).status == 403
    assert mcp.call("session", "accesses")["count"] == 1
    assert rest.get(f"sessions/{session}/resources/").body["count"] == 1
    assert Access.objects.in_project(apollo).count() == 1
    assert not ResourceDependency.objects.in_project(apollo).exists()


def test_a_stranger_sees_nothing_over_the_wire(
    ada_rest: RestClient, cy_rest: RestClient, cy_mcp: McpClient
) -> None:
    session = ada_rest.post("accesses/", {"path": "a", "access": "viewed"}).body["session"]
    ada_rest.post("dependencies/", {"source": "a", "target": "b", "type": "x"})
    for address in (f"sessions/{session}/resources/", f"sessions/{session}/accesses/"):
        assert cy_rest.get(address).status == 404
    for action, arguments in (("accesses", {"path": "a"}), ("dependencies", {"path": "a"})):
        assert cy_mcp.call("session", action, **arguments)["count"] == 0
    assert cy_mcp.call("session", "resources", session=session)["error"] == "not_found"
    assert cy_mcp.call("get", refs=["resource:a"])["missing"] == ["resource:a"]
