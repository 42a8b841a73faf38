"""Requests: claiming, extending, expiry and finishing."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict, InvalidInput, NotFound
from memory.decisions.services import set_decision
from messaging.messages.requests import claim_request, finish_request
from messaging.models import Delivery, Message, RequestState
from tests.messaging.mail import events, known, send, texts

pytestmark = pytest.mark.usefixtures("index_is_kept")

NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.fixture(autouse=True)
def time() -> Iterator[Any]:
    with time_machine.travel(NINE, tick=False) as traveller:
        yield traveller


@pytest.fixture
def eve(ada: Caller, ben: Caller) -> Caller:
    eve = ada.speaking_as("eve")
    known(ada, ben, eve)
    return eve


def request(caller: Caller, text: str = "do it", **rest: Any) -> int:
    return send(caller, text, type="request", **rest)


def claimed(caller: Caller, **arguments: Any) -> dict[str, Any] | None:
    return claim_request(caller=caller, **arguments)["claimed"]


def test_a_claim_returns_the_message_and_its_expiry(ada: Caller, ben: Caller, eve: Caller) -> None:
    row_id = request(ada, "do it", payload={"n": 1})
    message = claimed(ben, message_id=row_id)
    assert message == {
        "id": row_id,
        "from": "ada",
        "to": None,
        "type": "request",
        "priority": "medium",
        "text": "do it",
        "thread": row_id,
        "at": "2026-01-05T09:00:00Z",
        "payload": {"n": 1},
        "state": "claimed",
        "by": "ben",
        "claimed_until": "2026-01-05T09:30:00Z",
    }
    assert (texts(ben), texts(eve)) == ([], ["do it"])
    data = {"to": ["ada"], "until": "2026-01-05T09:30:00Z"}
    assert events(ada)[1:] == [("claimed", f"message:{row_id}", data)]


def test_a_request_claimed_by_another_is_refused_with_holder_and_expiry(
    ada: Caller, ben: Caller, eve: Caller
) -> None:
    row_id = request(ada)
    claimed(ben, message_id=row_id)
    for refused in (
        lambda: claim_request(caller=eve, message_id=row_id),
        lambda: finish_request(caller=eve, message_id=row_id),
    ):
        with pytest.raises(Conflict, match="claimed by 'ben' until 2026-01-05T09:30:00Z") as caught:
            refused()
        assert caught.value.details["current"] == {"by": "ben", "until": "2026-01-05T09:30:00Z"}


def test_the_holder_extends_its_claim(ada: Caller, ben: Caller, eve: Caller, time: Any) -> None:
    row_id = request(ada)
    claimed(ben, message_id=row_id)
    time.shift(600)
    message = claimed(ben, message_id=row_id, minutes=60)
    assert message
    assert message["claimed_until"] == "2026-01-05T10:10:00Z"


def test_a_request_with_an_expired_claim_can_be_claimed_again(
    ada: Caller, ben: Caller, eve: Caller, time: Any
) -> None:
    row_id = request(ada)
    claimed(ben, message_id=row_id, minutes=1)
    assert claimed(eve, following=True) is None
    time.shift(60)
    message = claimed(eve, following=True)
    assert message
    assert (message["id"], message["by"]) == (row_id, "eve")
    with pytest.raises(Conflict):
        finish_request(caller=ben, message_id=row_id)


def test_next_is_the_oldest_of_the_most_urgent_requests(ada: Caller, ben: Caller, eve: Caller) -> None:
    ids = [request(ada, priority=priority) for priority in ("low", "high", "medium", "high")]
    send(ada, priority="critical")
    request(ada, to=["eve"], priority="critical")
    order = []
    while message := claimed(ben, following=True):
        order.append(message["id"])
    assert order == [ids[1], ids[3], ids[2], ids[0]]


def test_own_requests_cannot_be_claimed_or_finished(ada: Caller, ben: Caller, eve: Caller) -> None:
    row_id = request(ada)
    assert claimed(ada, following=True) is None
    for act in (claim_request, finish_request):
        with pytest.raises(InvalidInput, match="your own"):
            act(caller=ada, message_id=row_id)


def test_a_new_agent_can_claim_requests_to_everyone(ada: Caller) -> None:
    row_id = request(ada)
    message = claimed(ada.speaking_as("new"), following=True)
    assert message
    assert message["id"] == row_id


def test_done_records_result_refs_and_is_idempotent(ada: Caller, ben: Caller, eve: Caller) -> None:
    set_decision(caller=ada, key="a", value=1)
    row_id = request(ada)
    claimed(ben, message_id=row_id)
    answer = finish_request(caller=ben, message_id=row_id, result_refs=["Decision: a", "message:1"])
    assert answer == {"id": row_id, "state": "done", "result_refs": ["decision:a", "message:1"]}
    before = events(ada)
    assert before[-2][2] == {"to": ["ada"], "refs": answer["result_refs"], "note": "decision:a, message:1"}
    assert finish_request(caller=ben, message_id=row_id) == answer
    assert events(ada) == before


def test_a_recipient_finishes_a_request_that_nobody_holds(
    ada: Caller, ben: Caller, eve: Caller, time: Any
) -> None:
    assert finish_request(caller=ben, message_id=request(ada))["state"] == "done"
    late = request(ada)
    claimed(eve, message_id=late, minutes=1)
    time.shift(61)
    assert finish_request(caller=ben, message_id=late)["state"] == "done"


def test_a_finished_request_cannot_be_claimed_or_finished_by_another(
    ada: Caller, ben: Caller, eve: Caller
) -> None:
    row_id = request(ada)
    finish_request(caller=ben, message_id=row_id)
    for act in (claim_request, finish_request):
        with pytest.raises(Conflict, match="is done, by 'ben'"):
            act(caller=eve, message_id=row_id)
    with pytest.raises(Conflict, match="is done"):
        claim_request(caller=ben, message_id=row_id)
    assert claimed(eve, following=True) is None


def test_deliveries_have_the_state_of_the_request(ada: Caller, ben: Caller, eve: Caller) -> None:
    row_id = request(ada)
    for act, state in ((claim_request, RequestState.CLAIMED), (finish_request, RequestState.DONE)):
        act(caller=ben, message_id=row_id)
        of_request = Delivery.unscoped.filter(message=row_id)
        assert set(of_request.values_list("state", flat=True)) == {state}
        assert Message.unscoped.get(pk=row_id).state == state


@pytest.mark.parametrize("act", [claim_request, finish_request])
def test_only_requests_to_the_agent_can_be_claimed_or_finished(
    ada: Caller, ben: Caller, cy: Caller, eve: Caller, act: Any
) -> None:
    with pytest.raises(NotFound, match="not addressed to 'ben'"):
        act(caller=ben, message_id=request(ada, to=["eve"]))
    with pytest.raises(InvalidInput, match="no request, but of the type info"):
        act(caller=ben, message_id=send(ada, to=["ben"]))
    for nothing in (request(cy), 9**9):
        with pytest.raises(NotFound, match="There is no message"):
            act(caller=ben, message_id=nothing)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, "Give id, or next"),
        ({"message_id": 1, "following": True}, "Give id, or next"),
        ({"following": True, "minutes": 0}, "minutes is 0; it must be between 1 and 1440"),
        ({"following": True, "minutes": 1_441}, "minutes is 1441"),
        ({"message_id": 0}, "id: 0 is not the id"),
    ],
)
def test_invalid_input_of_a_claim_is_refused_with_the_reason(
    ben: Caller, arguments: dict[str, Any], error: str
) -> None:
    with pytest.raises(InvalidInput, match=error):
        claim_request(caller=ben, **arguments)


@pytest.mark.parametrize(
    ("refs", "error"),
    [
        (["nothing"], "is not a ref"),
        (["ghost:1"], "ref: 'ghost' is not known"),
        (["decision:"], "is not a ref"),
        (["decision:a"] * 51, "result_refs has 51 entries"),
    ],
)
def test_results_must_be_refs(ada: Caller, ben: Caller, refs: list[str], error: str) -> None:
    row_id = request(ada)
    with pytest.raises(InvalidInput, match=error):
        finish_request(caller=ben, message_id=row_id, result_refs=refs)
    assert Message.unscoped.get(pk=row_id).state == RequestState.OPEN
