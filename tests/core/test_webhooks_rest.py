"""Webhooks over REST: for administrators, added and shown once, changed, tested, their deliveries."""

from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit import clock
from ctxhub.core.models import Project, StoredAnswer, Webhook, WebhookDelivery
from ctxhub.core.webhooks.models import DeliveryStatus
from tests.hub import LiveHub, RestClient
from tests.receiver import saved

URL = "https://hooks.example.com/services/abcdefghijklmnopqrstuvwxyz"
WEBHOOKS = "webhooks/"


def add(client: RestClient, **rest: Any) -> Any:
    reply = client.post(WEBHOOKS, {"url": URL, **rest})
    assert reply.status == 201, reply
    return reply.body


def delivery(project: Project, webhook_id: int, **rest: Any) -> WebhookDelivery:
    row = WebhookDelivery(project=project, webhook_id=webhook_id, event_id=1, created_at=clock.now())
    row.status = DeliveryStatus.DEAD
    return saved(row, **rest)


def test_a_webhook_is_added_and_its_secret_shown_once(ada_rest: RestClient) -> None:
    made = add(ada_rest, kind="slack", nouns=["decision"], verbs=["set"], priority=["high"])
    assert {**made, "secret": "?"} == {
        "id": made["id"],
        "ref": f"webhook:{made['id']}",
        "result": "created",
        "secret": "?",
    }
    assert len(made["secret"]) > 30
    one = ada_rest.get(f"{WEBHOOKS}{made['id']}/").body
    assert one["url"] == "https://hooks.example.com/…wxyz"
    assert (one["kind"], one["nouns"], one["verbs"]) == ("slack", ["decision"], ["created", "updated"])
    assert (one["priority"], one["active"], one["off_because"]) == (["high"], True, None)
    listed = ada_rest.get(WEBHOOKS).body
    assert listed["items"] == [one]
    for shown in (one, listed, ada_rest.get("activity/").body):
        assert made["secret"] not in str(shown)
        assert "abcdefgh" not in str(shown)


def test_the_whole_webhook_comes_where_it_is_preferred(ada_rest: RestClient) -> None:
    prefer = {"Prefer": "return=representation"}
    made = ada_rest.post(WEBHOOKS, {"url": URL}, prefer).body
    assert made["webhook"] == ada_rest.get(f"{WEBHOOKS}{made['id']}/").body
    changed = ada_rest.patch(f"{WEBHOOKS}{made['id']}/", {"active": False}, prefer).body
    assert changed["changed"] == ["active"]
    assert changed["webhook"]["active"] is False


def test_a_repeated_key_adds_one_and_shows_no_secret_again(ada_rest: RestClient) -> None:
    key = {"Idempotency-Key": "k1"}
    first = ada_rest.post(WEBHOOKS, {"url": URL}, key).body
    again = ada_rest.post(WEBHOOKS, {"url": URL}, key)
    assert again.status == 201
    assert again.body == {name: value for name, value in first.items() if name != "secret"}
    assert Webhook.unscoped.count() == 1
    stored = StoredAnswer.unscoped.get()
    assert first["secret"] not in str(stored.answer)
    assert URL not in str(stored.answer) + stored.digest


