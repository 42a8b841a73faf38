"""Messages in the admin: who waits for what, conversations, inboxes, and replies by people."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from ctxhub.core.events.cleanup import cleanup
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, Project
from messaging.messages.requests import claim_request
from messaging.messages.services import acknowledge_messages
from messaging.models import Delivery, Message
from tests.messaging.mail import known, send, texts, verbs
from tests.people import member

pytestmark = pytest.mark.usefixtures("index_is_kept")

LIST = "/admin/messaging/message/"


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, username="vi")


def page(row_id: int) -> str:
    return f"{LIST}{row_id}/"


def shown(client: Client, url: str) -> str:
    response = client.get(url, follow=True)
    assert response.status_code == 200
    return response.content.decode()


def listed(client: Client, **query: Any) -> set[str]:
    response = client.get(LIST, query)
    assert response.status_code == 200
    return {message.beginning for message in response.context["cl"].result_list}


# -- Finding ---------------------------------------------------------------------------------------


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"to": "Ben"}, {"all", "ask", "late"}),
        ({"waits": "urgent"}, {"ask"}),
        ({"waits": "ack"}, {"late", "all"}),
        ({"waits": "late"}, {"late"}),
        ({"q": "ben ada"}, {"ask", "info", "late"}),
        ({"q": "ben -info"}, {"ask", "late"}),
    ],
)
def test_the_list_is_narrowed_to_what_waits_and_whom_it_is_to(
    client: Client, ada: Caller, ben: Caller, query: dict[str, Any], expected: set[str]
) -> None:
    known(ben)
    send(ada, "all", ack=True)
    send(ada, "ask", to=["ben"], type="request", priority="critical")
    send(ben, "info", to=["ada"])
    send(ada, "late", to=["ben"], ack_within="1m")
    with time_machine.travel(clock.now() + timedelta(minutes=2)):
        cleanup(ada.project_id)
    assert listed(client, **query) == expected


def test_the_list_counts_further_recipients(client: Client, ada: Caller) -> None:
    send(ada, "ask", to=["ben", *(f"z{n}" for n in range(6))])
    assert "and 3 more" in shown(client, LIST)


# -- Reading ---------------------------------------------------------------------------------------


def test_a_conversation_shows_messages_and_receipts(client: Client, ada: Caller, ben: Caller) -> None:
    first = send(ada, "<b>question</b>", to=["ben", "eve"], type="request", ack=True, payload={"n": 1})
    send(ben, "answer", reply_to=first)
    acknowledge_messages(caller=ben, ids=[first])
    claim_request(caller=ben, message_id=first)
    text = shown(client, page(first))
    for part in (
        "&lt;b&gt;question&lt;/b&gt;",
        "answer",
        "Read by 1 of 2, acknowledged by 1",
        "Claimed by <a ",
    ):
        assert part in text
    assert "has not acknowledged it" in text
    assert Delivery.unscoped.filter(read_at=None).count() == 2


def test_a_long_conversation_is_paged(client: Client, ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("messaging.messages.pages.MESSAGES_SHOWN", 3)
    first = send(ada, "m0")
    ids = [first, *(send(ada, f"m{n}", reply_to=first) for n in range(1, 5))]
    assert f"?after={ids[2]}" in shown(client, page(first))
    assert "m4" in shown(client, f"{page(first)}?after={ids[2]}")


def test_an_inbox_shows_unread_messages_and_does_not_mark_them(
    client: Client, ada: Caller, ben: Caller
) -> None:
    known(ada, ben)
    send(ada, "for ben", to=["ben"], priority="high", ack=True)
    ben_row = Agent.objects.in_project(ada.project).get(name="ben")
    url = f"{LIST}inbox/{ben_row.pk}/"
    for query in ("", "?show=all", "?cursor=x"):
        text = shown(client, url + query)
        assert "for ben" in text
        assert "needs acknowledgement" in text
    assert texts(ben) == ["for ben"]
    assert url in shown(client, "/admin/core/agent/")


def test_an_inbox_is_paged(client: Client, ada: Caller, ben: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("messaging.messages.pages.DELIVERIES_SHOWN", 2)
    known(ben)
    for n in range(3):
        send(ada, f"m{n}", to=["ben"])
    pk = Agent.objects.in_project(ada.project).get(name="ben").pk
    first = client.get(f"{LIST}inbox/{pk}/")
    assert [row[0].text for row in first.context["rows"]] == ["m2", "m1"]
    second = client.get(f"{LIST}inbox/{pk}/", {"cursor": first.context["next"]})
    assert [row[0].text for row in second.context["rows"]] == ["m0"]


# -- Writing ---------------------------------------------------------------------------------------


def test_a_person_answers_as_the_agent_of_their_name(client: Client, ada: Caller, ben: Caller) -> None:
    first = send(ada, "question", to=["ben"])
    last = send(ben, "answer", reply_to=first)
    response = client.post(page(first), {"text": "Stop, please.", "to": ""})
    message = Message.unscoped.latest("pk")
    assert (response.status_code, response["Location"]) == (302, page(message.pk))
    assert (message.sender.name, message.sender.kind, message.reply_to_id) == ("vi", Agent.Kind.HUMAN, last)
    assert (texts(ben), message.thread_or_own_id) == (["Stop, please.", "question"], first)


def test_a_reply_goes_to_the_given_recipients(client: Client, ada: Caller, ben: Caller) -> None:
    known(ben)
    first = send(ada, "all")
    client.post(page(first), {"text": "hello", "to": "ada, zoe"})
    assert list(Delivery.unscoped.filter(message__text="hello").values_list("name", flat=True)) == [
        "ada",
        "zoe",
    ]


@pytest.mark.parametrize(
    ("fields", "error"), [({"text": " "}, "must not be blank"), ({"text": "x", "to": "vi"}, "nobody but you")]
)
def test_an_error_of_a_reply_is_shown_on_the_form(
    client: Client, ada: Caller, fields: dict[str, str], error: str
) -> None:
    first = send(ada, "all")
    response = client.post(page(first), {"to": "", **fields})
    assert error in response.content.decode()
    assert Message.unscoped.count() == 1


def test_the_form_writes_to_everyone(client: Client, ada: Caller, ben: Caller) -> None:
    known(ada, ben)
    assert "everyone in the project" in shown(client, f"{LIST}add/?project=apollo")
    client.post(f"{LIST}add/", {"text": "Deploy at noon.", "to": "", "type": "info", "priority": "high"})
    assert texts(ben) == ["Deploy at noon."]


def test_a_message_to_a_person_is_read_and_acknowledged_on_its_page(client: Client, ada: Caller) -> None:
    row_id = send(ada, "for vi", to=["vi", "ben"], ack=True)
    assert "Acknowledge</button>" in shown(client, page(row_id)).replace("\n", "").replace("  ", "")
    receipts = Delivery.unscoped.filter(read_at__isnull=False).values_list("name", "acked_at")
    assert list(receipts) == [("vi", None)]
    response = client.post(page(row_id), {"acknowledge": row_id})
    assert (response.status_code, response["Location"]) == (302, page(row_id))
    assert Delivery.unscoped.get(acked_at__isnull=False).name == "vi"
    assert verbs(ada) == ["sent", "acked"]
    others = send(ada, "for ben", to=["ben"], ack=True)
    client.post(page(others), {"acknowledge": others})
    assert verbs(ada) == ["sent", "acked", "sent"]


# -- Permissions -----------------------------------------------------------------------------------


def test_another_projects_inbox_does_not_exist(client: Client, cy: Caller, hermes: Project) -> None:
    send(cy, "theirs")
    theirs = Agent.objects.in_project(hermes).get(name="cy")
    assert "theirs" not in shown(client, f"{LIST}inbox/{theirs.pk}/")


# -- The overview ----------------------------------------------------------------------------------


def test_the_overview_counts_urgent_open_and_overdue_messages(
    client: Client, ada: Caller, ben: Caller
) -> None:
    send(ada, "look here", to=["ben", "eve"], type="request", priority="critical", ack_within="1m")
    with time_machine.travel(clock.now() + timedelta(minutes=2)):
        cleanup(ada.project_id)
        response = client.get("/admin/")
    inventory = {each.text: each.url for each in response.context["inventory"]}
    for text, query in (
        ("1 unread urgent message", "waits=urgent"),
        ("1 open request", "state=open"),
        ("1 overdue acknowledgement", "waits=late"),
    ):
        assert inventory[text] == f"{LIST}?{query}"
        assert "look here" in shown(client, inventory[text])
