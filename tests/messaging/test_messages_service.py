"""Sending messages: recipients, replies, invalid input and batches."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError, InvalidInput, NotFound
from ctxhub.core.models import Agent
from messaging.messages.queries import list_thread
from messaging.messages.services import send_message, send_message_batch
from messaging.models import Delivery, Message
from tests.messaging.mail import counted, events, inbox, known, send, texts

pytestmark = pytest.mark.usefixtures("index_is_kept")

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def eve(ada: Caller) -> Caller:
    return ada.speaking_as("eve")


def test_a_message_reaches_only_its_recipients(ada: Caller, ben: Caller, eve: Caller) -> None:
    known(ada, ben, eve)
    answer = send_message(caller=ada, text="hello", to=["ben"])
    assert answer == {"id": answer["id"], "thread": answer["id"], "to": ["ben"]}
    assert (texts(ben), texts(eve), texts(ada)) == (["hello"], [], [])


def test_a_message_without_recipients_reaches_everyone_but_its_sender(
    ada: Caller, ben: Caller, eve: Caller
) -> None:
    known(ada, ben, eve)
    nobody: tuple[list[str] | None, ...] = (None, [])
    for to in nobody:
        assert send_message(caller=ada, text="all", to=to)["to"] is None
    assert (texts(ben), texts(eve), texts(ada)) == (["all"] * 2, ["all"] * 2, [])


def test_a_later_agent_gets_messages_to_everyone(ada: Caller, ben: Caller) -> None:
    send(ada, "all")
    send(ada, "for somebody", to=["somebody"])
    assert texts(ben) == ["all"]
    assert texts(ada) == []


def test_an_unknown_recipient_is_reported_and_delivered_to_but_not_registered(
    ada: Caller, ben: Caller
) -> None:
    known(ben)
    answer = send_message(caller=ada, text="hello", to=["Ben", "zoe"])
    assert (answer["to"], answer["unknown"]) == (["ben", "zoe"], ["zoe"])
    assert not Agent.objects.in_project(ada.project).filter(folded="zoe").exists()
    assert texts(ada.speaking_as("ZOE")) == ["hello"]


def test_the_sender_among_others_gets_nothing(ada: Caller, ben: Caller) -> None:
    assert send_message(caller=ada, text="hello", to=["ada", "ben", "BEN"])["to"] == ["ben"]
    assert texts(ada) == []


def test_a_message_keeps_all_its_fields(ada: Caller, ben: Caller) -> None:
    payload = {"a": [1, 2.5, None, {"b": "é"}]}
    send(ada, " text\n", to=["ben"], type="WARNING", priority=4, payload=payload, ack=True)
    [row] = inbox(ben)
    assert (row["type"], row["priority"], row["text"]) == ("warning", "critical", " text\n")
    assert (row["from"], row["to"], row["ack"], row["payload"]) == ("ada", ["ben"], True, payload)
    assert row["at"].endswith("Z")


@pytest.mark.parametrize("payload", [False, 0, "", [], {}, "text", 1.5])
def test_any_json_is_a_payload(ada: Caller, ben: Caller, payload: Any) -> None:
    send(ada, payload=payload, to=["ben"])
    [row] = inbox(ben)
    assert (row["payload"], type(row["payload"])) == (payload, type(payload))


def test_each_message_is_counted_and_recorded_once(ada: Caller) -> None:
    first = send(ada, "x" * 100, to=["ben"], type="request", priority="high")
    second = send(ada, "all")
    data = {"to": ["ben"], "type": "request", "priority": "high", "note": "x" * 60}
    assert events(ada) == [
        ("sent", f"message:{first}", data),
        ("sent", f"message:{second}", {"type": "info", "priority": "medium", "note": "all"}),
    ]
    assert counted(ada) == 2


# -- Replies ---------------------------------------------------------------------------------------


def test_a_reply_goes_to_the_sender_and_joins_the_thread(ada: Caller, ben: Caller) -> None:
    first = send(ada, "question", to=["ben"])
    answer = send_message(caller=ben, text="answer", reply_to=first)
    assert (answer["thread"], answer["to"]) == (first, ["ada"])
    again = send_message(caller=ada, text="thanks", reply_to=answer["id"])
    assert (again["thread"], again["to"]) == (first, ["ben"])
    assert [row["text"] for row in list_thread(ada.project_id, first).objects()] == [
        "question",
        "answer",
        "thanks",
    ]


def test_a_reply_to_a_message_to_everyone_goes_to_its_sender(ada: Caller, ben: Caller) -> None:
    assert send_message(caller=ben, text="yes", reply_to=send(ada, "all"))["to"] == ["ada"]


def test_a_reply_to_an_own_message_goes_to_the_same_recipients(ada: Caller) -> None:
    assert send_message(caller=ada, text="and", reply_to=send(ada, to=["ben", "zoe"]))["to"] == ["ben", "zoe"]
    assert send_message(caller=ada, text="and", reply_to=send(ada))["to"] is None


def test_a_reply_with_recipients_goes_to_them(ada: Caller, ben: Caller, eve: Caller) -> None:
    first = send(ada, to=["ben"])
    assert send_message(caller=ben, text="x", reply_to=first, to=["eve"])["to"] == ["eve"]
    assert send_message(caller=ben, text="x", reply_to=first, to=[])["to"] is None
    assert Message.objects.in_project(ada.project).filter(reply_to=first, thread=first).count() == 2


def test_a_reply_to_an_unknown_message_is_refused_and_nothing_is_written(ada: Caller, cy: Caller) -> None:
    theirs = send(cy)
    for reply_to in (theirs, 2**62):
        with pytest.raises(NotFound, match=str(reply_to)):
            send(ada, reply_to=reply_to)
    assert counted(ada) == 0


# -- Invalid input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"text": " \n"}, "text must not be blank"),
        ({"text": "x" * 65_537}, "text has 65,537 bytes"),
        ({"text": "\x00"}, "NUL"),
        ({"text": TOKEN}, "credential"),
        ({"payload": {"token": TOKEN}}, "payload seems to hold a credential"),
        ({"payload": float("nan")}, "payload is not JSON"),
        ({"to": ["ada"]}, "nobody but you"),
        ({"to": ["Ada", "ADA"]}, "nobody but you"),
        ({"to": [" "]}, r"to\[0\] must not be blank"),
        ({"to": [f"a{n}" for n in range(51)]}, "51 entries"),
        ({"to": ["${AGENT}"]}, "did not fill in"),
        ({"to": [TOKEN]}, r"to\[0\] seems to be a credential"),
        ({"type": "question"}, "type: 'question' is not known"),
        ({"priority": "urgent"}, "priority: 'urgent' is not known"),
        ({"reply_to": 0}, "reply_to: 0 is not the id"),
        ({"reply_to": 2**63}, "is not the id"),
        ({"ack_within": "soon"}, "ack_within: 'soon' is not a length of time"),
        ({"ack_within": "0m"}, "not a length of time"),
        ({"ack_within": "31d"}, "at most 30 days|not a length"),
    ],
)
def test_bad_input_is_refused_with_the_reason(ada: Caller, arguments: dict[str, Any], error: str) -> None:
    with pytest.raises(InvalidInput, match=error):
        send_message(caller=ada, **{"text": "x", **arguments})
    assert not Message.objects.in_project(ada.project).exists()
    assert not Agent.objects.in_project(ada.project).exists()


def test_an_administrator_may_send_a_secret_and_events_do_not_repeat_it(ada: Caller, ben: Caller) -> None:
    from dataclasses import replace

    send(replace(ada, keeps_secrets=True), TOKEN, to=["ben"])
    assert texts(ben) == [TOKEN]
    assert TOKEN[:10] not in str(events(ada))


# -- Batches ---------------------------------------------------------------------------------------


def test_a_batch_sends_its_items_in_order(ada: Caller, ben: Caller) -> None:
    items = [{"text": f"m{n}", "to": ["ben"]} for n in range(49)]
    answer = send_message_batch(caller=ada, items=[*items, {"text": "all"}])
    assert (answer["done"], answer["failed"], len(answer["results"])) == (50, 0, 50)
    assert answer["results"][0] == {
        "id": answer["results"][0]["id"],
        "thread": answer["results"][0]["id"],
    } | {
        "to": ["ben"],
        "unknown": ["ben"],
    }
    assert texts(ben, limit=200) == ["all", *(f"m{n}" for n in reversed(range(49)))]
    assert (counted(ada), len(events(ada))) == (50, 50)


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"text": ""}, "invalid"),
        ({"text": "x", "to": ["ada"]}, "invalid"),
        ({"text": "x", "reply_to": 9**9}, "not_found"),
    ],
)
def test_an_atomic_batch_is_all_or_nothing(ada: Caller, wrong: dict[str, Any], code: str) -> None:
    with pytest.raises(CtxhubError) as caught:
        send_message_batch(caller=ada, items=[{"text": "right"}, wrong])
    assert (caught.value.code, caught.value.details["index"]) == (code, 1)
    assert counted(ada) == 0
    assert not Delivery.objects.in_project(ada.project).exists()


def test_a_batch_that_is_not_atomic_skips_invalid_items(ada: Caller, ben: Caller) -> None:
    first = send(ada, to=["ben"])
    items: list[dict[str, Any]] = [
        {"text": ""},
        {"text": "yes", "reply_to": first},
        {"text": "no", "reply_to": 9**9},
        {"text": "x"},
    ]
    answer = send_message_batch(caller=ben, items=items, atomic=False)
    assert (answer["done"], answer["failed"]) == (2, 2)
    assert [result.get("error") for result in answer["results"]] == ["invalid", None, "not_found", None]
    assert (answer["results"][1]["thread"], answer["results"][2]["index"]) == (first, 2)


def test_a_batch_has_at_most_50_items(ada: Caller) -> None:
    with pytest.raises(InvalidInput, match="51 entries"):
        send_message_batch(caller=ada, items=[{"text": "x"}] * 51)