def test_each_field_is_changed_alone(ada_rest: RestClient) -> None:
    made = add(ada_rest)
    path = f"{WEBHOOKS}{made['id']}/"
    changes: list[tuple[str, Any, Any]] = [
        ("url", "https://example.com/other", "https://example.com/…"),
        ("kind", "discord", "discord"),
        ("nouns", ["message"], ["message"]),
        ("verbs", ["sent", "escalated"], ["sent", "escalated"]),
        ("priority", ["critical"], ["critical"]),
        ("active", False, False),
    ]
    for name, value, shown in changes:
        before = ada_rest.get(path).body
        assert ada_rest.patch(path, {name: value}).body["changed"] == [name]
        assert ada_rest.patch(path, {name: value}).body["changed"] == []
        assert ada_rest.get(path).body == {**before, name: shown, "cursor": ada_rest.get(path).body["cursor"]}
    assert ada_rest.patch(path, {}).body["changed"] == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"url": ""},
        {"url": None},
        {"url": 5},
        {"url": ["https://example.com"]},
        {"url": "http://127.0.0.1/"},
        {"url": "http://2130706433/"},
        {"url": "https://user@example.com/"},
        {"url": "https://example.com/\0"},
        {"url": URL, "kind": "mail"},
        {"url": URL, "kind": 7},
        {"url": URL, "kind": None},
        {"url": URL, "nouns": ["decisoin"]},
        {"url": URL, "nouns": [5.5]},
        {"url": URL, "verbs": ["exploded"]},
        {"url": URL, "verbs": {"set": True}},
        {"url": URL, "priority": ["huge"]},
        {"url": URL, "priority": 3},
        {"url": URL, "active": "yes"},
        {"url": URL, "active": None},
        {"url": URL, "secret": "mine"},
        {"url": URL, "cursor": "e0"},
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(ada_rest: RestClient, body: dict[str, Any]) -> None:
    reply = ada_rest.post(WEBHOOKS, body)
    assert (reply.status, reply.body["error"]) == (400, "invalid")
    made = add(ada_rest)
    before = ada_rest.get(f"{WEBHOOKS}{made['id']}/").body
    if body and body != {"url": URL}:
        assert ada_rest.patch(f"{WEBHOOKS}{made['id']}/", body).status == 400
    assert ada_rest.get(f"{WEBHOOKS}{made['id']}/").body == before
    assert Webhook.unscoped.count() == 1


def test_a_mistyped_word_is_suggested(ada_rest: RestClient) -> None:
    reply = ada_rest.post(WEBHOOKS, {"url": URL, "nouns": ["decisoin"]})
    assert reply.body["did_you_mean"] == "decision"
    assert URL not in str(reply.body)


@pytest.mark.parametrize("scopes", [["read"], ["write"], ["read", "write"]])
def test_only_administrators_see_webhooks(
    hub: LiveHub, ada_rest: RestClient, apollo: Project, scopes: list[str]
) -> None:
    made = add(ada_rest)
    client = hub.rest(create_token(project=apollo, agent="ben", scopes=scopes).secret)
    path = f"{WEBHOOKS}{made['id']}/"
    replies = [
        *(client.get(each) for each in (WEBHOOKS, path, f"{path}deliveries/")),
        client.post(WEBHOOKS, {"url": URL}),
        client.patch(path, {"active": False}),
        client.post(f"{path}test/"),
        client.post(f"{path}deliveries/", {"ids": [1]}),
        client.delete(path),
    ]
    assert {reply.status for reply in replies} == {403}
    assert Webhook.unscoped.get().is_active


def test_another_projects_webhook_is_not_found(
    ada_rest: RestClient, cy_rest: RestClient, apollo: Project
) -> None:
    made = add(ada_rest)
    delivery(apollo, made["id"])
    assert cy_rest.get(WEBHOOKS).body["items"] == []
    for webhook_id in (made["id"], 999_999):
        path = f"{WEBHOOKS}{webhook_id}/"
        replies = [
            *(cy_rest.get(each) for each in (path, f"{path}deliveries/")),
            cy_rest.patch(path, {"active": False}),
            cy_rest.post(f"{path}test/"),
            cy_rest.post(f"{path}deliveries/", {"ids": [1]}),
            cy_rest.delete(path),
        ]
        bodies = [str(reply.body).replace(str(webhook_id), "N") for reply in replies]
        assert {reply.status for reply in replies} == {404}
        assert set(bodies) == {"{'error': 'not_found', 'message': 'There is no webhook N.'}"}


