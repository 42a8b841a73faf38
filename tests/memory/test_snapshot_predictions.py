"""Predictions are refreshed when they are stale, kept with their reasons, and listed best first."""

from collections.abc import Iterator
from datetime import timedelta
from hashlib import sha256
from io import StringIO
from typing import Any

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotAllowed
from ctxhub.core.models import Event, Project
from ctxhub.toolbox.dispatch import call
from memory.predictions import services
from memory.predictions.models import PredictionOutcome
from memory.predictions.predictions import find_stale, list_best, prediction_of
from memory.predictions.services import predict_snapshots
from memory.snapshots.models import ActionType, Snapshot
from memory.snapshots.rows import SNAPSHOTS
from tests.hub import RestClient
from tests.memory.saved import NOON, hours, saved, stored


@pytest.fixture(autouse=True)
def noon() -> Iterator[None]:
    with time_machine.travel(NOON, tick=False):
        yield


def predict(caller: Caller, **arguments: Any) -> int:
    refreshed: int = call(caller, "snapshot", {"action": "predict", **arguments})["refreshed"]
    return refreshed


def prefetch(caller: Caller, **arguments: Any) -> dict[str, Any]:
    return call(caller, "snapshot", {"action": "prefetch", "format": "objects", **arguments})


def scored(project: Project, score: float, **values: Any) -> int:
    return saved(project, prediction_score=score, predicted_at=NOON, **values)


def prediction(project: Project, row_id: int) -> Any:
    return prediction_of(SNAPSHOTS.read(project.pk, [row_id])[row_id])


# -- Predict ---------------------------------------------------------------------------------------


def test_a_prediction_is_stored_with_its_parts_and_reasons(ada: Caller) -> None:
    row_id = saved(ada.project, read=0, access_count=1, action_type=ActionType.DECISION)
    for _ in range(5):
        saved(ada.project, caused_by_id=row_id)
    assert predict(ada) == 6
    assert prediction(ada.project, row_id) == {
        "score": 0.7451,
        "parts": {"temporal": 1.0, "causal": 1.0, "frequency": 0.1502},
        "reasons": [
            *("high_composite_score", "recently_accessed", "causal_chain_root", "active_memory_tier"),
            "decision_node",
        ],
        "next": "2026-11-24T12:00:00Z",
        "predicted_at": "2026-11-23T12:00:00Z",
    }


def test_a_snapshot_that_was_never_predicted_has_no_prediction(ada: Caller) -> None:
    assert prediction(ada.project, saved(ada.project)) is None


def test_a_snapshot_that_was_never_read_is_expected_at_no_time(ada: Caller) -> None:
    row_id = saved(ada.project)
    predict(ada)
    assert (prediction(ada.project, row_id)["score"], prediction(ada.project, row_id)["next"]) == (0.12, None)


@pytest.mark.parametrize(
    ("effects", "dependents", "causal"), [(0, 0, 0.0), (1, 0, 0.6), (0, 2, 0.7), (2, 2, 0.9), (9, 9, 1.0)]
)
def test_effects_and_dependents_are_counted(
    ada: Caller, effects: int, dependents: int, causal: float
) -> None:
    root = saved(ada.project)
    for _ in range(effects):
        saved(ada.project, caused_by_id=root)
    for _ in range(dependents):
        saved(ada.project, rests_on=[root])
    predict(ada)
    assert stored(root).causal == causal


def test_a_snapshot_that_names_another_twice_counts_once(ada: Caller) -> None:
    root = saved(ada.project)
    saved(ada.project, caused_by_id=root, rests_on=[root])
    predict(ada)
    assert stored(root).causal == 0.6


def test_a_deleted_effect_no_longer_counts(ada: Caller) -> None:
    root = saved(ada.project)
    Snapshot.unscoped.get(pk=saved(ada.project, caused_by_id=root)).delete()
    predict(ada)
    assert stored(root).causal == 0.0


def test_a_leaf_with_a_cause_or_a_dependency_counts_a_little(ada: Caller) -> None:
    root = saved(ada.project)
    leaves = [saved(ada.project, caused_by_id=root), saved(ada.project, rests_on=[root])]
    predict(ada)
    assert [stored(leaf).causal for leaf in leaves] == [0.2, 0.2]


def test_only_stale_predictions_are_refreshed(ada: Caller) -> None:
    """The source's sixth query: never predicted, or before now - 24 hours."""
    fresh = [saved(ada.project, predicted_at=NOON - hours(age)) for age in (1, 24)]
    stale = [saved(ada.project, predicted_at=NOON - hours(24.1)), saved(ada.project)]
    assert predict(ada) == 2
    assert {stored(n).predicted_at for n in stale} == {NOON}
    assert NOON not in {stored(n).predicted_at for n in fresh}


