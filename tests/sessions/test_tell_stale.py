"""Agents that were given a decision hear when it changes."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.config import set_config
from ctxhub.core.events import cleanup
from ctxhub.core.kit import clock as hub_clock
from ctxhub.core.kit.caller import Caller, Window, acting
from ctxhub.toolbox.dispatch import call
from memory.decisions.history import HISTORY
from memory.decisions.services import deprecate_decision, set_decision_batch
from memory.models import Decision
from messaging.models import Message, MessageType
from sessions.given.services import WRITER
from sessions.sittings.restoring import restore_session
from sessions.sittings.services import save_session
from tests.sessions.given import KEY, REF, decide, read, told

NOON = "2026-03-02T12:00:00+00:00"


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as frozen:
        yield frozen


@pytest.fixture
def eve(ada: Caller) -> Caller:
    eve = replace(ada, agent="eve")
    call(eve, "hub", {})
    return eve


@pytest.fixture
def given(ada: Caller, ben: Caller, eve: Caller, clock: time_machine.Traveller) -> None:
    """Ben was given a decision of Ada's; Eve was not."""
    decide(ada)
    read(ben)
    clock.shift(60)


pytestmark = pytest.mark.usefixtures("given")


def test_who_was_given_a_decision_hears_what_changed(ada: Caller, ben: Caller, eve: Caller) -> None:
    decide(ada, "sessions")
    [message] = Message.objects.in_project(ada.project)
    assert (message.sender.name, message.type, message.priority) == ("ada", MessageType.DECISION, 2)
    assert message.payload == {"ref": REF, "was": "1.0.0", "now": "1.0.1"}
    text = f"{REF} changed from 1.0.0 to 1.0.1: JWT is now sessions. Read it: get {REF}"
    assert told(ben) == [text]
    assert told(eve) == told(ada) == []


def test_each_version_is_told_once(ada: Caller, ben: Caller) -> None:
    decide(ada, "sessions")
    decide(ada, "sessions", rationale="They can be revoked.")
    assert len(told(ben)) == 1
    decide(ada, "cookies")
    assert len(told(ben)) == 2


def test_a_brief_counts_as_given(ada: Caller, eve: Caller) -> None:
    call(eve, "brief", {})
    WRITER.flush()
    decide(ada, "sessions")
    assert len(told(eve)) == 1


def test_the_changer_is_not_told(ben: Caller) -> None:
    decide(ben, "sessions")
    assert told(ben) == []


def test_nobody_is_told_where_the_project_does_not_want_it(ada: Caller, ben: Caller) -> None:
    set_config(caller=ada, values={"tell_stale": False})
    decide(ada, "sessions")
    assert told(ben) == []


@pytest.mark.parametrize("rest", [{"rationale": "So."}, {"tags": ["api"]}, {"version": "2.0.0"}])
def test_only_a_new_value_is_told(ada: Caller, ben: Caller, rest: dict[str, Any]) -> None:
    decide(ada, "JWT", **rest)
    assert told(ben) == []


def test_a_number_for_the_same_text_is_a_new_value(ada: Caller, ben: Caller) -> None:
    decide(ada, "5", key="limit")
    read(ben, "decision:limit")
    decide(ada, 5, key="limit")
    assert len(told(ben)) == 1


def test_a_deprecation_is_told_once(ada: Caller, ben: Caller) -> None:
    for _ in range(2):
        deprecate_decision(caller=ada, key=KEY, reason="No revocation.")
        decide(ada, status="active")
    [message] = Message.objects.in_project(ada.project)
    assert message.payload == {"ref": REF, "was": "1.0.0", "now": "deprecated"}
    assert told(ben) == [f"{REF} (1.0.0) is deprecated: No revocation. Read it: get {REF}"]


