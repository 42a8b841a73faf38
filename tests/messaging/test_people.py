"""`@people`: any of the project's people may answer, the first has it, and the others see who."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from ctxhub.core.accounts.people import find_person, people_of
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict, CtxhubError
from ctxhub.core.models import Event, Project
from messaging.messages.inbox import list_inbox
from messaging.messages.queries import list_receipts, list_thread
from messaging.messages.requests import claim_request, finish_request
from messaging.messages.services import acknowledge_messages, send_message
from messaging.models import Delivery, Message
from tests.hub import McpClient
from tests.people import ADMIN, MEMBER, VIEWER, person


@pytest.fixture
def people(apollo: Project) -> dict[str, Caller]:
    """Grace and Lin may write; Vi is a viewer, who may answer as well."""
    roles = {"grace": ADMIN, "lin": MEMBER, "vi": VIEWER}
    users = {name: person(name, apollo, role) for name, role in roles.items()}
    found = {name: find_person(user, apollo.slug) for name, user in users.items()}
    return {name: caller for name, caller in found.items() if caller}


def ask(caller: Caller, **more: Any) -> int:
    return send_message(caller=caller, text="May I?", to=["@people"], choices=["Yes", "No"], **more)["id"]


def owing(message_id: int) -> list[str]:
    rows = Delivery.unscoped.filter(message=message_id, owed=True).order_by("folded")
    return list(rows.values_list("name", flat=True))


def test_all_people_get_it_and_no_agent_does(
    ada: Caller, ben: Caller, people: dict[str, Caller], apollo: Project
) -> None:
    send_message(caller=ben, text="Hello.")
    sent = send_message(caller=ada, text="May I?", to=["@people"])
    assert sent == {"id": sent["id"], "thread": sent["id"], "to": ["@people"]}
    assert owing(sent["id"]) == ["grace", "lin", "vi"]
    for caller in people.values():
        [row] = list_inbox(caller).objects()
        assert (row["id"], row["to"]) == (sent["id"], ["@people"])
    assert "May I?" not in str(list_inbox(ben).objects())
    event = Event.objects.in_project(apollo).get(verb="sent", ref=f"message:{sent['id']}")
    assert event.data["to"] == ["grace", "lin", "vi"]


def test_who_is_named_besides_is_named(ada: Caller, people: dict[str, Caller]) -> None:
    sent = send_message(caller=ada, text="May I?", to=["ben, @people", "grace"])
    assert sent["to"] == ["@people", "ben", "grace"]
    assert owing(sent["id"]) == ["ben", "grace", "lin", "vi"]
    assert Delivery.unscoped.filter(message=sent["id"], to_people=True).count() == 2


def test_the_first_who_answers_has_it(ada: Caller, people: dict[str, Caller]) -> None:
    question = ask(ada, ack=True)
    send_message(caller=people["lin"], reply_to=question, choice="No")
    assert owing(question) == ["lin"]
    [row] = list_inbox(people["grace"]).objects()
    assert row["id"] == question
    with pytest.raises(Conflict) as refused:
        send_message(caller=people["grace"], reply_to=question, choice="Yes")
    assert refused.value.message == f"message {question} was answered by 'lin'."
    thread = list_thread(ada.project_id, question).objects()
    assert [(each["by"], each["choice"]) for each in thread] == [("lin", None), (None, "No")]
    send_message(caller=people["grace"], reply_to=question, text="I would not, either.")
    send_message(caller=people["lin"], reply_to=question, choice="Yes")


def test_an_acknowledgement_takes_it_as_well(ada: Caller, people: dict[str, Caller]) -> None:
    sent = send_message(caller=ada, text="Deploying.", to=["@people"], ack=True)["id"]
    acknowledge_messages(caller=people["grace"], ids=[sent])
    assert owing(sent) == ["grace"]
    receipts = list_receipts(ada.project_id, sent).objects()
    assert [(each["agent"], each["owes"]) for each in receipts] == [("grace", None)]


@pytest.mark.parametrize("how", [claim_request, finish_request])
def test_a_request_is_taken_by_its_claim(ada: Caller, people: dict[str, Caller], how: Any) -> None:
    sent = send_message(caller=ada, text="Review, please.", to=["@people"], type="request")["id"]
    how(caller=people["lin"], message_id=sent)
    assert owing(sent) == ["lin"]
    with pytest.raises(Conflict):
        claim_request(caller=people["grace"], message_id=sent)


def test_agents_answer_nothing_that_is_the_peoples(
    ada: Caller, ben: Caller, people: dict[str, Caller]
) -> None:
    sent = ask(ada, type="request")
    with pytest.raises(CtxhubError, match="not addressed to 'ben'"):
        claim_request(caller=ben, message_id=sent)
    send_message(caller=ben, reply_to=sent, text="I think so.")
    assert owing(sent) == ["grace", "lin", "vi"]
    assert Message.unscoped.get(pk=sent).claimed_by is None


def test_a_reply_of_the_asker_goes_to_the_people_again(ada: Caller, people: dict[str, Caller]) -> None:
    question = ask(ada)
    sent = send_message(caller=ada, reply_to=question, text="It is urgent.")
    assert sent["to"] == ["@people"]
    assert owing(sent["id"]) == ["grace", "lin", "vi"]


def test_a_person_who_asks_the_people_is_not_asked(people: dict[str, Caller]) -> None:
    assert owing(ask(people["grace"])) == ["lin", "vi"]


def test_people_of_other_projects_and_former_ones_are_not_asked(
    ada: Caller, people: dict[str, Caller], hermes: Project
) -> None:
    person("cleo", hermes, ADMIN)
    User.objects.filter(username="vi").update(is_active=False)
    User.objects.create_superuser("root")
    assert people_of(ada.project_id) == ["grace", "lin"]
    assert owing(ask(ada)) == ["grace", "lin"]


def test_a_hub_without_members_asks_its_superusers(ada: Caller) -> None:
    User.objects.create_superuser("root")
    assert owing(ask(ada)) == ["root"]


def test_without_people_it_is_refused(ada: Caller) -> None:
    with pytest.raises(CtxhubError) as refused:
        ask(ada)
    assert refused.value.message == "to: this project has no people but you."
    assert not Message.unscoped.exists()


def test_an_agent_of_that_name_is_an_agent(ada: Caller, people: dict[str, Caller], apollo: Project) -> None:
    send_message(caller=Caller(apollo, "@people"), text="Hello.")
    sent = send_message(caller=ada, text="x", to=["@people"])
    assert owing(sent["id"]) == ["@people"]
    assert Message.unscoped.get(pk=sent["id"]).to_people is False


def test_over_mcp(ada_mcp: McpClient, people: dict[str, Caller]) -> None:
    sent = ada_mcp.call("message", "send", text="May I?", to="@People")
    assert sent["to"] == ["@people"]
    assert [row["agent"] for row in ada_mcp.rows("message", "status", id=sent["id"])] == [
        "grace",
        "lin",
        "vi",
    ]


def test_a_person_who_has_not_been_here_is_not_unknown(ada: Caller, people: dict[str, Caller]) -> None:
    sent = send_message(caller=ada, text="Hello.", to=["Grace", "zoe"])
    assert sent["unknown"] == ["zoe"]


def test_a_person_owes_nothing_that_goes_to_everyone(
    ada: Caller, ben: Caller, people: dict[str, Caller]
) -> None:
    for caller in (ben, *people.values()):
        send_message(caller=caller, text="Here.", to=["ada"]) if caller.may("write") else None
    sent = send_message(caller=ada, text="Deployed.", ack=True, priority="high")["id"]
    assert owing(sent) == ["ben"]
    assert [row["id"] for row in list_inbox(people["grace"]).objects()] == [sent]