def test_the_stalest_predictions_come_first(ada: Caller) -> None:
    late, early = (saved(ada.project, predicted_at=NOON - hours(age)) for age in (30, 60))
    never = [saved(ada.project), saved(ada.project)]
    assert find_stale(ada.project_id, NOON) == [*never, early, late]


@pytest.mark.parametrize(("stale_hours", "refreshed"), [(0, 3), (2, 2), (6, 1), ("1", 2), (8_760, 0)])
def test_stale_hours_say_what_is_stale(ada: Caller, stale_hours: Any, refreshed: int) -> None:
    for age in (0.5, 5, 9):
        saved(ada.project, predicted_at=NOON - hours(age))
    assert predict(ada, stale_hours=stale_hours) == refreshed


def test_a_second_refresh_has_nothing_to_do(ada: Caller) -> None:
    saved(ada.project)
    assert [predict(ada), predict(ada)] == [1, 0]


def test_batches_refresh_all(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "ROWS_AT_ONCE", 2)
    for _ in range(5):
        saved(ada.project)
    assert predict(ada) == 5


def test_a_refresh_leaves_other_projects_alone(ada: Caller, cy: Caller) -> None:
    row_id = saved(cy.project)
    assert predict(ada) == 0
    assert stored(row_id).predicted_at is None


def test_a_refresh_is_no_change_of_a_snapshot(ada: Caller) -> None:
    row_id = saved(ada.project, age=5)
    events = Event.unscoped.count()
    predict(ada)
    assert Event.unscoped.count() == events
    assert stored(row_id).updated_at == NOON - hours(5)


def test_the_number_of_statements_does_not_grow_with_the_snapshots(ada: Caller) -> None:
    counts = []
    for count in (1, 20):
        for _ in range(count):
            saved(ada.project, rests_on=[saved(ada.project)])
        with CaptureQueriesContext(connection) as queries:
            predict_snapshots(caller=ada)
        counts.append(len([q for q in queries.captured_queries if "memory_" in q["sql"]]))
    many = 40 if connection.vendor == "sqlite" else 0  # Shown one by one, run as one executemany.
    assert counts[1] - counts[0] <= many


@pytest.mark.parametrize("stale_hours", [-1, 8_761, 1.5, "soon", True, [1]])
def test_bad_stale_hours_are_refused(ada: Caller, stale_hours: Any) -> None:
    row_id = saved(ada.project)
    with pytest.raises(InvalidInput):
        predict(ada, stale_hours=stale_hours)
    assert stored(row_id).predicted_at is None


def test_a_reader_refreshes_nothing(apollo: Project) -> None:
    with pytest.raises(NotAllowed):
        predict(Caller(project=apollo, agent="r", scopes=frozenset({"read"})))


# -- Outcomes --------------------------------------------------------------------------------------


def test_a_refresh_remembers_its_predictions(ada: Caller) -> None:
    row_id = saved(ada.project, read=0, access_count=3)
    predict(ada)
    outcome, row = PredictionOutcome.unscoped.get(), stored(row_id)
    assert (outcome.snapshot_id, outcome.hit, outcome.created_at) == (row_id, None, NOON)
    assert outcome.score == row.prediction_score
    assert (outcome.temporal, outcome.causal, outcome.frequency) == (row.temporal, row.causal, row.frequency)


def test_those_with_the_smallest_hash_of_the_day_are_remembered(
    ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "SAMPLED_A_DAY", 3)
    ids = [saved(ada.project) for _ in range(9)]
    predict(ada)
    smallest = sorted(ids, key=lambda n: sha256(f"{n} 2026-11-23".encode()).digest())[:3]
    assert {*PredictionOutcome.unscoped.values_list("snapshot_id", flat=True)} == {*smallest}


def test_a_day_has_room_for_a_number_of_outcomes(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "SAMPLED_A_DAY", 3)
    counts = []
    for later in (0, 1, 13):
        with time_machine.travel(NOON + hours(later), tick=False):
            saved(ada.project)
            saved(ada.project)
            predict(ada)
            counts.append(PredictionOutcome.unscoped.count())
    assert counts == [2, 3, 5]


def test_a_snapshot_is_remembered_once_a_day(ada: Caller) -> None:
    saved(ada.project)
    for later in (0, 1, 2):
        with time_machine.travel(NOON + hours(later), tick=False):
            predict(ada, stale_hours=0)
    assert PredictionOutcome.unscoped.count() == 1


# -- Prefetch --------------------------------------------------------------------------------------