def test_a_batch_is_one_message(ada: Caller, ben: Caller, eve: Caller) -> None:
    decide(ada, "PostgreSQL", key="db")
    decide(ada, "none", key="cache")
    read(ben, "decision:db")
    read(eve, "decision:db")
    items = [{"key": key, "value": "new"} for key in (KEY, "db", "cache")]
    set_decision_batch(caller=ada, items=items)
    [to_ben, to_eve] = Message.objects.in_project(ada.project).order_by("deliveries__folded")
    payload = {"was": "1.0.0", "now": "1.0.1"}
    assert to_ben.payload == [{"ref": REF, **payload}, {"ref": "decision:db", **payload}]
    assert to_eve.payload == {"ref": "decision:db", **payload}
    assert len(to_ben.text.splitlines()) == 2


def test_at_most_fifty_agents_are_told(ada: Caller) -> None:
    for n in range(52):
        call(replace(ada, agent=f"a{n}"), "get", {"refs": [REF]})
    WRITER.flush()
    decide(ada, "sessions")
    assert Message.objects.in_project(ada.project).count() == 50


def test_an_import_tells_nobody(ada: Caller, ben: Caller) -> None:
    [row] = HISTORY.table.find(ada.project_id, ("d.key = %s", [KEY]))
    new = replace(row, value="imported", version="1.0.1", agent_id=None)
    change = HISTORY.change(row, new)
    HISTORY.record(project_id=ada.project_id, agent_id=None, changes=[change], at=hub_clock.now())
    assert told(ben) == []


def test_a_save_through_the_orm_tells(ada: Caller, ben: Caller) -> None:
    decision = Decision.objects.in_project(ada.project).get()
    decision.value = "sessions"
    with acting(ada):
        decision.save()
    assert len(told(ben)) == 1


def test_another_project_hears_nothing(ada: Caller, cy: Caller) -> None:
    decide(cy)
    read(cy)
    decide(ada, "sessions")
    assert told(cy) == []


def test_a_value_that_looks_like_a_credential_is_not_repeated(ada: Caller, ben: Caller) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    decide(replace(ada, keeps_secrets=True), secret)
    assert told(ben) == [f"{REF} changed from 1.0.0 to 1.0.1. Read it: get {REF}"]


def test_long_values_are_cut_to_a_line(ada: Caller, ben: Caller) -> None:
    decide(ada, "first\nsecond " + "x" * 500)
    [text] = told(ben)
    assert len(text.splitlines()) == 1
    assert len(text) < 250


# -- Sessions --------------------------------------------------------------------------------------


def test_what_was_given_in_an_earlier_session_is_not_told(
    ada: Caller, ben: Caller, clock: time_machine.Traveller
) -> None:
    save_session(caller=ben, summary="x")
    read(ben)
    clock.shift(60)
    save_session(caller=ben, summary="y")
    decide(ada, "sessions")
    assert told(ben) == []


def test_a_restore_ends_what_was_before(ada: Caller, ben: Caller, clock: time_machine.Traveller) -> None:
    save_session(caller=ben, summary="x")
    read(ben)
    clock.shift(60)
    restore_session(caller=ben)
    decide(ada, "sessions")
    assert told(ben) == []


def test_the_first_session_owns_what_was_given_before_it(
    ada: Caller, ben: Caller, clock: time_machine.Traveller
) -> None:
    save_session(caller=ben, summary="x")
    clock.shift(60)
    decide(ada, "sessions")
    assert len(told(ben)) == 1


def test_another_named_session_ends_the_one_before(
    ada: Caller, eve: Caller, clock: time_machine.Traveller
) -> None:
    decide(ada, "x", key="other")
    read(replace(eve, session="one"))
    clock.shift(60)
    read(replace(eve, session="two"), "decision:other")
    clock.shift(60)
    decide(ada, "sessions")
    assert told(eve) == []


