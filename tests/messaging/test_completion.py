"""Who asked for something hears once that it is done, over MCP and REST."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.events.mail import count_urgent
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict, CtxhubError
from ctxhub.core.models import Project
from messaging.messages.inbox import list_inbox
from messaging.messages.queries import list_thread
from messaging.messages.requests import claim_request, finish_request
from messaging.messages.services import send_message
from messaging.models import Message, RequestState
from sessions.nudges.services import nudge
from tests.core.linked import done, impact
from tests.hub import LiveHub, McpClient, RestClient
from tests.mcp.test_waiting import in_background, wait_for_waiters
from tests.messaging.mail import known, send
from tests.timing import PATIENCE_SECONDS

TOKEN = "ghp_" + "a1B2c3D4" * 4 + "e5F6"

pytestmark = pytest.mark.usefixtures("index_is_kept")


@pytest.fixture
def eve(ada: Caller) -> Caller:
    return ada.speaking_as("eve")


def request(caller: Caller, text: str = "Please.", **rest: Any) -> int:
    return send(caller, text, to=["ben"], type="request", **rest)


def told(asker: Caller) -> list[dict[str, Any]]:
    return [item for item in list_inbox(asker).objects() if (item["payload"] or {}).get("done")]


@pytest.mark.parametrize("face", ["MCP", "REST"])
def test_it_is_in_the_inbox_with_what_came_of_it(
    face: str, ada_mcp: McpClient, ada_rest: RestClient, ben_mcp: McpClient, ben_rest: RestClient
) -> None:
    asked = ada_mcp.call("message", "send", text="Fix the\nlogin.", to=["ben"], type="request")["id"]
    refs = ["decision:api/auth", f"message:{asked}"]
    if face == "MCP":
        ben_mcp.call("message", "done", id=asked, result_refs=refs)
        [item] = ada_mcp.call("message", "inbox", format="objects")["items"]
    else:
        assert ben_rest.post(f"messages/{asked}/done/", {"result_refs": refs}).status == 200
        [item] = ada_rest.get("messages/").body["items"]
    text = f"Your request message:{asked} is done: Fix the login.\nResult: decision:api/auth, message:{asked}"
    assert (item["from"], item["to"], item["type"], item["text"]) == ("ben", ["ada"], "info", text)
    assert (item["thread"], item["payload"]) == (asked, {"done": f"message:{asked}"})


def test_it_is_told_once(ada: Caller, ben: Caller) -> None:
    asked = request(ada)
    claim_request(caller=ben, message_id=asked)
    for _ in range(2):
        finish_request(caller=ben, message_id=asked)
    assert len(told(ada)) == 1
    assert told(ben) == []


def test_who_comes_second_tells_nothing(ada: Caller, ben: Caller, eve: Caller) -> None:
    asked = send_message(caller=ada, text="Who can?", type="request")["id"]
    finish_request(caller=ben, message_id=asked)
    with pytest.raises(Conflict):
        finish_request(caller=eve, message_id=asked)
    assert [item["from"] for item in told(ada)] == ["ben"]


@pytest.mark.every_engine
def test_of_two_that_finish_at_once_one_tells(apollo: Project, hub: LiveHub, ada: Caller) -> None:
    clients = [hub.rest(create_token(project=apollo, agent=name).secret) for name in ("ben", "eve")]
    ids = [send(ada, "Who can?", to=["ben", "eve"], type="request") for _ in range(5)]
    with ThreadPoolExecutor(2) as threads:
        for asked in ids:
            both = [threads.submit(client.post, f"messages/{asked}/done/", {}) for client in clients]
            assert sorted(each.result().status for each in both) == [200, 409]
    assert sorted(item["thread"] for item in told(ada)) == ids


def test_a_waiting_asker_is_woken_and_told_of_one_message(
    ada: Caller, ben: Caller, ada_mcp: McpClient
) -> None:
    asked = request(ada)
    answering = in_background(lambda: ada_mcp.call("hub", "wait", wait_seconds=60))
    wait_for_waiters()
    finish_request(caller=ben, message_id=asked)
    answer, _ = answering.result(PATIENCE_SECONDS)
    assert answer == {"messages": 1, "cursor": answer["cursor"]}


@pytest.mark.parametrize(("priority", "urgent"), [("medium", 0), ("high", 1), ("critical", 1)])
def test_it_is_as_urgent_as_the_request(ada: Caller, ben: Caller, priority: str, urgent: int) -> None:
    asked = request(ada, priority=priority)
    finish_request(caller=ben, message_id=asked)
    assert [item["priority"] for item in told(ada)] == [priority]
    assert (count_urgent(ada), nudge(caller=ada)["messages"]) == (urgent, urgent)


def test_a_person_who_asked_hears_of_it(ada: Caller, ben: Caller) -> None:
    grace = Caller(project=ada.project, agent="grace", is_person=True)
    asked = send_message(caller=grace, text="Please.", to=["ben"], type="request")["id"]
    finish_request(caller=ben, message_id=asked)
    assert [item["from"] for item in told(grace)] == ["ben"]


def test_it_is_in_the_thread(ada: Caller, ben: Caller) -> None:
    asked = request(ada)
    finish_request(caller=ben, message_id=asked)
    texts = [row[5] for row in list_thread(ada.project_id, asked).rows]
    assert texts == ["Please.", f"Your request message:{asked} is done: Please."]


def test_it_is_no_result_of_the_request(ada: Caller, ben: Caller) -> None:
    assert impact(ada, done(ada, ben)) == []


def test_a_credential_of_the_request_is_not_repeated(ada: Caller, ben: Caller) -> None:
    asked = request(ada.for_call(allow_secret=True), f"Use {TOKEN} please.")
    finish_request(caller=ben, message_id=asked)
    assert [item["text"] for item in told(ada)] == [f"Your request message:{asked} is done"]


def test_long_texts_and_many_results_are_cut(ada: Caller, ben: Caller) -> None:
    asked = request(ada, "Fix it. " * 500)
    refs = [f"resource:{'long/' * 150}{number}.py" for number in range(50)]
    finish_request(caller=ben, message_id=asked, result_refs=refs)
    [item] = told(ada)
    assert item["text"].endswith(" and 45 more")
    assert len(item["text"]) < 1_000


def test_a_refused_done_tells_nothing(ada: Caller, ben: Caller, eve: Caller) -> None:
    known(eve)
    asked = request(ada)
    for caller, refs in ((eve, None), (ben, ["nothing"]), (ada, None)):
        with pytest.raises(CtxhubError):
            finish_request(caller=caller, message_id=asked, result_refs=refs)
    assert told(ada) == []


@pytest.mark.parametrize("by", ["ben", "ada", None])
def test_a_request_that_the_orm_finishes_is_told_by_who_has_done_it(
    by: str | None, ada: Caller, ben: Caller
) -> None:
    known(ada, ben)
    row = Message.objects.in_project(ada.project).get(pk=request(ada))
    agents = {agent.name: agent for agent in type(row.sender).objects.in_project(ada.project)}
    for _ in range(2):
        row.state, row.claimed_by, row.done_at = RequestState.DONE, agents.get(by or ""), clock.now()
        row.save()
    assert [item["from"] for item in told(ada)] == (["ben"] if by == "ben" else [])
