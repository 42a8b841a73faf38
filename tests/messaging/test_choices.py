"""Questions with choices: who asks offers answers, and a reply takes one."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError, InvalidInput, LooksLikeCredential
from ctxhub.core.models import Project
from ctxhub.core.search.search import search
from messaging.messages.services import send_message, send_message_batch
from messaging.models import Message
from tests.hub import McpClient, RestClient

CHOICES = ["Yes, drop it", "No", "Ask Grace"]


@pytest.fixture
def question(ada: Caller) -> int:
    return send_message(caller=ada, text="May I drop legacy_cart?", to=["ben"], choices=CHOICES)["id"]


def stored(message_id: int) -> tuple[str, str, list[str]]:
    found = Message.unscoped.get(pk=message_id)
    return found.text, found.choice, found.choices


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({"choice": "No"}, ("No", "No")),
        ({"choice": "  yes,  DROP it. "}, ("  yes,  DROP it. ", "Yes, drop it")),
        ({"text": "Not before Friday.", "choice": "no"}, ("Not before Friday.", "No")),
        ({"text": "no!"}, ("no!", "No")),
        ({"text": "No, never."}, ("No, never.", "")),
    ],
)
def test_a_reply_takes_a_choice(
    ben: Caller, question: int, reply: dict[str, str], expected: tuple[str, str]
) -> None:
    sent = send_message(caller=ben, reply_to=question, **reply)  # type: ignore[arg-type]
    assert stored(sent["id"]) == (*expected, [])
    assert sent["to"] == ["ada"]


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        (["Yes"], "choices has 1 entry; a question has 2 to 5."),
        ([f"{n}" for n in range(6)], "choices has 6 entries; a question has 2 to 5."),
        (["Yes", " yes "], "choices has an entry twice."),
        (["Yes", " "], "choices[1] must not be blank."),
        (["Yes", "x" * 61], "choices[1] has 61 characters; the limit is 60."),
    ],
)
def test_choices_are_few_short_and_different(ada: Caller, choices: list[str], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        send_message(caller=ada, text="Which?", choices=choices)
    assert refused.value.message == sentence


def test_a_choice_is_no_place_for_a_credential(ada: Caller) -> None:
    with pytest.raises(LooksLikeCredential, match=r"choices\[1\]"):
        send_message(caller=ada, text="Which?", choices=["No", "ghp_" + "a1B2" * 9])


def test_a_line_break_in_a_choice_becomes_a_blank(ada: Caller) -> None:
    sent = send_message(caller=ada, text="Which?", choices=["Yes,\nnow", "No"])
    assert stored(sent["id"])[2] == ["Yes, now", "No"]


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        ({"choice": "Maybe"}, "choice: 'Maybe' is not known; use one of: Yes, drop it, No, Ask Grace."),
        ({"choice": "No", "reply_to": None}, "choice answers a message: name it in reply_to."),
        ({}, "text must not be blank."),
        ({"choice": " "}, "text must not be blank."),
    ],
)
def test_a_wrong_choice_is_refused_and_nothing_is_sent(
    ben: Caller, question: int, reply: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        send_message(caller=ben, **{"reply_to": question, **reply})
    assert refused.value.message == sentence
    assert Message.unscoped.count() == 1


def test_a_message_without_choices_takes_none(ada: Caller, ben: Caller) -> None:
    plain = send_message(caller=ada, text="Hello.", to=["ben"])["id"]
    with pytest.raises(InvalidInput, match="has no choices"):
        send_message(caller=ben, reply_to=plain, choice="Yes")


def test_who_asks_takes_no_choice(ada: Caller, question: int) -> None:
    with pytest.raises(InvalidInput, match="is your own"):
        send_message(caller=ada, reply_to=question, choice="No")
    sent = send_message(caller=ada, reply_to=question, text="No")
    assert stored(sent["id"]) == ("No", "", [])


def test_an_item_of_a_batch_with_a_wrong_choice_is_refused_by_itself(ben: Caller, question: int) -> None:
    items = [{"reply_to": question, "choice": "No"}, {"reply_to": question, "choice": "Maybe"}]
    answer = send_message_batch(caller=ben, items=items, atomic=False)
    assert (answer["done"], answer["failed"]) == (1, 1)
    assert answer["results"][1]["error"] == "invalid"
    with pytest.raises(CtxhubError):
        send_message_batch(caller=ben, items=items)
    assert Message.unscoped.filter(choice="No").count() == 1


def test_both_are_seen_over_mcp(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    sent = ada_mcp.call("message", "send", text="Which?", to=["ben"], choices='["Yes", "No"]')
    [row] = ben_mcp.rows("message", "inbox")
    assert (row["choices"], "choice" in row) == (["Yes", "No"], False)
    ben_mcp.call("message", reply_to=sent["id"], choice="yes")
    [row] = ada_mcp.rows("message", "inbox")
    assert (row["text"], row["choice"], "choices" in row) == ("yes", "Yes", False)
    thread = ben_mcp.rows("message", "thread", id=sent["id"])
    assert [(each.get("choices"), each.get("choice")) for each in thread] == [
        (["Yes", "No"], None),
        (None, "Yes"),
    ]


def test_a_text_that_is_no_list_is_one_choice(ada_mcp: McpClient) -> None:
    """Prose may hold commas."""
    refused = ada_mcp.call("message", "send", text="Which?", choices="Yes, drop it")
    assert refused["message"] == "choices has 1 entry; a question has 2 to 5."


def test_both_are_seen_over_rest(ada_rest: RestClient, ben_rest: RestClient) -> None:
    asked = ada_rest.post("messages/", {"text": "Which?", "to": ["ben"], "choices": ["Yes", "No"]})
    reply = ben_rest.post("messages/", {"reply_to": asked.body["id"], "choice": "No"})
    assert reply.status == 201
    found = ada_rest.get(f"messages/{reply.body['id']}/").body
    assert (found["text"], found["choice"]) == ("No", "No")
    assert ada_rest.get(f"messages/{asked.body['id']}/").body["choices"] == ["Yes", "No"]
    refused = ben_rest.post("messages/", {"reply_to": asked.body["id"], "choice": "Maybe"})
    assert (refused.status, refused.body["allowed"]) == (400, ["Yes", "No"])


def test_choices_are_found(question: int, apollo: Project) -> None:
    assert [hit.ref for hit in search(apollo.pk, "ask grace").hits] == [f"message:{question}"]