def test_a_session_that_is_opened_under_its_name_later_is_the_same(
    ada: Caller, eve: Caller, clock: time_machine.Traveller
) -> None:
    read(replace(eve, session="one"))
    clock.shift(60)
    save_session(caller=eve, session="one", summary="x")
    decide(ada, "sessions")
    assert len(told(eve)) == 1


def test_two_windows_side_by_side_are_both_current(
    ada: Caller, eve: Caller, clock: time_machine.Traveller
) -> None:
    decide(ada, "x", key="other")
    for name, ref in (("one", REF), ("two", "decision:other"), ("one", REF), ("two", "decision:other")):
        read(replace(eve, session=name), ref)
        clock.shift(60)
    decide(ada, "sessions")
    assert len(told(eve)) == 1


def test_a_session_of_two_days_ago_is_over(ada: Caller, ben: Caller, clock: time_machine.Traveller) -> None:
    clock.shift(timedelta(days=2))
    decide(ada, "sessions")
    assert told(ben) == []


def test_on_stdio_the_window_counts(ada: Caller, eve: Caller, clock: time_machine.Traveller) -> None:
    window = Window()
    read(replace(eve, window=window))
    clock.shift(60)
    save_session(caller=replace(eve, window=window), summary="x")
    decide(ada, "sessions")
    assert len(told(eve)) == 1


# -- A change before the record ---------------------------------------------------------------------


def test_a_change_between_answer_and_record_is_told(
    ada: Caller, ben: Caller, eve: Caller, clock: time_machine.Traveller
) -> None:
    call(eve, "get", {"refs": [REF]})
    decide(ada, "sessions")
    assert told(eve) == []
    WRITER.flush()
    assert told(eve) == told(ben) != []


def test_it_is_told_once_also_then(ada: Caller, ben: Caller) -> None:
    call(ben, "get", {"refs": [REF]})
    decide(ada, "sessions")
    WRITER.flush()
    assert len(told(ben)) == 1


def test_a_deprecation_between_answer_and_record_is_told(
    ada: Caller, eve: Caller, clock: time_machine.Traveller
) -> None:
    call(eve, "get", {"refs": [REF]})
    clock.shift(1)
    deprecate_decision(caller=ada, key=KEY)
    WRITER.flush()
    assert told(eve) == [f"{REF} (1.0.0) is deprecated. Read it: get {REF}"]


def test_who_was_given_the_new_value_hears_nothing(ada: Caller, eve: Caller) -> None:
    decide(ada, "sessions")
    read(eve)
    assert told(eve) == []


# -- Cost ------------------------------------------------------------------------------------------


def statements(caller: Caller, value: str, key: str = KEY) -> list[str]:
    cleanup._cleaned[caller.project_id] = (hub_clock.now(), cleanup.EVERY)
    with CaptureQueriesContext(connection) as queries:
        decide(caller, value, key=key)
    return [found["sql"] for found in queries if "briefing" in found["sql"]]


def test_a_change_of_what_nobody_was_given_looks_once(ada: Caller) -> None:
    decide(ada, "x", key="other")
    assert len(statements(ada, "y", key="other")) == 1


def test_a_new_decision_looks_for_nobody(ada: Caller) -> None:
    assert statements(ada, "x", key="other") == []


def test_many_readers_take_as_many_statements_as_one(ada: Caller) -> None:
    counts = []
    for value, count in (("a", 1), ("b", 20)):
        for n in range(count):
            call(replace(ada, agent=f"a{n}"), "get", {"refs": [REF]})
        WRITER.flush()
        cleanup._cleaned[ada.project_id] = (hub_clock.now(), cleanup.EVERY)
        with CaptureQueriesContext(connection) as queries:
            decide(ada, value)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_the_message_can_be_read_as_any_other(ben: Caller, ada: Caller) -> None:
    decide(ada, "sessions")
    [item] = call(ben, "message", {"action": "inbox", "format": "objects"})["items"]
    assert (item["from"], item["type"], item["payload"]["now"]) == ("ada", "decision", "1.0.1")
