"""Who owes a message, over MCP, REST and in the admin."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Membership, Project
from messaging.messages.services import read_messages_of
from messaging.models import Delivery
from tests.hub import McpClient, RestClient
from tests.messaging.mail import known, send, texts
from tests.people import member, signed_in

LIST = "/admin/messaging/message/"


@pytest.fixture
def row_id(ada: Caller, ben: Caller) -> int:
    """A message that ben owes, that zoe, who came later, has read, and dan, who came later, has not."""
    known(ben)
    sent = send(ada, "Stop the deploy.", priority="critical", ack_within="2h")
    zoe = ada.speaking_as("zoe")
    known(zoe, ada.speaking_as("dan"))
    read_messages_of(caller=zoe, ids=[sent])
    return sent


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, username="vi")


def shown(client: Client, url: str) -> Any:
    response = client.get(url)
    assert response.status_code == 200
    return response


def test_mcp_and_rest_say_who_owes_it(ada_mcp: McpClient, ada_rest: RestClient, row_id: int) -> None:
    answer = ada_mcp.call("message", "status", id=row_id)
    assert answer["columns"] == ["agent", "read", "owes", "read_at"]
    assert [(row[0], row[2]) for row in answer["rows"]] == [("ben", "ack"), ("zoe", None)]
    items = ada_rest.get(f"messages/{row_id}/status/").body["items"]
    assert [(item["agent"], item["owes"]) for item in items] == [("ben", "ack"), ("zoe", None)]


def test_what_nobody_owes_or_has_read_is_said_of_each(
    ada: Caller, ada_mcp: McpClient, ada_rest: RestClient
) -> None:
    sent = send(ada, "By the way.", to=["ben", "cid"])
    answer = ada_mcp.call("message", "status", id=sent)
    assert answer["columns"] == ["agent", "read", "owes"]
    assert answer["rows"] == [["ben", False, None], ["cid", False, None]]
    by_name = ada_mcp.call("message", "status", id=sent, format="objects")["items"]
    assert by_name[0] == {"agent": "ben", "read": False, "owes": None}
    [item, _] = ada_rest.get(f"messages/{sent}/status/").body["items"]
    assert item == {"agent": "ben", "read": False, "owes": None, "read_at": None, "acked_at": None}


def test_the_admin_says_who_owes_it(client: Client, row_id: int) -> None:
    [message] = shown(client, LIST).context["cl"].result_list
    assert [delivery.name for delivery in message.owing] == ["ben"]
    response = shown(client, f"{LIST}{row_id}/")
    [bubble] = response.context["thread"].bubbles
    assert [(receipt.name, receipt.owes) for receipt in bubble.receipts] == [("ben", "ack"), ("zoe", None)]
    assert (bubble.recipients, bubble.read, bubble.acked) == (1, 0, 0)
    assert "owes an acknowledgement" in response.content.decode()


def test_the_admin_counts_only_what_is_owed(client: Client, ada: Caller, ben: Caller, row_id: int) -> None:
    read_messages_of(caller=ben, ids=[row_id])
    inventory = shown(client, "/admin/").context["inventory"]
    assert not any("unread" in each.text for each in inventory)
    assert not shown(client, f"{LIST}?waits=urgent").context["cl"].result_list
    assert len(shown(client, f"{LIST}?waits=ack").context["cl"].result_list) == 1


def test_a_look_of_a_person_reads_nothing_on_behalf_of_an_agent(
    apollo: Project, ada: Caller, ben: Caller
) -> None:
    known(ben)
    row_id = send(ada, "look", to=["ben"], priority="high", ack=True)
    user = User.objects.create_user("ben", is_staff=True)
    # A member from before the names of agents were refused.
    Membership.objects.bulk_create([Membership(project=apollo, user=user)])
    shown(signed_in(user), LIST)
    shown(signed_in(user), f"{LIST}{row_id}/")
    assert texts(ben) == ["look"]
    assert Delivery.unscoped.get().read_at is None
