"""A read of a snapshot is counted, at most once a minute for each agent."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Event
from ctxhub.core.vocabulary.names import register_agent
from memory.predictions.models import PredictionOutcome
from memory.snapshots import reads
from memory.snapshots.models import Snapshot, Tier
from memory.snapshots.reads import note_accesses
from tests.memory.saved import NOON, hours, saved, stored
from tests.timing import PATIENCE_SECONDS

SECOND = timedelta(seconds=1)


@pytest.fixture(autouse=True)
def noon() -> Iterator[None]:
    with time_machine.travel(NOON, tick=False):
        yield


@pytest.fixture
def row_id(ada: Caller, ben: Caller) -> int:
    for caller in (ada, ben):
        register_agent(caller, NOON)
    return saved(ada.project, age=30)


def elsewhere() -> None:
    """What follows is served by another process."""
    reads._noted_at.clear()


def outcome(row_id: int, *, age: float = 0) -> PredictionOutcome:
    return PredictionOutcome.unscoped.create(
        project=stored(row_id).project,
        snapshot_id=row_id,
        score=0.5,
        temporal=0.5,
        causal=0.5,
        frequency=0.5,
        created_at=NOON - hours(age),
    )


def test_a_read_counts(ada: Caller, row_id: int) -> None:
    note_accesses(ada, [row_id], NOON)
    row = stored(row_id)
    assert (row.access_count, row.last_accessed, row.touched_at) == (1, NOON, NOON)
    assert row.last_accessed_by is not None
    assert (row.last_accessed_by.name, row.tier) == ("ada", Tier.ACTIVE)


def test_a_read_changes_nothing_else(ada: Caller, row_id: int) -> None:
    before, events = stored(row_id), Event.unscoped.count()
    note_accesses(ada, [row_id], NOON)
    assert stored(row_id).updated_at == before.updated_at
    assert Event.unscoped.count() == events


@pytest.mark.parametrize("same_process", [True, False])
def test_reads_of_an_agent_count_once_a_minute(ada: Caller, row_id: int, same_process: bool) -> None:
    for second in (0, 1, 59, 60, 61, 119, 120):
        note_accesses(ada, [row_id], NOON + second * SECOND)
        if not same_process:
            elsewhere()
    assert stored(row_id).access_count == 3


def test_reads_of_two_agents_both_count(ada: Caller, ben: Caller, row_id: int) -> None:
    note_accesses(ada, [row_id], NOON)
    note_accesses(ben, [row_id], NOON + SECOND)
    assert stored(row_id).access_count == 2


def test_agents_that_take_turns_count_once_a_minute_each(ada: Caller, ben: Caller, row_id: int) -> None:
    for second in range(20):
        note_accesses((ada, ben)[second % 2], [row_id], NOON + second * SECOND)
    assert stored(row_id).access_count == 2


def test_an_agent_is_the_same_in_any_case(ada: Caller, row_id: int) -> None:
    note_accesses(ada, [row_id], NOON)
    elsewhere()
    note_accesses(Caller(project=ada.project, agent="ADA"), [row_id], NOON + SECOND)
    assert stored(row_id).access_count == 1


def test_an_agent_that_is_not_registered_yet_counts(ada: Caller) -> None:
    row_id = saved(ada.project)
    note_accesses(ada, [row_id], NOON)
    note_accesses(ada, [row_id], NOON + SECOND)
    assert (stored(row_id).access_count, stored(row_id).last_accessed_by) == (1, None)


def test_a_snapshot_named_twice_counts_once(ada: Caller, row_id: int) -> None:
    other = saved(ada.project)
    note_accesses(ada, [row_id, other, row_id], NOON)
    assert [stored(n).access_count for n in (row_id, other)] == [1, 1]


def test_of_several_snapshots_only_those_due_count(ada: Caller, row_id: int) -> None:
    other = saved(ada.project)
    note_accesses(ada, [row_id], NOON)
    note_accesses(ada, [row_id, other], NOON + SECOND)
    assert [stored(n).access_count for n in (row_id, other)] == [1, 1]


def test_a_stranger_counts_nothing(cy: Caller, row_id: int) -> None:
    note_accesses(cy, [row_id], NOON)
    assert stored(row_id).access_count == 0


@pytest.mark.parametrize("ids", [[], [10**9]])
def test_what_does_not_exist_is_not_counted(ada: Caller, ids: list[int]) -> None:
    note_accesses(ada, ids, NOON)
    assert not Snapshot.objects.in_project(ada.project).exists()


def test_many_reads_take_as_many_statements_as_one(ada: Caller, row_id: int) -> None:
    many = [saved(ada.project) for _ in range(9)]
    counts = []
    for ids in ([row_id], many):
        with CaptureQueriesContext(connection) as queries:
            note_accesses(ada, ids, NOON)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 4


def test_repeated_reads_take_no_statement(ada: Caller, row_id: int) -> None:
    note_accesses(ada, [row_id], NOON)
    with CaptureQueriesContext(connection) as queries:
        note_accesses(ada, [row_id], NOON + SECOND)
    assert not queries.captured_queries


# -- Predictions that come true --------------------------------------------------------------------


@pytest.mark.parametrize(("age", "hit"), [(0, True), (23.9, True), (24, True), (24.1, None)])
def test_a_read_within_a_day_makes_a_prediction_a_hit(
    ada: Caller, row_id: int, age: float, hit: bool | None
) -> None:
    prediction = outcome(row_id, age=age)
    note_accesses(ada, [row_id], NOON)
    prediction.refresh_from_db()
    assert prediction.hit is hit


def test_a_read_before_a_prediction_makes_no_hit(ada: Caller, row_id: int) -> None:
    prediction = outcome(row_id, age=-1)
    note_accesses(ada, [row_id], NOON)
    prediction.refresh_from_db()
    assert prediction.hit is None


def test_a_read_makes_no_hit_of_another_snapshots_prediction(ada: Caller, row_id: int) -> None:
    prediction = outcome(saved(ada.project))
    note_accesses(ada, [row_id], NOON)
    prediction.refresh_from_db()
    assert prediction.hit is None


# -- Other writers ---------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_read_waits_for_no_writer(ada: Caller) -> None:
    """On SQLite there is one writer at a time; on PostgreSQL only the lock of the row itself matters."""
    row_id = saved(ada.project)
    locked, done = threading.Event(), threading.Event()

    def write() -> None:
        with write_transaction(ada.project_id):
            Snapshot.unscoped.filter(pk=row_id).update(summary="changed")
            locked.set()
            done.wait(PATIENCE_SECONDS)
        connection.close()

    thread = threading.Thread(target=write)
    thread.start()
    assert locked.wait(PATIENCE_SECONDS)
    note_accesses(ada, [row_id], NOON)
    done.set()
    thread.join()
    assert stored(row_id).access_count == 0
    if connection.vendor == "sqlite":
        note_accesses(ada, [row_id], NOON)
        assert stored(row_id).access_count == 1, "the next read counts"


@pytest.mark.django_db(transaction=True)
def test_a_read_counts_beside_a_writer_of_other_rows_on_postgres(ada: Caller) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time.")
    row_id, other = saved(ada.project), saved(ada.project)
    locked, done = threading.Event(), threading.Event()

    def write() -> None:
        with write_transaction(ada.project_id):
            Snapshot.unscoped.filter(pk=other).update(summary="changed")
            locked.set()
            done.wait(PATIENCE_SECONDS)
        connection.close()

    thread = threading.Thread(target=write)
    thread.start()
    assert locked.wait(PATIENCE_SECONDS)
    note_accesses(ada, [row_id, other], NOON)
    done.set()
    thread.join()
    assert [stored(n).access_count for n in (row_id, other)] == [1, 0]


def test_a_failing_database_fails_no_read(ada: Caller, row_id: int) -> None:
    with connection.execute_wrapper(_refuse):
        note_accesses(ada, [row_id], NOON)
    note_accesses(ada, [row_id], NOON)
    assert stored(row_id).access_count == 1


def _refuse(execute: Callable[..., Any], statement: str, *rest: Any) -> Any:
    if statement.lstrip().startswith("UPDATE"):
        raise OperationalError("disk I/O error")
    return execute(statement, *rest)