def test_a_test_is_queued_and_its_delivery_shown(ada_rest: RestClient) -> None:
    made = add(ada_rest)
    path = f"{WEBHOOKS}{made['id']}/"
    tested = ada_rest.post(f"{path}test/")
    assert tested.status == 202
    assert (tested.body["delivery"]["status"], tested.body["delivery"]["event"]) == ("waiting", None)
    assert ada_rest.get(f"{path}deliveries/").body["items"] == [tested.body["delivery"]]


def test_deliveries_come_newest_first_in_pages_and_by_status(ada_rest: RestClient, apollo: Project) -> None:
    path = f"{WEBHOOKS}{add(ada_rest)['id']}/deliveries/"
    webhook_id = Webhook.unscoped.get().pk
    for number in range(5):
        status = DeliveryStatus.DEAD if number % 2 else DeliveryStatus.DELIVERED
        delivery(apollo, webhook_id, event_id=number, status=status)
    first = ada_rest.get(path, limit=3).body
    rest = ada_rest.get(path, limit=3, cursor=first["next"]).body
    assert [item["event"] for item in [*first["items"], *rest["items"]]] == ["e4", "e3", "e2", "e1", "e0"]
    assert (first["total"], rest["next"]) == (5, None)
    assert [item["event"] for item in ada_rest.get(path, status="dead").body["items"]] == ["e3", "e1"]
    assert ada_rest.get(path, status="lost").status == 400
    assert ada_rest.get(path, ordering="created").body["items"][0]["event"] == "e0"
    assert ada_rest.get(path, limit=0).status == 400
    assert ada_rest.get(path, since="1h").status == 400


def test_dead_ones_are_sent_again(ada_rest: RestClient, apollo: Project) -> None:
    webhook_id = add(ada_rest)["id"]
    path = f"{WEBHOOKS}{webhook_id}/deliveries/"
    dead = delivery(apollo, webhook_id)
    done = delivery(apollo, webhook_id, event_id=2, status=DeliveryStatus.DELIVERED)
    reply = ada_rest.post(path, {"ids": [dead.pk, done.pk]})
    assert (reply.status, reply.body["sent"]) == (202, [dead.pk])
    [again] = ada_rest.get(path, status="waiting").body["items"]
    assert (again["id"], again["redelivered"], again["tries"]) == (dead.pk, True, 0)
    wrong: list[Any] = [{}, {"ids": []}, {"ids": ["x"]}, {"ids": [dead.pk] * 51}, {"ids": None}]
    for body in wrong:
        assert ada_rest.post(path, body).status == 400
    assert ada_rest.post(path, {"ids": [999_999]}).status == 404


def test_a_webhook_is_deleted(ada_rest: RestClient) -> None:
    made = add(ada_rest)
    assert ada_rest.delete(f"{WEBHOOKS}{made['id']}/").status == 204
    assert ada_rest.get(f"{WEBHOOKS}{made['id']}/").status == 404
    assert ada_rest.delete(f"{WEBHOOKS}{made['id']}/").status == 404


def test_a_repeated_key_deletes_one(ada_rest: RestClient) -> None:
    path, key = f"{WEBHOOKS}{add(ada_rest)['id']}/", {"Idempotency-Key": "k1"}
    assert [ada_rest.delete(path, key).status for _ in range(2)] == [204, 204]
    assert not Webhook.unscoped.exists()


def test_webhooks_are_filtered_by_kind_and_ordered(ada_rest: RestClient) -> None:
    ids = [add(ada_rest, kind=kind)["id"] for kind in ("json", "slack", "json")]
    assert [item["id"] for item in ada_rest.get(WEBHOOKS).body["items"]] == ids[::-1]
    assert [item["id"] for item in ada_rest.get(WEBHOOKS, kind="slack").body["items"]] == [ids[1]]
    assert [item["id"] for item in ada_rest.get(WEBHOOKS, ordering="created").body["items"]] == ids
    assert ada_rest.get(WEBHOOKS, kind="mail").status == 400
