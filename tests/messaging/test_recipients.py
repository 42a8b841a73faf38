"""Whom `to` means: several agents in one text, `@ada`, everyone; over MCP, REST and in the admin."""

from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.models import Project
from memory.decisions.services import set_decision
from messaging.messages.services import send_message, send_message_batch
from messaging.models import Delivery, Message
from tests.hub import LiveHub, McpClient, RestClient
from tests.people import member

TWO = [
    "ada, ben",
    "ada,ben",
    "ada; ben",
    "ada\nben",
    "- ada\n- ben",
    "@ada @ben".replace(" ", ", "),
    "['ada', 'ben']",
    '["ada","ben"]',
    '"ada", "ben"',
    ["ada, ben"],
    ["@ada", "ben"],
    ['["ada", "ben"]'],
    [" Ada", "BEN "],
]
EVERYONE = [
    "all",
    "everyone",
    "Everybody",
    "*",
    "@all",
    "@everyone",
    "@here",
    "@channel",
    ["ada", "all"],
    "ada, all",
]


@pytest.fixture(autouse=True)
def _known(ada: Caller, ben: Caller) -> None:
    for caller in (ada, ben):
        set_decision(caller=caller, key=f"by/{caller.agent}", value="x")


@pytest.fixture
def eve(apollo: Project) -> Caller:
    return Caller(project=apollo, agent="eve")


@pytest.fixture
def eve_mcp(hub: LiveHub, apollo: Project) -> McpClient:
    return hub.mcp(create_token(project=apollo, agent="eve").secret)


@pytest.fixture
def eve_rest(hub: LiveHub, apollo: Project) -> RestClient:
    return hub.rest(create_token(project=apollo, agent="eve").secret)


@pytest.mark.parametrize("to", TWO, ids=str)
def test_two_receivers_over_mcp(eve_mcp: McpClient, ada_mcp: McpClient, ben_mcp: McpClient, to: Any) -> None:
    sent = eve_mcp.call("message", "send", text="Deploy at noon.", to=to)
    assert (sent["to"], "unknown" in sent) == (["ada", "ben"], False)
    for client in (ada_mcp, ben_mcp):
        assert client.call("message", "inbox")["count"] == 1


@pytest.mark.parametrize("to", TWO, ids=str)
def test_two_receivers_over_rest(eve_rest: RestClient, to: Any) -> None:
    assert eve_rest.post("messages/", {"text": "x", "to": to}).body["to"] == ["ada", "ben"]
    batch = eve_rest.post("messages/batch/", {"items": [{"text": "x", "to": to}]}).body
    assert batch["results"][0]["to"] == ["ada", "ben"]


@pytest.mark.parametrize("to", EVERYONE, ids=str)
def test_everyone_is_no_agent(eve_mcp: McpClient, eve_rest: RestClient, to: Any) -> None:
    for answer in (
        eve_mcp.call("message", "send", text="x", to=to),
        eve_rest.post("messages/", {"text": "x", "to": to}).body,
        eve_mcp.call("message", "send_batch", items=[{"text": "x", "to": to}]),
    ):
        assert answer["error"] == "invalid"
        assert answer["message"].startswith("to: no agent is called ")
        assert "Leave `to` out for everyone" in answer["hint"]
    assert not Message.unscoped.exists()


def test_a_reply_to_everyone_is_refused_too(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    first = ada_mcp.call("message", "send", text="x", to="ben")["id"]
    assert ben_mcp.call("message", "send", text="y", reply_to=first, to="all")["error"] == "invalid"
    assert ben_mcp.call("message", "send", text="y", reply_to=first, to="@ada")["to"] == ["ada"]


@pytest.mark.parametrize("name", ["all", "*", "@all", "Doe, Jane", "a; b", "[bot]", "@ada", '"x"', "it's"])
def test_an_agent_of_that_very_name_gets_the_message(eve: Caller, apollo: Project, name: str) -> None:
    send_message(caller=Caller(project=apollo, agent=name), text="I am here.", to=["ada"])
    assert send_message(caller=eve, text="x", to=[name])["to"] == [name]
    assert send_message(caller=eve, text="x", to=[f"ben, {name}"] if name[0] not in '["' else ["ben", name])[
        "to"
    ] == [
        "ben",
        name,
    ]


def test_a_name_with_an_at_sign_is_the_name_without(eve: Caller, apollo: Project) -> None:
    assert send_message(caller=eve, text="x", to=["@zoe"]) | {"id": 0, "thread": 0} == {
        "id": 0,
        "thread": 0,
        "to": ["zoe"],
        "unknown": ["zoe"],
    }


@pytest.mark.parametrize(
    "junk", ["['ada'", "[ada, ben]", '{"ada": 1}', "{}", ",", "", " ; ", "'ada", "[[[", "null"]
)
def test_junk_names_nobody(eve: Caller, junk: str) -> None:
    with pytest.raises(InvalidInput):
        send_message(caller=eve, text="x", to=[junk])
    assert not Message.unscoped.exists()


def test_fifty_names_at_most(eve: Caller) -> None:
    with pytest.raises(InvalidInput, match="60 entries"):
        send_message(caller=eve, text="x", to=[", ".join(f"a{n}" for n in range(60))])
    with pytest.raises(InvalidInput, match="entries"):
        send_message(caller=eve, text="x", to=["a," * 30_000])


def test_plain_names_cost_no_query_and_others_one(eve: Caller) -> None:
    def queries(*to: str) -> int:
        items = [{"text": "x", "to": [one]} for one in to]
        with CaptureQueriesContext(
            connection,
        ) as counted:
            send_message_batch(caller=eve, items=items)
        return len(counted)

    queries("ada")
    plain = queries("ada", "ben")
    assert queries("@ada", "ben, ada") == plain + 1
    assert queries(*["@ada"] * 20) == plain + 1


def test_the_activity_of_agents(ada_mcp: McpClient, ben_mcp: McpClient, eve: Caller, apollo: Project) -> None:
    send_message(caller=Caller(project=apollo, agent="Doe, Jane"), text="x")

    def agents(value: Any) -> set[str]:
        return {row["agent"] for row in ada_mcp.rows("hub", "activity", agents=value)}

    assert agents("@ada; ben") == {"ada", "ben"}
    assert agents("Doe, Jane, ada") == {"Doe, Jane", "ada"}
    assert agents("all") == agents(["*"]) == {"ada", "ben", "Doe, Jane"}
    assert ada_mcp.call("hub", "activity", agents=["zoe"])["hint"] == "There is no agent 'zoe'."
    assert ada_mcp.call("hub", "activity", agents="['ada'")["error"] == "invalid"


@pytest.mark.parametrize(
    ("to", "names"),
    [
        ("ben; @ada", ["ben", "ada"]),
        ("['ada', 'ben']", ["ada", "ben"]),
        ('"Doe, Jane", ben', ["Doe, Jane", "ben"]),
    ],
)
def test_the_form_of_the_admin(apollo: Project, to: str, names: list[str]) -> None:
    page = "/admin/messaging/message/add/"
    fields = {"text": "Hello.", "to": to, "type": "info", "priority": "low", "ack_within": ""}
    client = member(apollo, username="vi")
    client.post(page, fields)
    assert set(Delivery.unscoped.values_list("name", flat=True)) == set(names)
    refused = client.post(page, {**fields, "to": "all"})
    assert "Leave `to` out for everyone" in unescape(refused.content.decode())
    assert Message.unscoped.count() == 1
