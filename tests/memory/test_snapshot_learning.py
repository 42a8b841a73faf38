"""Predictions are decided after a day, kept for 90, and teach the weights of a project."""

import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine

from ctxhub.core.events.cleanup import cleanup
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from ctxhub.toolbox.dispatch import call
from memory.predictions import learning
from memory.predictions.models import PredictionOutcome, PredictionWeights
from memory.retention import clean_snapshots
from memory.snapshots.models import Snapshot
from memory.snapshots.reads import note_accesses
from tests.memory.saved import NOON, hours, saved, stored

Judge = Callable[[random.Random, float], bool]


@pytest.fixture(autouse=True)
def noon() -> Iterator[None]:
    with time_machine.travel(NOON, tick=False):
        yield


def predict(caller: Caller) -> dict[str, int]:
    scored: dict[str, int] = call(caller, "snapshot", {"action": "predict"})["scored"]
    return scored


def remember(project: Project, *, age: float, hit: bool | None = None, **values: Any) -> PredictionOutcome:
    parts = {"score": 0.5, "temporal": 0.5, "causal": 0.5, "frequency": 0.5, **values}
    return PredictionOutcome.unscoped.create(project=project, hit=hit, created_at=NOON - hours(age), **parts)


def history(project: Project, judge: Judge, count: int = 200) -> None:
    """Made-up outcomes of random parts; `judge` decides by the frequency whether one is a hit."""
    dice = random.Random(5)
    for n in range(count):
        temporal, causal, frequency = dice.random(), dice.random(), dice.random()
        remember(
            project,
            age=2_000 - n,
            hit=judge(dice, frequency),
            temporal=temporal,
            causal=causal,
            frequency=frequency,
        )


def by_frequency(dice: random.Random, frequency: float) -> bool:
    return frequency > 0.5


def by_chance(dice: random.Random, frequency: float) -> bool:
    return dice.random() < 0.45


def weights(project: Project) -> tuple[float, float, float] | None:
    found = PredictionWeights.objects.in_project(project).first()
    return (found.temporal, found.causal, found.frequency) if found else None


# -- Outcomes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("age", "hit"), [(23, None), (24, None), (24.1, False)])
def test_an_unread_snapshot_is_a_miss_after_its_day(ada: Caller, age: float, hit: bool | None) -> None:
    outcome = remember(ada.project, age=age, snapshot_id=saved(ada.project))
    clean_snapshots(ada.project_id, NOON, auto_prune=False)
    outcome.refresh_from_db()
    assert outcome.hit is hit


def test_a_late_decision_loses_no_hit(ada: Caller) -> None:
    """Read in time and once more after its day, before anything decided."""
    row_id = saved(ada.project)
    predict(ada)
    for later in (20, 30):
        note_accesses(ada, [row_id], NOON + hours(later))
    with time_machine.travel(NOON + hours(48), tick=False):
        assert predict(ada) == {"hits": 1, "misses": 0}


def test_a_read_after_the_day_is_a_miss(ada: Caller) -> None:
    row_id = saved(ada.project)
    predict(ada)
    note_accesses(ada, [row_id], NOON + hours(25))
    with time_machine.travel(NOON + hours(25), tick=False):
        assert predict(ada) == {"hits": 0, "misses": 1}


def test_a_prediction_of_a_deleted_snapshot_is_forgotten_undecided(ada: Caller) -> None:
    row_id = saved(ada.project)
    predict(ada)
    Snapshot.unscoped.get(pk=row_id).delete()
    clean_snapshots(ada.project_id, NOON + hours(25), auto_prune=False)
    assert not PredictionOutcome.unscoped.exists()


def test_a_decided_prediction_outlives_its_snapshot(ada: Caller) -> None:
    remember(ada.project, age=30, hit=True)
    clean_snapshots(ada.project_id, NOON, auto_prune=False)
    assert PredictionOutcome.unscoped.count() == 1


