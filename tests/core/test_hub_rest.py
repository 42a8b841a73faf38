"""Stats, agents, activity and updates of a project over REST."""

from typing import Any

import pytest

from ctxhub.core.models import Event, Project
from tests.hub import RestClient


@pytest.fixture
def busy(apollo: Project, ada_rest: RestClient, ben_rest: RestClient) -> None:
    Project.objects.filter(pk=apollo.pk).update(config={"tell_stale": False})
    ada_rest.post("decisions/", {"key": "a", "value": 1})
    ben_rest.post("decisions/", {"key": "a", "value": 2})
    ben_rest.post("decisions/", {"key": "b", "value": 1, "status": "draft"})
    ada_rest.delete("decisions/b/")


def activity(client: RestClient, **query: Any) -> list[str]:
    reply = client.get("activity/", **query)
    assert reply.status == 200, reply
    return [f"{item['agent']} {item['verb']} {item['ref']}" for item in reply.body["items"]]


LOG = [
    "ada deleted decision:b",
    "ben created decision:b",
    "ben updated decision:a",
    "ada created decision:a",
]


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, LOG),
        ({"agents": "ben"}, LOG[1:3]),
        ({"agents": "ben,ada"}, LOG),
        ({"agents": ["Ben", "nobody"]}, LOG[1:3]),
        ({"agents": "*"}, LOG),
        ({"agents": "nobody"}, []),
        ({"verbs": "deleted"}, LOG[:1]),
        ({"verbs": "set"}, LOG[1:]),
        ({"verbs": ["updated", "delete"]}, [LOG[0], LOG[2]]),
        ({"since": "1h"}, LOG),
        ({"since": "2099-01-01"}, []),
        ({"limit": 1}, LOG[:1]),
    ],
    ids=str,
)
def test_activity_by_each_filter(
    busy: None, ada_rest: RestClient, query: dict[str, Any], expected: list[str]
) -> None:
    assert activity(ada_rest, **query) == expected


def test_activity_comes_in_pages(busy: None, ada_rest: RestClient) -> None:
    first = ada_rest.get("activity/", limit=3).body
    assert activity(ada_rest, limit=3, cursor=first["next"]) == LOG[3:]


def test_activity_says_what_changed(busy: None, ada_rest: RestClient) -> None:
    entry = ada_rest.get("activity/", verbs="updated").body["items"][0]
    assert (entry["note"], entry["at"][-1]) == ("1.0.0 > 1.0.1: value, version", "Z")


def test_activity_stays_within_max_tokens(busy: None, ada_rest: RestClient) -> None:
    page = ada_rest.get("activity/", max_tokens=150).body
    assert 0 < page["count"] < 4
    rest = activity(ada_rest, cursor=page["next"])
    assert page["count"] + len(rest) == 4


def test_updates_count_what_others_did(busy: None, ada_rest: RestClient, ben_rest: RestClient) -> None:
    updates = ada_rest.get("updates/").body
    assert (updates["decisions"], updates["cursor"][0]) == (2, "e")
    assert ada_rest.get("updates/", since=updates["cursor"]).body == {"cursor": updates["cursor"]}
    ben_rest.post("decisions/", {"key": "c", "value": 1})
    assert ada_rest.get("updates/", since=updates["cursor"]).body["decisions"] == 1


def test_stats_count_each_kind(busy: None, ada_rest: RestClient) -> None:
    stats = ada_rest.get("stats/").body
    assert (stats["decisions"], stats["layers"], stats["agents"]) == ([1, 1], 5, 2)


def test_agents_come_in_pages(busy: None, ada_rest: RestClient) -> None:
    first = ada_rest.get("agents/", limit=1).body
    second = ada_rest.get("agents/", limit=1, cursor=first["next"]).body
    names = {item["name"] for item in [*first["items"], *second["items"]]}
    assert (names, first["total"], second["next"]) == ({"ada", "ben"}, 2, None)


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("activity/", {"since": "yesterday"}),
        ("activity/", {"agents": "x" * 101}),
        ("activity/", {"event": "created"}),
        ("activity/", {"limit": 0}),
        ("activity/", {"cursor": "zzz"}),
        ("updates/", {"since": "soon"}),
        ("updates/", {"limit": 5}),
        ("stats/", {"since": "1h"}),
        ("agents/", {"limit": "many"}),
        ("agents/", {"cursor": "WyJ4IiwxXQ"}),
        ("tags/", {"cursor": "WyJ4IiwxXQ"}),
        ("tags/", {"limit": 201}),
        ("layers/", {"max_tokens": -1}),
        ("", {"limit": 1}),
    ],
    ids=str,
)
def test_a_bad_query_is_invalid(ada_rest: RestClient, path: str, query: dict[str, Any]) -> None:
    reply = ada_rest.get(path, **query)
    assert (reply.status, reply.body["error"]) == (400, "invalid")


def test_another_project_sees_nothing_of_this_one(busy: None, cy_rest: RestClient, hermes: Project) -> None:
    assert activity(cy_rest) == []
    assert cy_rest.get("stats/").body["decisions"] == [0, 0]
    assert set(cy_rest.get("updates/").body) == {"cursor"}
    assert [item["name"] for item in cy_rest.get("agents/").body["items"]] == ["cy"]
    assert not Event.objects.in_project(hermes).exists()
