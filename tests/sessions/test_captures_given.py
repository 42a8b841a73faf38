"""A text that an agent was just given is not captured."""

from datetime import timedelta

import time_machine

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from memory.capture.services import capture
from tests.memory.test_captures_service import DECISION_TEXT
from tests.sessions.given import REF, decide, read


def test_what_an_agent_said_and_just_read_is_not_captured(ada: Caller) -> None:
    decide(ada, DECISION_TEXT)
    read(ada)
    answer = capture(caller=ada, content=DECISION_TEXT)
    assert (answer["saved"], answer["duplicate_of"]) == (False, REF)


def test_what_an_agent_said_itself_is_captured(ada: Caller, ben: Caller) -> None:
    decide(ada, DECISION_TEXT)
    read(ben)
    assert capture(caller=ada, content=DECISION_TEXT)["saved"]


def test_what_it_read_hours_ago_is_captured(ada: Caller) -> None:
    decide(ada, DECISION_TEXT)
    with time_machine.travel(clock.now() - timedelta(hours=2)):
        read(ada)
    assert capture(caller=ada, content=DECISION_TEXT)["saved"]
