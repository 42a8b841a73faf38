"""Who wrote a version counts as given it: the author hears when another changes it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection, transaction
from django.test import TestCase
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.config import set_config
from ctxhub.core.events import cleanup
from ctxhub.core.kit.caller import Caller, Window, acting
from ctxhub.toolbox.dispatch import call
from memory.constraints.services import add_constraint
from memory.decisions.services import (
    change_decision,
    delete_decision,
    deprecate_decision,
    quick_set_decision,
    replace_decision,
    set_decision_batch,
)
from memory.memories.services import add_memory
from memory.models import Decision
from messaging.models import Message
from sessions.given.models import Writing
from sessions.given.services import WRITER
from sessions.nudges.services import nudge
from sessions.sittings.restoring import restore_session
from sessions.sittings.services import save_session
from tests.core.stale import change, write_rows
from tests.hub import McpClient, RestClient
from tests.periodic import prevent_periodic_work
from tests.sessions.given import KEY, REF, decide, items, read, recorded, told, written

NOON = "2026-03-02T12:00:00+00:00"
CHANGED = f"{REF} changed from 1.0.0 to 1.0.1: JWT is now sessions. Read it: get {REF}"


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as frozen:
        yield frozen


@pytest.fixture
def decided(ada: Caller, clock: time_machine.Traveller) -> None:
    """Ada wrote a decision a minute ago."""
    with recorded():
        decide(ada)
    clock.shift(60)


def set_through_the_orm(caller: Caller) -> None:
    decision = Decision.objects.in_project(caller.project).get()
    decision.value = "sessions"
    with acting(caller):
        decision.save()


@pytest.mark.usefixtures("decided")
def test_the_author_hears_what_changed(ada: Caller, ben: Caller) -> None:
    decide(ben, "sessions")
    [message] = Message.objects.in_project(ada.project)
    assert message.payload == {"ref": REF, "was": "1.0.0", "now": "1.0.1"}
    assert message.sender.name == "ben"
    assert (told(ada), told(ben)) == ([CHANGED], [])


@pytest.mark.usefixtures("decided")
@pytest.mark.parametrize(
    "write",
    [
        lambda ben: set_decision_batch(caller=ben, items=[{"key": KEY, "value": "sessions"}]),
        lambda ben: quick_set_decision(caller=ben, key=KEY, value="sessions"),
        lambda ben: change_decision(caller=ben, key=KEY, value="sessions"),
        lambda ben: replace_decision(caller=ben, key=KEY, value="sessions"),
        set_through_the_orm,
    ],
    ids=["batch", "quick_set", "PATCH", "PUT", "ORM"],
)
def test_every_write_of_another_is_told(ada: Caller, ben: Caller, write: Callable[[Caller], Any]) -> None:
    write(ben)
    assert told(ada) == [CHANGED]


@pytest.mark.usefixtures("decided")
def test_a_deprecation_by_another_is_told(ada: Caller, ben: Caller) -> None:
    deprecate_decision(caller=ben, key=KEY, reason="No revocation.")
    assert told(ada) == [f"{REF} (1.0.0) is deprecated: No revocation. Read it: get {REF}"]


@pytest.mark.usefixtures("decided")
def test_who_overwrites_their_own_is_not_told(ada: Caller) -> None:
    decide(ada, "sessions")
    deprecate_decision(caller=ada, key=KEY)
    assert told(ada) == []


@pytest.mark.usefixtures("decided")
@pytest.mark.parametrize("rest", [{"rationale": "So."}, {"tags": ["api"]}, {"paths": ["src/**"]}])
def test_what_keeps_the_value_is_not_told(ada: Caller, ben: Caller, rest: dict[str, Any]) -> None:
    decide(ben, "JWT", **rest)
    assert told(ada) == []


@pytest.mark.usefixtures("decided")
def test_a_deletion_is_told_no_more_than_to_readers(ada: Caller, ben: Caller) -> None:
    eve = replace(ada, agent="eve")
    read(eve)
    delete_decision(caller=ben, key=KEY)
    assert told(ada) == told(eve) == []


@pytest.mark.usefixtures("decided")
def test_the_authors_of_all_versions_hear_each_later_one(ada: Caller, ben: Caller) -> None:
    cy, eve = replace(ada, agent="cy"), replace(ada, agent="eve")
    with recorded():
        decide(ben, "sessions")
    with recorded():
        decide(cy, "cookies")
    decide(eve, "sessions")
    assert [len(told(caller)) for caller in (ada, ben, cy, eve)] == [3, 2, 1, 0]


@pytest.mark.usefixtures("decided")
def test_who_changed_a_tag_hears_of_the_value(ada: Caller, ben: Caller) -> None:
    with recorded():
        decide(ben, "JWT", tags=["api"])
    decide(replace(ada, agent="eve"), "sessions")
    assert told(ada) == told(ben) == [CHANGED]


@pytest.mark.usefixtures("decided")
@pytest.mark.parametrize("switch", ["tell_stale", "record_given"])
def test_nobody_is_told_where_the_project_does_not_want_it(ada: Caller, ben: Caller, switch: str) -> None:
    set_config(caller=ada, values={switch: False})
    decide(ben, "sessions")
    assert told(ada) == []


@pytest.mark.usefixtures("decided")
def test_an_author_who_writes_it_again_is_not_nudged(ada: Caller, ben: Caller) -> None:
    decide(ben, "sessions")
    assert REF in nudge(caller=ada)["text"]
    decide(ben, "cookies")
    decide(ada, "JWT")
    assert REF not in nudge(caller=ada)["text"]


# -- Sessions --------------------------------------------------------------------------------------


def test_what_was_written_in_an_earlier_session_is_not_told(
    ada: Caller, ben: Caller, clock: time_machine.Traveller
) -> None:
    save_session(caller=ada, summary="x")
    with recorded():
        decide(ada)
    clock.shift(60)
    restore_session(caller=ada)
    decide(ben, "sessions")
    assert told(ada) == []


def test_a_session_in_which_the_author_only_writes_stays_current(
    ada: Caller, ben: Caller, clock: time_machine.Traveller
) -> None:
    """The second window began before the last write of the first one."""
    for session, key in (("one", KEY), ("two", "other"), ("one", "third")):
        with recorded(), acting(replace(ada, session=session)):
            decide(ada, key=key)
        clock.shift(60)
    assert [session for _, _, session in written(ada)] == ["one", "two", "one"]
    decide(ben, "sessions")
    assert told(ada) == [CHANGED]


def test_a_session_begins_with_its_first_write(
    ada: Caller, ben: Caller, clock: time_machine.Traveller
) -> None:
    """Only the last write of a thing is kept, but when the session began is, too."""
    for session, key in (("two", "other"), ("one", KEY), ("two", "other")):
        with recorded(), acting(replace(ada, session=session)):
            decide(ada, value=session, key=key)
            decide(ada, value=f"{session} again", key=key)
        clock.shift(60)
    assert Writing.objects.in_project(ada.project).count() == 2
    decide(ben, "sessions")
    assert len(told(ada)) == 1


def test_a_version_of_two_days_ago_is_not_told(
    ada: Caller, ben: Caller, clock: time_machine.Traveller
) -> None:
    with recorded():
        decide(ada)
    clock.shift(timedelta(days=2))
    decide(ben, "sessions")
    assert told(ada) == []


def test_on_stdio_the_window_counts(ada: Caller, ben: Caller, clock: time_machine.Traveller) -> None:
    window = Window()
    with recorded(), acting(replace(ada, window=window)):
        decide(ada)
    clock.shift(60)
    save_session(caller=replace(ada, window=window), summary="x")
    decide(ben, "sessions")
    assert told(ada) == [CHANGED]


# -- The record --------------------------------------------------------------------------------------


def set_by_call(caller: Caller, value: str, key: str = KEY) -> None:
    call(caller, "decision", {"action": "set", "key": key, "value": value})


def test_an_author_is_told_before_the_write_is_recorded(ada: Caller, ben: Caller) -> None:
    set_by_call(ada, "JWT")
    set_by_call(ben, "sessions")
    assert told(ada) == [CHANGED]
    assert Writing.objects.in_project(ada.project).count() == 0


def test_a_script_tells_once_it_is_recorded(ada: Caller, ben: Caller) -> None:
    with recorded():
        decide(ada)
        decide(ben, "sessions")
        assert told(ada) == []
    assert told(ada) == [CHANGED]


def test_it_is_told_once_also_then(ada: Caller, ben: Caller) -> None:
    with recorded():
        set_by_call(ada, "JWT")
        set_by_call(ben, "sessions")
    assert told(ada) == [CHANGED]


def test_what_two_others_change_before_the_record_is_told(ada: Caller, ben: Caller) -> None:
    with recorded():
        set_by_call(ada, "JWT")
        set_by_call(ben, "sessions")
        set_by_call(replace(ada, agent="eve"), "cookies")
        assert len(told(ada)) == 1
    assert len(told(ada)) == 2


def test_a_record_that_was_lost_is_made_up_for_during_a_day(
    ada: Caller, ben: Caller, clock: time_machine.Traveller
) -> None:
    for key in (KEY, "other"):
        set_by_call(ada, "JWT", key)
    clock.shift(timedelta(hours=23))
    set_by_call(ben, "sessions")
    clock.shift(timedelta(hours=2))
    set_by_call(ben, "sessions", "other")
    assert told(ada) == [CHANGED]


def test_what_is_rolled_back_was_not_written(ada: Caller) -> None:
    with recorded(), transaction.atomic():
        decide(ada)
        transaction.set_rollback(True)
    assert written(ada) == []


def test_decisions_constraints_and_memories_are_recorded(ada: Caller, clock: time_machine.Traveller) -> None:
    with recorded():
        decide(ada)
        decide(ada, "sessions")
        memory = add_memory(caller=ada, title="Login", content="It limits.", context="shop")
        add_constraint(caller=ada, category="style", text="No tabs.")
        call(ada, "memory", {"action": "update", "id": memory["id"], "content": "It locks."})
    assert written(ada) == [("decision", "1.0.1", ""), ("memory", "2", ""), ("constraint", "", "")]


def test_a_write_is_no_answer(ada: Caller) -> None:
    """Pages that say who was given what, and what nobody was given, are about answers."""
    with recorded():
        decide(ada)
    assert items(ada) == []


def test_nothing_is_recorded_where_the_project_does_not_want_it(ada: Caller) -> None:
    set_config(caller=ada, values={"record_given": False})
    with recorded():
        decide(ada)
    assert written(ada) == []


def test_old_records_are_deleted(ada: Caller, clock: time_machine.Traveller) -> None:
    with recorded():
        decide(ada)
    for days, count in ((89, 1), (2, 0)):
        clock.shift(timedelta(days=days))
        cleanup.cleanup(ada.project_id)
        assert len(written(ada)) == count


# -- Stale -----------------------------------------------------------------------------------------


def test_the_author_is_nudged_of_what_became_stale(ada: Caller, ben: Caller) -> None:
    with recorded():
        refs = write_rows(ada, ["src/auth/**"])
    change(ben, "src/auth/login.py", hours=1)
    told_of = "".join(nudge(caller=ada)["text"] for _ in refs)
    assert [told_of.count(f"{ref} may be out of date") for ref in refs] == [1, 1, 1]


# -- Cost ------------------------------------------------------------------------------------------


def test_a_write_takes_no_statement_more(ada: Caller) -> None:
    decide(ada, 1)
    counts = []
    for record in (True, False):
        set_config(caller=ada, values={"record_given": record})
        decide(ada, 2)
        prevent_periodic_work(ada)
        with CaptureQueriesContext(connection) as queries:
            decide(ada, 1)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_many_writes_are_recorded_with_as_many_statements_as_one(ada: Caller) -> None:
    for n in range(20):
        call(replace(ada, agent=f"a{n}"), "hub", {})
    counts = []
    for count in (1, 20):
        with TestCase.captureOnCommitCallbacks(execute=True):
            for n in range(count):
                caller = replace(ada, agent=f"a{n}", session=f"s{n}")
                batch = [{"key": f"k{n}/{m}", "value": count} for m in range(count)]
                call(caller, "decision", {"action": "set_batch", "items": batch})
        with CaptureQueriesContext(connection) as queries:
            WRITER.flush()
        assert Writing.objects.in_project(ada.project).count() >= count
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_many_authors_take_as_many_statements_as_one(ada: Caller, ben: Caller) -> None:
    counts = []
    for count in (1, 20):
        with recorded():
            batch = [{"key": f"{count}/{n}", "value": "x"} for n in range(count)]
            for n in range(count):
                set_decision_batch(caller=replace(ada, agent=f"a{n}"), items=batch[n : n + 1])
        call(ben, "hub", {})
        prevent_periodic_work(ben)
        with CaptureQueriesContext(connection) as queries:
            set_decision_batch(caller=ben, items=[{**item, "value": "y"} for item in batch])
        counts.append(len(queries))
    assert counts[0] == counts[1]


# -- Faces -------------------------------------------------------------------------------------------


def test_the_author_hears_over_mcp_and_rest(
    ada_mcp: McpClient, ada_rest: RestClient, ben_mcp: McpClient, ben_rest: RestClient
) -> None:
    ada_mcp.call("decision", "set", key="by/mcp", value="one")
    assert ada_rest.post("decisions/", {"key": "by/rest", "value": "one"}).status == 201
    assert ben_rest.patch("decisions/by/mcp/", {"value": "two"}).status == 200
    ben_mcp.call("decision", "set", key="by/rest", value="two")
    heard = {row["payload"]["ref"] for row in ada_rest.get("messages/").body["items"]}
    assert heard == {"decision:by/mcp", "decision:by/rest"}
    WRITER.flush()
    assert len(ada_mcp.call("message", "inbox")["rows"]) == 2
    assert "decision:by/rest" in ada_rest.get("nudge/").body["text"]