@pytest.mark.parametrize(("days", "kept"), [(89, True), (90, True), (91, False)])
def test_outcomes_are_kept_for_90_days(ada: Caller, days: int, kept: bool) -> None:
    remember(ada.project, age=24 * days, hit=True)
    clean_snapshots(ada.project_id, NOON, auto_prune=False)
    assert PredictionOutcome.unscoped.exists() is kept


def test_a_cleanup_decides_a_bounded_number(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "ROWS_AT_ONCE", 2)
    row_id = saved(ada.project)
    for _ in range(3):
        remember(ada.project, age=30, snapshot_id=row_id)
        remember(ada.project, age=9_999, hit=True)
    clean_snapshots(ada.project_id, NOON, auto_prune=False)
    assert PredictionOutcome.unscoped.filter(hit=False).count() == 2
    assert PredictionOutcome.unscoped.filter(hit=True).count() == 1


def test_a_refresh_decides_all_that_is_due(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "ROWS_AT_ONCE", 2)
    row_id = saved(ada.project)
    for _ in range(5):
        remember(ada.project, age=30, snapshot_id=row_id)
    assert predict(ada) == {"hits": 0, "misses": 5}


def test_outcomes_of_other_projects_stay_open(ada: Caller, cy: Caller) -> None:
    outcome = remember(cy.project, age=30, snapshot_id=saved(cy.project))
    predict(ada)
    cleanup(ada.project_id)
    outcome.refresh_from_db()
    assert outcome.hit is None


# -- Weights ---------------------------------------------------------------------------------------


def test_a_project_learns_that_frequency_alone_predicts(ada: Caller) -> None:
    history(ada.project, by_frequency)
    predict(ada)
    learned = PredictionWeights.unscoped.get()
    assert (learned.frequency, learned.samples) == (0.6, 200)
    assert learned.brier <= learned.baseline_brier - 0.005


def test_learned_weights_make_the_scores(ada: Caller) -> None:
    history(ada.project, by_frequency)
    row_id = saved(ada.project, age=48, read=24, access_count=100)
    predict(ada)
    row = stored(row_id)
    found = weights(ada.project)
    assert found
    assert row.prediction_score == pytest.approx(found[0] * 0.367879 + found[2], abs=1e-5)


def test_where_nothing_predicts_the_defaults_stay(ada: Caller) -> None:
    history(ada.project, by_chance, count=1_000)
    predict(ada)
    learned = PredictionWeights.unscoped.get()
    assert (weights(ada.project), learned.brier) == ((0.4, 0.3, 0.3), learned.baseline_brier)


def test_fewer_than_fifty_outcomes_teach_nothing(ada: Caller) -> None:
    history(ada.project, by_frequency, count=49)
    predict(ada)
    assert weights(ada.project) is None


def test_open_outcomes_teach_nothing(ada: Caller) -> None:
    history(ada.project, by_frequency, count=49)
    remember(ada.project, age=1)
    predict(ada)
    assert weights(ada.project) is None


def test_weights_are_given_up_with_their_outcomes(ada: Caller) -> None:
    history(ada.project, by_frequency)
    predict(ada)
    with time_machine.travel(NOON + timedelta(days=365), tick=False):
        predict(ada)
    assert weights(ada.project) is None


def test_learning_twice_changes_nothing(ada: Caller) -> None:
    history(ada.project, by_frequency)
    predict(ada)
    first = PredictionWeights.unscoped.get()
    with time_machine.travel(NOON + hours(1), tick=False):
        predict(ada)
    assert PredictionWeights.unscoped.get().created_at == first.created_at


def test_another_project_learns_nothing(ada: Caller, cy: Caller) -> None:
    history(cy.project, by_frequency)
    predict(ada)
    assert not PredictionWeights.unscoped.exists()


def test_learning_records_no_event(ada: Caller) -> None:
    history(ada.project, by_frequency)
    predict(ada)
    assert not Event.unscoped.exists()
