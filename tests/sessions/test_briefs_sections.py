"""What each section of a brief holds, and in which order."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.projects import create_project
from ctxhub.core.kit.caller import Caller
from ctxhub.core.text.token_count import count_tokens
from ctxhub.toolbox.dispatch import call
from memory.constraints.services import add_constraint, deactivate_constraint
from memory.decisions.services import deprecate_decision, set_decision
from memory.memories.services import add_memory, delete_memory
from memory.models import Snapshot
from memory.predictions.services import predict_snapshots
from messaging.messages.services import send_message
from sessions.briefs import candidates
from sessions.briefs.questions import ask
from sessions.sittings.restoring import restore_session
from sessions.sittings.services import save_session
from tests.memory import snapshots
from tests.sessions.briefs import brief, names, refs, rows_of
from tracking.changes.services import record_change
from tracking.leases.services import acquire_lease, release_leases

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ORDER = ["session", "constraints", "decisions", "messages", "leases", "changes", "memories", "snapshots"]


def texts(answer: dict[str, Any], section: str) -> list[str]:
    return [row[1] for row in rows_of(answer, section)]


def fill_all(ada: Caller, ben: Caller) -> None:
    """A row of each section."""
    save_session(caller=ada, summary="Login works.", items=[{"category": "next", "content": "Rate limit."}])
    add_constraint(caller=ben, category="security", text="No secrets in logs.", priority="high")
    set_decision(caller=ben, key="auth/method", value="Sessions in Redis.")
    send_message(caller=ben, text="Look at auth.", to=["ada", "ben"], priority="high", type="request")
    acquire_lease(caller=ben, paths=["src/auth/**"], reason="Rework.")
    record_change(caller=ben, path="src/auth/login.py", change="modified", description="Limits.")
    add_memory(caller=ben, title="Redis", content="Redis needs a password.")
    snapshots.save(ben, "Moved the sessions to Redis.")
    predict_snapshots(caller=ben)


# -- Shape -----------------------------------------------------------------------------------------


@time_machine.travel(NOON, tick=False)
def test_a_brief_has_a_section_for_each_kind(ada: Caller, ben: Caller) -> None:
    fill_all(ada, ben)
    answer = brief(ada)
    assert list(answer) == ["note", "sections", "tokens", "cursor", "mail"]
    assert names(answer) == ORDER
    assert all(section["columns"] == ["ref", "text", "by", "at"] for section in answer["sections"])
    assert {row[3] for section in answer["sections"] for row in section["rows"]} == {"2026-11-21"}
    assert texts(answer, "session") == ["Login works.", "next: Rate limit."]
    assert texts(answer, "constraints") == ["No secrets in logs."]
    assert texts(answer, "decisions") == ["Sessions in Redis."]
    assert texts(answer, "messages") == ["high request: Look at auth."]
    assert texts(answer, "leases") == ["until 12:15Z: src/auth/** (Rework.)"]
    assert texts(answer, "changes") == ["src/auth/login.py modified: Limits."]
    assert texts(answer, "memories") == ["Redis — Redis needs a password."]


def test_empty_sections_are_left_out(ada: Caller, ben: Caller) -> None:
    assert brief(ada)["sections"] == []
    record_change(caller=ben, path="a", change="created")
    assert names(brief(ada)) == ["changes"]


def test_refs_are_opened_by_get(ada: Caller, ben: Caller) -> None:
    fill_all(ada, ben)
    found = [row[0] for section in brief(ada)["sections"] for row in section["rows"]]
    opened = call(ada, "get", {"refs": sorted(set(found))})
    assert opened["missing"] == []
    assert len(opened["items"]) == len(set(found)) == 8


# -- Objects ---------------------------------------------------------------------------------------


def test_what_is_not_in_force_is_never_named(ada: Caller, ben: Caller) -> None:
    set_decision(caller=ben, key="old/redis", value="Redis in src/a.py.", paths=["src/a.py"])
    deprecate_decision(caller=ben, key="old/redis")
    set_decision(
        caller=ben, key="draft/redis", value="Redis in src/a.py.", status="draft", paths=["src/a.py"]
    )
    rule = add_constraint(caller=ben, category="c", text="Redis.", priority="critical", paths=["src/**"])
    deactivate_constraint(caller=ben, constraint_id=rule["id"])
    gone = add_memory(caller=ben, title="Redis", content="Redis in src/a.py.", paths=["src/a.py"])
    delete_memory(caller=ben, memory_id=gone["id"])
    for arguments in ({}, {"task": "Redis in src/a.py"}, {"since": "2h"}, {"since": "2h", "task": "Redis"}):
        assert brief(ada, **arguments)["sections"] == []


def test_without_a_task_the_newest_of_seven_days(ada: Caller, ben: Caller) -> None:
    for days in (8, 6, 1):
        with time_machine.travel(datetime.now(UTC) - timedelta(days=days)):
            set_decision(caller=ben, key=f"d{days}", value="v")
            add_memory(caller=ben, title=f"m{days}", content="c")
    answer = brief(ada)
    assert refs(answer, "decisions") == ["decision:d1", "decision:d6"]
    assert texts(answer, "memories") == ["m1 — c", "m6 — c"]


def test_with_a_task_what_matches_of_any_age(ada: Caller, ben: Caller) -> None:
    with time_machine.travel(datetime.now(UTC) - timedelta(days=400)):
        set_decision(caller=ben, key="auth/store", value="Sessions are kept in Redis.")
    set_decision(caller=ben, key="ui/color", value="Buttons are blue.")
    assert refs(brief(ada, "Where are sessions stored, Redis?"), "decisions") == ["decision:auth/store"]


def test_the_paths_of_a_task_count_as_matches(ada: Caller, ben: Caller) -> None:
    set_decision(caller=ben, key="a", value="Integers only.", paths=["src/shop/**"])
    set_decision(caller=ben, key="b", value="Floats.", paths=["src/other/**"])
    rule = add_constraint(
        caller=ben, category="c", text="Round last.", priority="low", paths=["src/shop/*.py"]
    )
    note = add_memory(caller=ben, title="Cents", content="All of it.", paths=["src/shop/"])
    answer = brief(ada, "Change ./src/shop/price.py.")
    assert refs(answer, "decisions")[0] == "decision:a"
    assert refs(answer, "constraints") == [f"constraint:{rule['id']}"]
    assert refs(answer, "memories") == [f"memory:{note['id']}"]


def test_critical_constraints_come_whatever_the_task_is(ada: Caller, ben: Caller) -> None:
    add_constraint(caller=ben, category="c", text="Buttons are blue.", priority="critical")
    for number in range(19):
        add_constraint(caller=ben, category="c", text=f"Redis sessions {number}.", priority="high")
    answer = brief(ada, "Redis sessions", budget_tokens=300)
    assert texts(answer, "constraints")[0] == "Buttons are blue."
    assert answer["omitted"]["constraints"] >= 1


def test_constraints_without_a_task_come_by_priority(ada: Caller, ben: Caller) -> None:
    for priority in ("low", "critical", "medium", "high"):
        add_constraint(caller=ben, category="c", text=f"{priority}.", priority=priority)
    assert texts(brief(ada), "constraints") == ["critical.", "high.", "medium.", "low."]


def test_long_texts_are_excerpts_around_the_words_of_the_task(ada: Caller, ben: Caller) -> None:
    filler = "Lorem ipsum dolor sit amet. " * 100
    add_memory(caller=ben, title="Notes", content=f"{filler}The quokka cache is warmed at start. {filler}")
    [text] = texts(brief(ada, "warm the quokka cache", budget_tokens=180), "memories")
    assert "quokka cache" in text
    assert count_tokens(text) <= 60


# -- Messages, leases, changes ---------------------------------------------------------------------


def test_messages_are_the_unread_ones_urgent_first(ada: Caller, ben: Caller) -> None:
    for priority in ("low", "high", "medium", "critical"):
        send_message(caller=ben, text=priority, to=["ada"], priority=priority)
    send_message(caller=ben, text="for Dee", to=["dee"], priority="critical")
    send_message(caller=ada, text="my own", priority="critical")
    found = texts(brief(ada), "messages")
    assert found == ["critical info: critical", "high info: high", "medium info: medium", "low info: low"]
    call(ada, "message", {"action": "read", "all": True})
    assert names(brief(ada)) == []


def test_leases_are_the_live_ones_of_others(ada: Caller, ben: Caller) -> None:
    acquire_lease(caller=ada, paths=["own/**"])
    gone = acquire_lease(caller=ben, paths=["gone/**"])
    release_leases(caller=ben, lease_id=gone["lease_id"])
    with time_machine.travel(datetime.now(UTC) - timedelta(hours=1)):
        acquire_lease(caller=ben, paths=["expired/**"], minutes=30)
    acquire_lease(caller=ben, paths=["shared/**", "b"], exclusive=False)
    [text] = texts(brief(ada), "leases")
    assert text.startswith("shared, until ")
    assert text.endswith("Z: b, shared/**")


def test_leases_on_the_paths_of_a_task_come_first(ada: Caller, ben: Caller) -> None:
    for path in ("a/**", "b/**", "c/**"):
        acquire_lease(caller=ben, paths=[path])
    assert "b/**" in texts(brief(ada, "Work in b/x.py"), "leases")[0]


def test_changes_are_the_last_ones_of_others_in_a_day(ada: Caller, ben: Caller) -> None:
    for hours, path in ((25, "old.py"), (23, "a.py"), (2, "b.py"), (1, "a.py")):
        with time_machine.travel(datetime.now(UTC) - timedelta(hours=hours)):
            record_change(caller=ben, path=path, change="modified", description=f"{hours}")
    record_change(caller=ada, path="own.py", change="modified")
    assert texts(brief(ada), "changes") == ["a.py modified: 1", "b.py modified: 2"]


def test_changes_of_the_paths_of_a_task_come_first(ada: Caller, ben: Caller) -> None:
    for path in ("a.py", "src/b.py", "c.py"):
        record_change(caller=ben, path=path, change="modified")
    assert texts(brief(ada, r"Work in src\b.py"), "changes")[0] == "src/b.py modified"


# -- Session ---------------------------------------------------------------------------------------


def test_the_session_is_the_callers_last_saved_one(ada: Caller, ben: Caller) -> None:
    save_session(caller=ada, summary="First.")
    last = save_session(caller=ada, summary="Second.", items=[{"category": "next", "content": "Third."}])
    save_session(caller=ben, summary="Of Ben.")
    for task in (None, "Anything"):
        assert rows_of(brief(ada, task), "session")[0][:3] == [f"session:{last['session']}", "Second.", "ada"]
    assert texts(brief(ben), "session") == ["Of Ben."]
    assert rows_of(brief(Caller(ada.project, "dee")), "session") == []


def test_a_restored_session_counts_as_the_last(ada: Caller, ben: Caller) -> None:
    saved = save_session(caller=ben, summary="Of Ben.")["session"]
    restored = restore_session(caller=ada, session=saved)["session"]
    found = rows_of(brief(ada), "session")
    assert all(row[0] == f"session:{restored}" for row in found)


def test_the_most_important_items_come_first(ada: Caller) -> None:
    items = [{"category": f"c{n}", "content": f"item {n}", "importance": n} for n in (3, 9, 5)]
    save_session(caller=ada, summary="Summary.", items=items)
    assert texts(brief(ada), "session") == ["Summary.", "c9: item 9", "c5: item 5", "c3: item 3"]


# -- Equal data ------------------------------------------------------------------------------------


def test_the_same_brief_twice(ada: Caller, ben: Caller) -> None:
    fill_all(ada, ben)
    for arguments in ({}, {"task": "Redis sessions in src/auth/login.py"}, {"since": "1h"}):
        assert brief(ada, **arguments) == brief(ada, **arguments)


@pytest.mark.parametrize("task", [None, "Keep cents in src/shop/price.py"])
def test_the_order_of_writes_at_one_time_does_not_matter(task: str | None, ben: Caller) -> None:
    items: list[Any] = [
        {"key": f"k{n}", "value": f"Cents {n % 3} of shop {n}", "paths": ["src/**"]} for n in range(9)
    ]
    found = []
    for slug, order in (("first", items), ("second", items[::-1])):
        with time_machine.travel(NOON, tick=False):
            caller = Caller(create_project(slug=slug), "ben")
            for item in order:
                set_decision(caller=caller, **item)
            found.append(brief(caller, task, budget_tokens=600)["sections"])
    assert found[0] == found[1] != []


# -- Predictions -------------------------------------------------------------------------------------


def predicted(caller: Caller, content: str, score: float) -> int:
    """A snapshot that is expected to be read with this score."""
    snapshot_id = snapshots.save(caller, content)
    Snapshot.objects.in_project(caller.project).filter(pk=snapshot_id).update(prediction_score=score)
    return snapshot_id


def scores(caller: Caller, task: str) -> dict[int, float]:
    question = ask(caller, task, datetime.now(UTC), 1_500)
    return {object_id: score for (_, object_id), score in candidates.snapshots(question).items()}


def test_a_prediction_counts_six_tenths_of_a_match(ada: Caller) -> None:
    """The best match counts 1, and a prediction of 1 as much as a match of 0.6."""
    match = predicted(ada, "Sessions in Redis.", 0.25)
    certain, likely = predicted(ada, "Prices.", 1.0), predicted(ada, "Letters.", 0.5)
    assert scores(ada, "Sessions in Redis") == pytest.approx({match: 1.0, certain: 0.6, likely: 0.3})


def test_the_greater_of_match_and_prediction_counts(ada: Caller) -> None:
    both = predicted(ada, "Sessions in Redis.", 1.0)
    assert scores(ada, "Sessions in Redis") == pytest.approx({both: 1.0})
    assert scores(ada, "Prices") == pytest.approx({both: 0.6})


def test_a_certain_prediction_comes_before_a_weak_match_in_a_brief(ada: Caller, ben: Caller) -> None:
    strong = predicted(ben, "Sessions in Redis.", 0.0)
    weak = predicted(ben, "Redis. " + "Prices are cents of the shop, letters are mailed by night. " * 20, 0.0)
    certain = predicted(ben, "Invoices.", 1.0)
    assert refs(brief(ada, "Sessions in Redis"), "snapshots") == [
        f"snapshot:{each}" for each in (strong, certain, weak)
    ]


# -- Queries ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", [None, "Keep Redis sessions in src/auth/login.py"])
@pytest.mark.parametrize("since", [None, "e0"])
def test_queries_do_not_grow_with_rows(task: str | None, since: str | None, ada: Caller, ben: Caller) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as captured:
            brief(ada, task, since=since, budget_tokens=20_000)
        return len(captured)

    fill_all(ada, ben)
    brief(ada, task)
    few = count()
    for number in range(30):
        dee = Caller(ben.project, f"dee{number}")
        set_decision(caller=dee, key=f"k{number}", value="Redis.", paths=["src/**", f"lib/{number}"])
        add_constraint(caller=dee, category="c", text=f"Redis {number}.", tags=["t"], paths=["src/auth/*"])
        add_memory(caller=dee, title=f"Redis {number}", content="Redis.", paths=["src/**"])
        send_message(caller=dee, text=f"Redis {number}", to=["ada"], priority="high")
        acquire_lease(caller=dee, paths=[f"lib/{number}/**"])
        record_change(caller=dee, path=f"src/auth/{number}.py", change="modified")
        snapshots.save(dee, f"Redis {number}")
    assert count() == few <= 32


# -- The session of another ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "is_named"),
    [
        ("Go on where ben stopped.", True),
        ("Take over Ben's work", True),
        ("Finish what is in session {}", True),
        ("See session:{} first", True),
        ("Go on with basket-work", True),
        ("Go on with the basket", False),
        ("Bend the rules in section {}", False),
    ],
)
def test_a_brief_shows_the_newest_saved_session_that_the_task_names(
    ada: Caller, ben: Caller, task: str, is_named: bool
) -> None:
    call(ben, "session", {"action": "save", "summary": "Older work."})
    saved = call(
        ben, "session", {"action": "save", "session": "basket-work", "summary": "The join is half done."}
    )
    own = call(ada, "session", {"action": "save", "summary": "Mine."})
    answer = call(ada, "brief", {"task": task.format(saved["session"])})
    [section] = [each for each in answer["sections"] if each["name"] == "session"]
    shown = [(row[0], row[1]) for row in section["rows"]]
    others = [(f"session:{saved['session']}", "The join is half done.")] if is_named else []
    assert shown == [*others, (f"session:{own['session']}", "Mine.")]


def test_a_brief_shows_no_session_of_another_project(ada: Caller, cy: Caller) -> None:
    saved = call(cy, "session", {"action": "save", "summary": "Secret work."})["session"]
    answer = call(ada, "brief", {"task": f"Go on where cy stopped, session:{saved}"})
    assert "Secret" not in str(answer)
