"""Batches of decisions over REST."""

import pytest

from ctxhub.core.models import Event, Project
from tests.hub import RestClient

pytestmark = pytest.mark.one_engine


def test_a_batch_sets_all_items_in_order(ada_rest: RestClient) -> None:
    items = [{"key": f"k{n}", "value": n, "tags": ["api"]} for n in range(50)]
    reply = ada_rest.post("decisions/batch/", {"items": items})
    assert (reply.status, reply.body["done"], reply.body["failed"]) == (200, 50, 0)
    assert [result["key"] for result in reply.body["results"]] == [item["key"] for item in items]
    assert ada_rest.get("decisions/k49/").body["tags"] == ["api"]


@pytest.mark.parametrize(
    "bad",
    [
        {"key": "b"},
        {"key": "b", "value": None},
        {"key": "b", "value": 1, "labels": "api"},
        {"key": "b", "value": 1, "layer": "nowhere"},
        {"key": "b", "value": 1, "expected_version": "9"},
        {"key": "b", "value": 1, "agent": "zoe"},
        "b",
        None,
    ],
    ids=str,
)
def test_one_bad_item_stops_an_atomic_batch(ada_rest: RestClient, apollo: Project, bad: object) -> None:
    reply = ada_rest.post("decisions/batch/", {"items": [{"key": "a", "value": 1}, bad]})
    assert (reply.status in (400, 409), reply.body["index"]) == (True, 1)
    assert not Event.objects.in_project(apollo).exists()


def test_a_batch_that_is_not_atomic_writes_the_valid_items(ada_rest: RestClient) -> None:
    items = [
        {"key": "a", "value": 1},
        {"key": "b"},
        {"key": "c", "value": 1, "layer": "x"},
        {"key": "d", "value": 2},
    ]
    body = ada_rest.post("decisions/batch/", {"items": items, "atomic": False}).body
    assert (body["done"], body["failed"]) == (2, 2)
    assert [result.get("error") for result in body["results"]] == [None, "invalid", "invalid", None]
    assert body["results"][1]["missing"] == ["value"]
    assert ada_rest.get("decisions/").body["total"] == 2


@pytest.mark.parametrize(
    "body",
    [
        {"items": {"key": "a", "tags": 1}},
        {"items": "a"},
        {"items": None},
        {"items": [{"key": "a", "value": 1}] * 51},
        {"items": [{"key": "a", "value": 1}], "atomic": "yes"},
        {"items": [{"key": "a", "value": 1}], "atomic": 1},
        {"items": [{"key": "a", "value": 1}], "force": True},
        {"decisions": [{"key": "a", "value": 1}]},
    ],
    ids=lambda body: str(body)[:40],
)
def test_a_bad_batch_is_invalid(ada_rest: RestClient, apollo: Project, body: dict[str, object]) -> None:
    reply = ada_rest.post("decisions/batch/", body)
    assert (reply.status, reply.body["error"]) == (400, "invalid")
    assert not Event.objects.in_project(apollo).exists()


def test_an_empty_batch_does_nothing(ada_rest: RestClient) -> None:
    assert ada_rest.post("decisions/batch/", {"items": []}).body == {"done": 0, "failed": 0, "results": []}


def test_a_batch_sent_twice_is_written_once(ada_rest: RestClient, apollo: Project) -> None:
    body = {"items": [{"key": "a", "value": 1}]}
    first = ada_rest.post("decisions/batch/", body, {"Idempotency-Key": "b1"}).body
    assert ada_rest.post("decisions/batch/", body, {"Idempotency-Key": "b1"}).body == first
    body["items"][0]["value"] = 2
    assert ada_rest.post("decisions/batch/", body, {"Idempotency-Key": "b1"}).status == 409
    assert Event.objects.in_project(apollo).count() == 1