def test_the_best_come_first(ada: Caller) -> None:
    """The source's fifth query: from a score on, the highest first."""
    ids = [scored(ada.project, score) for score in (0.61, 0.9, 0.59, 0.6)]
    saved(ada.project)
    items = prefetch(ada)["items"]
    assert [(item["id"], item["score"]) for item in items] == [
        (ids[1], 0.9),
        (ids[0], 0.61),
        (ids[3], 0.6),
    ]


def test_a_prefetched_snapshot_tells_why_and_when(ada: Caller) -> None:
    row_id = scored(
        ada.project,
        0.83216,
        summary="x" * 300,
        reasons=["accessed_today"],
        predicted_next=NOON + timedelta(days=1),
    )
    assert prefetch(ada)["items"] == [
        {
            "id": row_id,
            "score": 0.8322,
            "summary": "x" * 200 + "…",
            "reasons": ["accessed_today"],
            "next": "2026-11-24T12:00:00Z",
        }
    ]


@pytest.mark.parametrize(("min_score", "found"), [(0, 3), (0.5, 2), ("0.7", 1), (1, 1)])
def test_a_lowest_score_can_be_given(ada: Caller, min_score: Any, found: int) -> None:
    for score in (0.1, 0.5, 1.0):
        scored(ada.project, score)
    assert prefetch(ada, min_score=min_score)["total"] == found


def test_pages_of_equal_scores_follow_one_another(ada: Caller) -> None:
    ids = [scored(ada.project, score) for score in (0.7, 0.7123456, 0.7, 0.7, 1.0)]
    found: list[int] = []
    cursor = None
    while cursor or not found:
        page = prefetch(ada, limit=2, cursor=cursor)
        found += [item["id"] for item in page["items"]]
        cursor = page.get("next")
    assert found == [ids[n] for n in (4, 1, 3, 2, 0)]
    assert page["total"] == 5


def test_five_are_a_page(ada: Caller) -> None:
    for _ in range(6):
        scored(ada.project, 0.9)
    assert prefetch(ada)["count"] == 5


def test_a_stranger_prefetches_nothing(ada: Caller, cy: Caller) -> None:
    scored(ada.project, 0.9)
    assert prefetch(cy)["items"] == []


@pytest.mark.parametrize(
    "bad",
    [
        *({"min_score": value} for value in (-0.1, 1.1, "high", True, float("nan"))),
        *({"limit": value} for value in (0, 201, "few")),
        *({"cursor": value} for value in ("x", "WzEsMl0x", "WyJhIiwxXQ", "W10")),
        {"score": 1},
    ],
)
def test_bad_arguments_of_prefetch_are_refused(ada: Caller, bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        prefetch(ada, **bad)


def test_prefetch_takes_three_statements(ada: Caller) -> None:
    for _ in range(9):
        scored(ada.project, 0.9)
    with CaptureQueriesContext(connection) as queries:
        list_best(ada.project_id)
    assert len(queries) == 3


# -- Over REST and by command ----------------------------------------------------------------------


def test_predictions_over_rest(apollo: Project, ada_rest: RestClient, cy_rest: RestClient) -> None:
    row_id = saved(apollo, read=0, access_count=100)
    answer = ada_rest.post("snapshots/predict/", {"stale_hours": 1})
    assert answer.body == {"refreshed": 1, "scored": {"hits": 0, "misses": 0}}
    page = ada_rest.get("snapshots/prefetch/", min_score=0.1, limit=1).body
    assert [item["id"] for item in page["items"]] == [row_id]
    assert cy_rest.get("snapshots/prefetch/", min_score=0).body["items"] == []


def test_bad_input_over_rest(ada_rest: RestClient) -> None:
    assert ada_rest.post("snapshots/predict/", {"stale_hours": "1"}).status == 400
    assert ada_rest.post("snapshots/predict/", {"stale_hours": -1}).status == 400
    assert ada_rest.get("snapshots/prefetch/", min_score=2).status == 400
    assert ada_rest.get("snapshots/prefetch/", score=1).status == 400


def predict_command(*arguments: str) -> str:
    output = StringIO()
    call_command("predict", *arguments, stdout=output)
    return output.getvalue()


def test_the_command_refreshes_all_projects(apollo: Project, hermes: Project) -> None:
    saved(apollo)
    assert predict_command() == "apollo: 1 prediction refreshed.\nhermes: 0 predictions refreshed.\n"


def test_the_command_refreshes_one_project(apollo: Project, hermes: Project) -> None:
    saved(apollo, predicted_at=NOON - hours(2))
    assert predict_command("--project", "apollo", "--stale-hours", "1") == "apollo: 1 prediction refreshed.\n"


@pytest.mark.parametrize("arguments", [("--project", "nowhere"), ("--stale-hours", "-1")])
def test_the_command_refuses_what_it_cannot_do(apollo: Project, arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        predict_command(*arguments)
