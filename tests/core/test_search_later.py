"""Of two nearly equal statements that match about as well, the later one comes first."""

from datetime import datetime

import pytest
import time_machine

from ctxhub.core.kit.caller import Caller
from memory.decisions.services import set_decision
from memory.memories.services import add_memory
from messaging.messages.services import send_message
from tests.searching import find

DAYS = [datetime.fromisoformat(f"2026-11-{day}T09:00:00Z") for day in ("02", "09", "16")]


def remember(caller: Caller, texts: list[str], title: str = "Gateway") -> list[str]:
    """One memory a week."""
    refs = []
    for day, text in zip(DAYS, texts, strict=False):
        with time_machine.travel(day):
            refs.append(f"memory:{add_memory(caller=caller, title=title, content=text)['id']}")
    return refs


def found(caller: Caller, query: str) -> list[str]:
    hits = find(caller, query).hits
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    return [hit.ref for hit in hits]


@pytest.mark.parametrize(
    "texts",
    [
        ["The gateway timeout is 30 s", "The gateway timeout is 60 s"],
        ["The gateway timeout is 30 s, as agreed", "The timeout of the gateway is 60 s"],
        ["The timeout of the gateway is sixty", "The timeout of the gateway is sixty again, 60 s"],
        ["网关超时为 30 秒，重试三次。", "网关超时为 60 秒，重试三次。"],
    ],
)
@pytest.mark.parametrize("query", ["gateway timeout", "网关超时"])
def test_the_later_of_two_statements_comes_first(ada: Caller, texts: list[str], query: str) -> None:
    earlier, later = remember(ada, texts)
    refs = found(ada, query)
    assert not refs or refs == [later, earlier]


def test_of_three_the_latest_comes_first(ada: Caller) -> None:
    refs = remember(ada, [f"The gateway timeout is {seconds} s" for seconds in (30, 60, 90)])
    assert found(ada, "gateway timeout") == refs[::-1]


def test_what_answers_better_stays_first(ada: Caller) -> None:
    earlier, later = remember(
        ada, ["The gateway timeout is 30 s for uploads", "The gateway timeout is 60 s for downloads"]
    )
    assert found(ada, "gateway timeout of uploads") == [earlier, later]


def test_other_statements_keep_their_order(ada: Caller) -> None:
    """They have one word more than the other, and say something else."""
    earlier, later = remember(ada, ["The gateway timeout", "The gateway and its many doors and walls"])
    assert found(ada, "gateway") == [earlier, later]


def test_a_later_message_does_not_precede_a_decision(ada: Caller) -> None:
    with time_machine.travel(DAYS[0]):
        set_decision(caller=ada, key="gateway", value="The gateway timeout is 30 s")
    with time_machine.travel(DAYS[1]):
        send_message(caller=ada, text="gateway: The gateway timeout is 60 s")
    assert found(ada, "gateway timeout")[0] == "decision:gateway"
