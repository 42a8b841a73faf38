"""Tags, scopes and layers over REST."""

import pytest

from ctxhub.core.models import Event, Layer, Project
from tests.hub import RestClient


@pytest.fixture
def words_in_use(ada_rest: RestClient) -> None:
    ada_rest.post("decisions/", {"key": "a", "value": 1, "tags": ["db", "new"], "scopes": ["x", "y"]})
    ada_rest.post("decisions/", {"key": "b", "value": 1, "tags": ["db"], "scopes": ["y"], "layer": "data"})


def words(client: RestClient, path: str, **query: object) -> list[tuple[str, int]]:
    return [(item["name"], item["uses"]) for item in client.get(path, **query).body["items"]]


def test_tags_come_most_used_first(words_in_use: None, ada_rest: RestClient) -> None:
    assert words(ada_rest, "tags/", limit=2) == [("db", 2), ("new", 1)]
    assert ada_rest.get("tags/").body["total"] == 13


def test_scopes_come_most_used_first(words_in_use: None, ada_rest: RestClient) -> None:
    assert words(ada_rest, "scopes/") == [("y", 2), ("x", 1)]


def test_layers_come_in_their_order(words_in_use: None, ada_rest: RestClient) -> None:
    assert [name for name, _ in words(ada_rest, "layers/")][:3] == ["presentation", "business", "data"]
    assert dict(words(ada_rest, "layers/"))["data"] == 1


@pytest.mark.parametrize("path", ["tags/", "scopes/", "categories/", "layers/"])
def test_words_come_in_pages(words_in_use: None, ada_rest: RestClient, path: str) -> None:
    expected = words(ada_rest, path, limit=200)
    found, cursor = [], ""
    while cursor is not None:
        page = ada_rest.get(path, limit=1, cursor=cursor).body
        found += [(item["name"], item["uses"]) for item in page["items"]]
        cursor = page["next"]
    assert found == expected


@pytest.mark.parametrize("path", ["tags/", "scopes/", "categories/", "layers/"])
def test_another_project_has_its_own_words(words_in_use: None, cy_rest: RestClient, path: str) -> None:
    assert {uses for _, uses in words(cy_rest, path)} <= {0}
    assert "new" not in dict(words(cy_rest, path))


def test_an_added_layer_can_be_used_at_once(ada_rest: RestClient, ben_rest: RestClient) -> None:
    created = ada_rest.post("layers/", {"name": " Planning "})
    assert (created.status, created.body) == (201, {"name": "Planning"})
    assert words(ada_rest, "layers/")[-1] == ("Planning", 0)
    ben_rest.post("decisions/", {"key": "k", "value": 1, "layer": "planning"})
    assert ben_rest.get("decisions/k/").body["layer"] == "Planning"


def test_an_added_layer_is_an_event(ada_rest: RestClient) -> None:
    ada_rest.post("layers/", {"name": "planning"})
    [entry] = ada_rest.get("activity/").body["items"]
    assert (entry["agent"], entry["verb"], entry["ref"]) == ("ada", "created", "layer:planning")


def test_a_layer_is_unique_whatever_its_case(ada_rest: RestClient, apollo: Project) -> None:
    reply = ada_rest.post("layers/", {"name": "DATA"})
    assert (reply.status, reply.body["error"]) == (409, "conflict")
    assert Layer.objects.in_project(apollo).count() == 5


@pytest.mark.parametrize(
    "body", [{}, {"name": " "}, {"name": 5}, {"name": "x" * 101}, {"name": "a\x00"}, {"layer": "x"}], ids=str
)
def test_an_invalid_layer_is_refused(ada_rest: RestClient, apollo: Project, body: dict[str, object]) -> None:
    reply = ada_rest.post("layers/", body)
    assert (reply.status, reply.body["error"]) == (400, "invalid")
    assert not Event.objects.in_project(apollo).exists()
