"""What waits for a person: on the first page and on its own, and answered in place."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from ctxhub.core.accounts.people import find_person
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from messaging.messages.requests import claim_request
from messaging.messages.services import acknowledge_messages, read_messages_of, send_message
from messaging.models import Delivery, Message
from messaging.questions.for_you import find_for_you
from tests.people import MEMBER, VIEWER, person, signed_in

INDEX, PAGE, ANSWER = (
    "/admin/",
    "/admin/messaging/message/for-you/",
    "/admin/messaging/message/for-you/answer/",
)


@pytest.fixture
def grace(apollo: Project) -> Caller:
    found = find_person(person("grace", apollo, MEMBER), apollo.slug)
    assert found
    return found


@pytest.fixture
def client(grace: Caller) -> Client:
    return signed_in(User.objects.get(username="grace"))


def shown(caller: Caller, name: str = "grace", **more: Any) -> list[int]:
    return [each.id for each in find_for_you([caller.project_id], name, limit=10, **more).shown]


def ask(caller: Caller, **more: Any) -> int:
    given = {"text": "May I drop legacy_cart?", "to": ["grace"], "choices": ["Yes", "No"], **more}
    return send_message(caller=caller, **given)["id"]


# -- What waits ------------------------------------------------------------------------------------


def test_urgent_first_then_newest(ada: Caller, grace: Caller) -> None:
    first, urgent, last = ask(ada), ask(ada, priority="critical"), ask(ada)
    found = find_for_you([ada.project_id], "Grace", limit=2)
    assert ([each.id for each in found.shown], found.total) == ([urgent, last], 3)
    assert shown(ada) == [urgent, last, first]
    assert shown(ada, but=[urgent, first]) == [last]


def test_a_question_waits_until_it_is_answered_not_only_read(ada: Caller, grace: Caller) -> None:
    question = ask(ada)
    read_messages_of(caller=grace, ids=[question])
    assert shown(ada) == [question]
    send_message(caller=grace, reply_to=question, text="Let me see.")
    assert shown(ada) == []


def test_a_message_waits_until_it_is_read_and_acknowledged_where_that_is_asked(
    ada: Caller, grace: Caller
) -> None:
    plain = send_message(caller=ada, text="Deployed.", to=["grace"])["id"]
    to_ack = send_message(caller=ada, text="Deployed.", to=["grace"], ack=True)["id"]
    read_messages_of(caller=grace, everything=True)
    assert shown(ada) == [to_ack]
    acknowledge_messages(caller=grace, ids=[to_ack])
    assert (plain in shown(ada), shown(ada)) == (False, [])


def test_a_request_waits_until_somebody_takes_it_and_for_who_took_it(
    ada: Caller, ben: Caller, grace: Caller
) -> None:
    both = send_message(caller=ada, text="Look.", to=["grace", "ben"], type="request")["id"]
    read_messages_of(caller=grace, everything=True)
    assert shown(ada) == [both]
    claim_request(caller=ben, message_id=both, minutes=30)
    assert shown(ada) == []
    with time_machine.travel(Message.unscoped.get(pk=both).claimed_until + timedelta(seconds=1)):  # type: ignore[operator]
        assert shown(ada) == [both]
    own = send_message(caller=ada, text="Look.", to=["grace"], type="request")["id"]
    claim_request(caller=grace, message_id=own)
    [waiting] = find_for_you([ada.project_id], "grace", limit=10).shown
    assert (waiting.id, waiting.is_own) == (own, True)


def test_what_another_of_the_people_has_answered_waits_no_more(
    ada: Caller, grace: Caller, apollo: Project
) -> None:
    lin = find_person(person("lin", apollo, VIEWER), apollo.slug)
    assert lin
    question = ask(ada, to=["@people"])
    assert (shown(ada), shown(ada, "lin")) == ([question], [question])
    send_message(caller=lin, reply_to=question, choice="No")
    assert (shown(ada), shown(ada, "lin")) == ([], [])


def test_what_goes_to_everyone_others_or_another_project_does_not_wait(
    ada: Caller, cy: Caller, grace: Caller
) -> None:
    send_message(caller=ada, text="For all.", priority="critical")
    ask(ada, to=["ben"])
    ask(cy)
    assert shown(ada) == []


def test_refs_and_paths_of_the_payload_are_what_it_is_about(ada: Caller, grace: Caller) -> None:
    ask(ada, payload={"refs": ["decision:api/auth", 7], "path": "src/cart.py"})
    [waiting] = find_for_you([ada.project_id], "grace", limit=1).shown
    assert waiting.refs == ["decision:api/auth", "src/cart.py"]


@pytest.mark.parametrize("count", [1, 9])
def test_one_statement_however_much_waits(
    ada: Caller, grace: Caller, django_assert_num_queries: Any, count: int
) -> None:
    for _ in range(count):
        ask(ada)
    with django_assert_num_queries(1):
        find_for_you([ada.project_id], "grace", limit=50)


# -- The pages -------------------------------------------------------------------------------------


def text_of(client: Client, path: str) -> str:
    return client.get(path).content.decode()


def press(client: Client, do: str, **more: str) -> list[str]:
    """Press a button; the notices on the page after it."""
    answer = client.post(ANSWER, {"do": do, "next": PAGE, **more}, follow=True)
    assert answer.redirect_chain == [(PAGE, 302)]
    return [str(each) for each in answer.context["messages"]]


def test_it_stands_on_the_first_page_with_its_count_in_the_title(ada: Caller, client: Client) -> None:
    assert "For you</h2>" not in text_of(client, INDEX)
    question = ask(ada, text="May I drop <b>legacy_cart</b>?")
    page = text_of(client, INDEX)
    assert "<title>(1) Overview" in re.sub(r"\s+", " ", page).replace("<title> ", "<title>")
    assert "May I drop &lt;b&gt;legacy_cart&lt;/b&gt;?" in page
    assert f'value="choose:{question}:Yes"' in page
    assert f'href="{PAGE}"' in page


def test_a_choice_is_one_press(ada: Caller, client: Client) -> None:
    question = ask(ada)
    assert press(client, f"choose:{question}:No") == ["ada is told: No."]
    reply = Message.unscoped.get(reply_to=question)
    assert (reply.text, reply.choice, reply.sender.name) == ("No", "No", "grace")
    assert "Nothing waits for you." in text_of(client, PAGE)


def test_a_choice_with_a_colon_is_one(ada: Caller, client: Client) -> None:
    question = ask(ada, choices=["Now: yes", "No"])
    press(client, f"choose:{question}:Now: yes")
    assert Message.unscoped.get(reply_to=question).choice == "Now: yes"


@pytest.mark.parametrize(
    ("do", "notice"),
    [
        ("take", "message:{} is yours for a day."),
        ("done", "ada is told that message:{} is done."),
        ("read", "message:{} is read."),
        ("later", "message:{} comes back in 3 hours."),
    ],
)
def test_each_button_does_what_it_says(ada: Caller, client: Client, do: str, notice: str) -> None:
    asked = send_message(caller=ada, text="Look, please.", to=["grace"], type="request")["id"]
    assert press(client, f"{do}:{asked}") == [notice.format(asked)]


def test_a_reply_is_sent_as_typed(ada: Caller, client: Client) -> None:
    question = ask(ada)
    assert press(client, f"reply:{question}", **{f"text-{question}": "Not before Friday."}) == [
        "ada is told: your reply."
    ]
    assert Message.unscoped.get(reply_to=question).text == "Not before Friday."
    assert not Delivery.unscoped.filter(name="grace", read_at=None).exists()


def test_later_comes_back(ada: Caller, client: Client) -> None:
    question = ask(ada)
    press(client, f"later:{question}")
    assert "Nothing waits for you." in text_of(client, PAGE)
    at = Message.unscoped.get(pk=question).created_at
    with time_machine.travel(at + timedelta(hours=3, minutes=1)):
        assert "May I drop legacy_cart?" in text_of(client, PAGE)


def test_what_was_answered_meanwhile_is_told(ada: Caller, client: Client, apollo: Project) -> None:
    lin = find_person(person("lin", apollo, VIEWER), apollo.slug)
    assert lin
    question = ask(ada, to=["@people"])
    send_message(caller=lin, reply_to=question, choice="No")
    [notice] = press(client, f"choose:{question}:Yes")
    assert notice.startswith(f"message {question} was answered by 'lin'.")


@pytest.mark.parametrize(
    "do", ["", "choose", "choose:x:Yes", "choose:999999:Yes", "fly:{}", "reply:{}", "ack:9:"]
)
def test_what_no_button_says_does_nothing(ada: Caller, client: Client, do: str) -> None:
    question = ask(ada)
    assert len(press(client, do.format(question))) == 1
    assert Message.unscoped.count() == 1


def test_a_stranger_answers_nothing(ada: Caller, grace: Caller, hermes: Project) -> None:
    question = ask(ada)
    stranger = signed_in(person("cleo", hermes, MEMBER))
    assert press(stranger, f"choose:{question}:Yes") == ["There is no such message here any more."]
    assert press(stranger, f"later:{question}") == ["There is no such message here any more."]
    assert "legacy_cart" not in text_of(stranger, INDEX) + text_of(stranger, PAGE)


def test_what_is_addressed_to_others_is_not_answered_in_their_place(
    ada: Caller, client: Client, apollo: Project
) -> None:
    question = ask(ada, to=["ben"])
    for each in (client, signed_in(person("vi", apollo, VIEWER))):
        for do in ("choose:{}:Yes", "read:{}", "later:{}", "ack:{}"):
            assert press(each, do.format(question)) == ["There is no such message here any more."]
    assert Message.unscoped.count() == 1


def test_a_viewer_answers_too(ada: Caller, apollo: Project) -> None:
    viewer = signed_in(person("vi", apollo, VIEWER))
    question = ask(ada, to=["@people"])
    assert press(viewer, f"choose:{question}:Yes") == ["ada is told: Yes."]


def test_the_page_needs_a_sign_in(db: None) -> None:
    assert Client().get(PAGE).status_code == 302
    assert Client().post(ANSWER, {"do": "ack:1"}).status_code == 302


# -- The conversation, and the form ----------------------------------------------------------------


def conversation(message_id: int) -> str:
    return reverse("admin:messaging_message_read", args=[message_id])


def test_a_choice_is_pressed_in_the_conversation_too(ada: Caller, client: Client) -> None:
    question = ask(ada)
    address = conversation(question)
    assert f'value="choose:{question}:Yes"' in text_of(client, address)
    client.post(ANSWER, {"do": f"choose:{question}:Yes", "next": address})
    page = text_of(client, address)
    assert f'value="choose:{question}:Yes"' not in page
    assert 'chose <span class="ctx-chip">Yes</span>' in page


def test_a_viewer_replies_in_a_conversation_that_names_them_alone(ada: Caller, apollo: Project) -> None:
    viewer = signed_in(person("vi", apollo, VIEWER))
    named, other = ask(ada, to=["vi"]), ask(ada, to=["ben"])
    for message_id, count in ((named, 1), (other, 0)):
        form = 'name="text"' in text_of(viewer, conversation(message_id))
        assert form == bool(count)
        viewer.post(conversation(message_id), {"text": "Fine."})
        assert Message.unscoped.filter(reply_to=message_id).count() == count


def test_a_person_asks_with_choices(client: Client, ada: Caller) -> None:
    form = {
        "to": "@people, ada",
        "text": "Which?",
        "choices": "Yes\n\n No \n",
        "type": "info",
        "priority": "medium",
    }
    assert client.post("/admin/messaging/message/add/", form).status_code == 302
    sent = Message.unscoped.get()
    assert (sent.choices, sent.to_people) == (["Yes", "No"], True)
    refused = client.post("/admin/messaging/message/add/", {**form, "choices": "Yes"})
    assert "choices has 1 entry; a question has 2 to 5." in refused.content.decode()
