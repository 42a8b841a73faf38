"""Messages in the admin: filters, conversations, inboxes, and replies by people."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxhub.console import refs
from ctxhub.core.events.cleanup import cleanup
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, Project
from messaging.messages.requests import claim_request
from messaging.messages.services import acknowledge_messages
from messaging.models import Delivery, Message
from tests.messaging.mail import known, send, texts, verbs
from tests.people import ADMIN, VIEWER, member

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
        ({}, {"all", "ask", "info", "late"}),
        ({"from": "BEN"}, {"info"}),
        ({"to": "Ben"}, {"all", "ask", "late"}),
        ({"to": "nobody"}, set()),
        ({"type__exact": 3}, {"ask"}),
        ({"priority__exact": 4}, {"ask"}),
        ({"state": "open"}, {"ask"}),
        ({"state": "claimed"}, set()),
        ({"waits": "urgent"}, {"ask"}),
        ({"waits": "ack"}, {"late", "all"}),
        ({"waits": "late"}, {"late"}),
        ({"q": "inf"}, {"info"}),
        ({"q": "ben ada"}, {"ask", "info", "late"}),
        ({"q": "ben -info"}, {"ask", "late"}),
        ({"q": "nfo"}, set()),
        ({"project": "apollo"}, {"all", "ask", "info", "late"}),
    ],
)
def test_the_list_is_narrowed_by_each_filter(
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


def test_a_ref_leads_to_its_message(client: Client, ada: Caller) -> None:
    row_id = send(ada, "one")
    send(ada, "two")
    assert listed(client, q=f"message:{row_id}") == {"one"}
    assert refs.page_of(ada.project_id, f"message:{row_id}") == page(row_id)
    for ref in ("message:x", f"message:{9**9}", "message:" + "9" * 30):
        assert refs.page_of(ada.project_id, ref) is None


def test_the_list_shows_sender_recipients_and_state(client: Client, ada: Caller, ben: Caller) -> None:
    send(ada, "ask", to=["ben", *(f"z{n}" for n in range(6))], type="request", ack=True)
    text = shown(client, LIST)
    for part in ("ask", "ada", "ben", "and 3 more", "request", "open", "awaited"):
        assert part in text


def test_the_list_executes_as_many_queries_for_many_messages_as_for_few(client: Client, ada: Caller) -> None:
    query_counts = []
    for count in (3, 30):
        for n in range(count):
            send(ada, f"m{n}", to=["ben", f"a{n}"], ack=True)
        with CaptureQueriesContext(connection) as captured:
            client.get(LIST)
        query_counts.append(len(captured))
    assert query_counts[0] == query_counts[1]


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


def test_a_conversation_executes_as_many_queries_for_many_messages_as_for_few(
    client: Client, ada: Caller, ben: Caller
) -> None:
    first = send(ada, "first", to=["ben"])
    query_counts = []
    for count in (2, 20):
        for n in range(count):
            send(ben, f"m{n}", reply_to=first, to=["ada", f"a{n}"])
        with CaptureQueriesContext(connection) as captured:
            client.get(page(first))
        query_counts.append(len(captured))
    assert query_counts[0] == query_counts[1]


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


def test_a_person_writes_a_message(client: Client, apollo: Project, ada: Caller, ben: Caller) -> None:
    known(ada, ben)
    fields = {
        "text": "Deploy at noon.",
        "to": "",
        "type": "warning",
        "priority": "high",
        "ack": "on",
        "ack_within": "2h",
    }
    assert "everyone in the project" in shown(client, f"{LIST}add/?project=apollo")
    response = client.post(f"{LIST}add/?project=apollo", fields)
    message = Message.unscoped.get()
    assert response["Location"] == page(message.pk)
    assert (message.get_type_display(), message.get_priority_display(), message.ack) == (
        "warning",
        "high",
        True,
    )
    assert message.ack_due_at
    assert texts(ben) == ["Deploy at noon."]
    assert verbs(ada) == ["sent"]


def test_an_invalid_message_is_shown_again_in_the_form(client: Client, apollo: Project) -> None:
    fields = {"text": "x", "to": "", "type": "info", "priority": "low", "ack_within": "soon"}
    response = client.post(f"{LIST}add/?project=apollo", fields)
    assert "is not a length of time" in response.content.decode()
    assert not Message.unscoped.exists()


def test_a_sent_message_cannot_be_changed(client: Client, ada: Caller) -> None:
    row_id = send(ada, "said")
    for response in (
        client.get(f"{page(row_id)}change/"),
        client.post(f"{page(row_id)}change/", {"text": "x"}),
    ):
        assert (response.status_code, response["Location"]) == (302, page(row_id))
    assert Message.unscoped.get().text == "said"


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


def test_a_viewer_reads_and_does_not_write(apollo: Project, ada: Caller) -> None:
    viewer = member(apollo, VIEWER, "wil")
    row_id = send(ada, "all")
    assert "<textarea" not in shown(viewer, page(row_id))
    assert viewer.post(page(row_id), {"text": "x"}).status_code == 200
    assert viewer.get(f"{LIST}add/").status_code == 403
    assert Message.unscoped.count() == 1


@pytest.mark.every_engine
def test_an_administrator_deletes_a_message_and_an_event_records_it(
    apollo: Project, client: Client, ada: Caller
) -> None:
    row_id = send(ada, "leaked", to=["ben"])
    assert client.post(f"{page(row_id)}delete/", {"post": "yes"}).status_code == 403
    boss = member(apollo, ADMIN, "boss")
    assert boss.post(f"{page(row_id)}delete/", {"post": "yes"}).status_code == 302
    assert not Delivery.unscoped.exists()
    assert verbs(ada) == ["sent", "deleted"]


def test_another_projects_messages_do_not_exist(client: Client, cy: Caller, hermes: Project) -> None:
    row_id = send(cy, "theirs")
    theirs = Agent.objects.in_project(hermes).get(name="cy")
    assert listed(client) == set()
    for url in (page(row_id), f"{LIST}inbox/{theirs.pk}/", f"{page(row_id)}change/"):
        assert "theirs" not in shown(client, url)
    client.post(page(row_id), {"text": "x", "to": ""})
    assert Message.unscoped.count() == 1


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
    assert "look here" in response.content.decode()
