"""A viewer answers what is addressed to them, signed in; a token that only reads does not."""

from typing import Any

import pytest
from django.test import Client

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.accounts.people import find_person
from ctxhub.core.kit.caller import READ, Caller
from ctxhub.core.kit.errors import CtxhubError, NotAllowed
from ctxhub.core.models import Project
from messaging.messages.requests import claim_request, finish_request
from messaging.messages.services import (
    acknowledge_messages,
    read_messages_of,
    send_message,
    send_message_batch,
)
from messaging.models import Delivery, Message
from tests.hub import LiveHub
from tests.people import VIEWER, person, signed_in

AT = "/api/v1/projects/apollo/"


@pytest.fixture
def vi(apollo: Project) -> Caller:
    found = find_person(person("vi", apollo, VIEWER), apollo.slug)
    assert found
    assert found.scopes == {READ}
    return found


@pytest.fixture
def page(vi: Caller) -> Client:
    from django.contrib.auth.models import User

    return signed_in(User.objects.get(username="vi"))


@pytest.fixture(params=["vi", "@people"])
def asked(request: Any, vi: Caller, ada: Caller) -> dict[str, int]:
    """A question, a request and something to acknowledge."""
    to = [request.param]
    return {
        "question": send_message(caller=ada, text="May I?", to=to, choices=["Yes", "No"])["id"],
        "request": send_message(caller=ada, text="Look, please.", to=to, type="request")["id"],
        "ack": send_message(caller=ada, text="Deployed.", to=to, ack=True)["id"],
    }


def test_a_viewer_answers_what_is_addressed_to_them(vi: Caller, asked: dict[str, int]) -> None:
    sent = send_message(caller=vi, reply_to=asked["question"], choice="yes")
    assert Message.unscoped.get(pk=sent["id"]).choice == "Yes"
    assert acknowledge_messages(caller=vi, ids=[asked["ack"]]) == {"acked": 1}
    claimed = claim_request(caller=vi, message_id=asked["request"])["claimed"]
    assert claimed and claimed["by"] == "vi"  # noqa: PT018
    assert finish_request(caller=vi, message_id=asked["request"])["state"] == "done"
    read_messages_of(caller=vi, everything=True)
    assert not Delivery.unscoped.filter(name="vi", read_at=None).exists()


def test_signed_in_over_rest_as_well(page: Client, asked: dict[str, int]) -> None:
    def post(path: str, body: dict[str, Any]) -> int:
        return page.post(f"{AT}{path}", body, content_type="application/json").status_code

    assert post("messages/", {"reply_to": asked["question"], "choice": "No"}) == 201
    assert post(f"messages/{asked['ack']}/ack/", {}) == 200
    assert post(f"messages/{asked['request']}/claim/", {}) == 200
    assert post(f"messages/{asked['request']}/done/", {}) == 200
    assert post("messages/read/", {"all": True}) == 200
    assert post("call/message/send/", {"text": "Thanks.", "reply_to": asked["question"]}) == 200
    assert post("call/message/send/", {"text": "Hello."}) == 403
    assert post("messages/", {"text": "Hello.", "to": ["ada"]}) == 403
    assert post("messages/batch/", {"items": [{"text": "Hello."}]}) == 403
    assert post("decisions/", {"key": "k", "value": 1}) == 403


@pytest.mark.parametrize(
    "more", [{}, {"to": ["ada"]}, {"reply_to": True, "to": ["ben"]}, {"reply_to": True, "to": ["@people"]}]
)
def test_a_viewer_writes_to_nobody_else(vi: Caller, ada: Caller, more: dict[str, Any]) -> None:
    question = send_message(caller=ada, text="May I?", to=["vi"])["id"]
    given = {**more, **({"reply_to": question} if "reply_to" in more else {})}
    with pytest.raises(NotAllowed, match="but for answers to what is addressed to you"):
        send_message(caller=vi, text="Hello.", **given)
    assert Message.unscoped.count() == 1


def test_what_is_addressed_to_others_or_to_everyone_is_not_a_viewers(
    vi: Caller, ada: Caller, ben: Caller
) -> None:
    send_message(caller=ben, text="Here.")
    others = send_message(caller=ada, text="May I?", to=["ben"], choices=["Yes", "No"])["id"]
    broadcast = send_message(caller=ada, text="Who does it?", type="request")["id"]
    for message_id in (others, broadcast):
        with pytest.raises(NotAllowed):
            send_message(caller=vi, reply_to=message_id, text="Yes")
        with pytest.raises(CtxhubError):
            claim_request(caller=vi, message_id=message_id)
    outcome = send_message_batch(caller=vi, items=[{"text": "x", "reply_to": others}], atomic=False)
    assert outcome["results"][0]["error"] == "not_allowed"


def test_a_token_that_only_reads_answers_nothing(
    hub: LiveHub, apollo: Project, ada: Caller, vi: Caller
) -> None:
    question = send_message(caller=ada, text="May I?", to=["rex"], choices=["Yes", "No"])["id"]
    secret = create_token(project=apollo, name="reader", agent="rex", scopes=[READ]).secret
    rest, mcp = hub.rest(secret), hub.mcp(secret)
    assert rest.post("messages/", {"reply_to": question, "choice": "Yes"}).status == 403
    assert rest.post(f"messages/{question}/read/", {}).status == 403
    assert mcp.call("message", "send", reply_to=question, text="Yes")["error"] == "not_allowed"
    assert mcp.call("message", "ack", ids=[question])["error"] == "not_allowed"
