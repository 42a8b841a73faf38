"""Messages over REST."""

from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from tests.hub import LiveHub, Reply, RestClient
from tests.messaging.mail import known, send


def sent(client: RestClient, text: str = "hello", **rest: Any) -> int:
    reply = client.post("messages/", {"text": text, **rest})
    assert reply.status == 201, reply
    row_id: int = reply.body["id"]
    return row_id


def inbox(client: RestClient, **query: Any) -> list[str]:
    return [item["text"] for item in client.get("messages/", **query).body["items"]]


def is_error(reply: Reply, status: int, code: str) -> bool:
    return (reply.status, reply.body["error"]) == (status, code)


def test_one_agent_sends_a_request_and_another_finishes_it(
    ada_rest: RestClient, ben_rest: RestClient
) -> None:
    fields = {"to": ["ben"], "type": "request", "priority": "high", "ack": True, "payload": {"n": 1}}
    first = sent(ada_rest, "Please look.", **fields)
    [item] = ben_rest.get("messages/").body["items"]
    assert {name: item[name] for name in fields} == fields
    assert (item["id"], item["from"], item["thread"]) == (first, "ada", first)
    assert ben_rest.post(f"messages/{first}/ack/").body["acked"] == 1
    assert ben_rest.post(f"messages/{first}/claim/", {"minutes": 5}).body["claimed"]["by"] == "ben"
    assert ben_rest.post("messages/", {"text": "Done.", "reply_to": first}).body["to"] == ["ada"]
    done = ben_rest.post(f"messages/{first}/done/", {"result_refs": [f"message:{first}"]})
    assert (done.status, done.body["state"]) == (200, "done")
    thread = ada_rest.get(f"threads/{first}/").body["items"]
    assert [item["text"] for item in thread[:2]] == ["Please look.", "Done."]
    assert thread[2]["text"].startswith(f"Your request message:{first} is done: Please look.")
    [receipt] = ada_rest.get(f"messages/{first}/status/").body["items"]
    assert receipt["agent"] == "ben"
    assert receipt["acked_at"]
    assert ada_rest.post("messages/read/", {"all": True}).body == {"marked": 2}


def test_any_agent_of_the_project_reads_a_complete_message(
    ada_rest: RestClient, ben_rest: RestClient
) -> None:
    row_id = sent(ada_rest, "x" * 500, to=["eve"], ack_within="2h")
    whole = ben_rest.get(f"messages/{row_id}/").body
    assert (whole["text"], whole["to"], whole["ack"]) == ("x" * 500, ["eve"], True)
    assert whole["ack_due"] > whole["at"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, {"a", "b"}),
        ({"unread": "false"}, {"a", "b", "read"}),
        ({"state": "claimed"}, set()),
        ({"since": "1h"}, {"a", "b"}),
        ({"limit": 1}, {"a"}),
        ({"wait_seconds": 0}, {"a", "b"}),
    ],
)
def test_each_parameter_of_the_inbox_narrows_it(
    ada_rest: RestClient, ben_rest: RestClient, query: dict[str, Any], expected: set[str]
) -> None:
    sent(ada_rest, "a", to=["ben"], priority="high")
    sent(ada_rest, "b", to=["ben"], type="request")
    assert ben_rest.post(f"messages/{sent(ada_rest, 'read', to=['ben'])}/read/").body["marked"] == 1
    assert set(inbox(ben_rest, **query)) == expected


def test_lists_are_paged_by_cursor(ada_rest: RestClient, ben_rest: RestClient) -> None:
    first = sent(ada_rest, "m0", to=["ben"])
    for n in range(1, 5):
        sent(ada_rest, f"m{n}", to=["ben"], reply_to=first)
    for path, order in (("messages/", "43210"), (f"threads/{first}/", "01234")):
        found: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = ben_rest.get(path, limit=2, **cursor)
            assert page.body["count"] <= 2
            found += [item["text"] for item in page.body["items"]]
            if not page.body["next"]:
                break
            assert 'rel="next"' in page.headers["link"]
            cursor = {"cursor": page.body["next"]}
        assert found == [f"m{n}" for n in order]


def test_a_request_is_claimed_by_one_agent(
    ada_rest: RestClient, ben_rest: RestClient, hub: LiveHub, apollo: Project
) -> None:
    eve_rest = hub.rest(create_token(project=apollo, agent="eve").secret)
    row_id = sent(ada_rest, type="request")
    assert ben_rest.post("messages/claim/", {"next": True}).body["claimed"]["id"] == row_id
    assert eve_rest.post("messages/claim/", {"next": True}).body == {"claimed": None}
    refused = eve_rest.post(f"messages/{row_id}/claim/")
    assert is_error(refused, 409, "conflict")
    assert refused.body["current"]["by"] == "ben"
    assert is_error(eve_rest.post(f"messages/{row_id}/done/"), 409, "conflict")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("messages/read/", {}),
        ("messages/read/", {"ids": []}),
        ("messages/read/", {"ids": [1], "all": True}),
        ("messages/claim/", {}),
        ("messages/claim/", {"next": False}),
        ("messages/claim/", {"next": True, "minutes": 0}),
        ("messages/1/done/", {"result_refs": ["nothing"]}),
        ("messages/1/ack/", {"ids": [1]}),
    ],
)
def test_other_wrong_bodies_are_refused(ada_rest: RestClient, path: str, body: Any) -> None:
    assert is_error(ada_rest.post(path, body), 400, "invalid")


def test_a_reader_marks_and_claims_nothing(hub: LiveHub, apollo: Project, ada_rest: RestClient) -> None:
    reader = hub.rest(create_token(project=apollo, name="reader", scopes=["read"]).secret)
    row_id = sent(ada_rest, "all")
    for path in ("messages/read/", "messages/claim/", f"messages/{row_id}/ack/"):
        assert is_error(reader.post(path, {"text": "x"}), 403, "not_allowed")


def test_each_agent_of_a_token_has_its_own_inbox(hub: LiveHub, apollo: Project) -> None:
    crew = hub.rest(create_token(project=apollo, name="crew").secret)
    sent(crew, "for two", to=["two"], agent="one")
    assert (inbox(crew, agent="two"), inbox(crew, agent="one")) == (["for two"], [])
    assert crew.get("updates/", agent="two").body["messages"] == 1
    assert crew.get("views/unread_messages_by_priority/").body["items"] == [
        {"agent": "two", "priority": "medium", "count": 1}
    ]


def test_a_single_name_need_not_be_a_list(ada_rest: RestClient, ben_rest: RestClient) -> None:
    assert ada_rest.post("messages/", {"text": "Alone.", "to": "ben"}).body["to"] == ["ben"]
    batch = {"items": [{"text": "In a batch.", "to": "ben"}]}
    assert ada_rest.post("messages/batch/", batch).body["results"][0]["to"] == ["ben"]
    assert len(ben_rest.get("messages/").body["items"]) == 2


def test_each_act_on_a_message_answers_its_names(ada: Caller, ben: Caller, ben_rest: RestClient) -> None:
    known(ben)
    row_id = send(ada, "Look.", to=["ben"], type="request", ack=True)
    names = {"id": row_id, "ref": f"message:{row_id}"}
    for act in ("read", "ack", "done"):
        body = ben_rest.post(f"messages/{row_id}/{act}/", {}).body
        assert {name: body.get(name) for name in names} == names, act
    assert ben_rest.post("messages/read/", {"all": True}).body == {"marked": 0}
