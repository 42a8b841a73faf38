"""Statistics of the causes, tiers and predictions of snapshots."""

from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from ctxhub.toolbox.dispatch import call
from memory.predictions.models import PredictionOutcome, PredictionWeights
from memory.predictions.statistics import get_stats
from memory.snapshots.models import ActionType, Snapshot
from tests.hub import RestClient
from tests.memory.saved import NOON, saved


@pytest.fixture(autouse=True)
def noon() -> Iterator[None]:
    with time_machine.travel(NOON, tick=False):
        yield


def stats(caller: Caller) -> dict[str, Any]:
    return call(caller, "snapshot", {"action": "stats"})


def chain(project: Project, length: int) -> list[int]:
    ids: list[int] = []
    for _ in range(length):
        ids.append(saved(project, caused_by_id=ids[-1] if ids else None))
    return ids


def test_an_empty_project_has_statistics(ada: Caller) -> None:
    assert stats(ada) == {
        "causality": {
            "by_action": {"conversation": 0, "decision": 0, "file_edit": 0, "tool_use": 0, "research": 0},
            "with_cause": 0,
            "roots": 0,
            "average_chain": 0.0,
        },
        "memory": {"active": 0, "recent": 0, "archived": 0, "expired": 0, "total": 0},
        "prediction": {
            "predicted": 0,
            "average": None,
            "reasons": {},
            "weights": {"temporal": 0.4, "causal": 0.3, "frequency": 0.3},
            "samples": 0,
            "brier": None,
            "baseline_brier": None,
        },
    }


def test_snapshots_are_counted_by_action(ada: Caller) -> None:
    for action in (ActionType.DECISION, ActionType.DECISION, ActionType.RESEARCH):
        saved(ada.project, action_type=action)
    by_action = stats(ada)["causality"]["by_action"]
    assert (by_action["decision"], by_action["research"], by_action["tool_use"]) == (2, 1, 0)


def test_roots_are_snapshots_without_a_cause(ada: Caller) -> None:
    chain(ada.project, 3)
    saved(ada.project)
    causality = stats(ada)["causality"]
    assert (causality["with_cause"], causality["roots"]) == (2, 2)


@pytest.mark.parametrize(("lengths", "average"), [([1], 1.0), ([3], 2.0), ([1, 3], 1.75), ([2, 2, 2], 1.5)])
def test_the_average_chain_counts_all_snapshots(ada: Caller, lengths: list[int], average: float) -> None:
    for length in lengths:
        chain(ada.project, length)
    assert stats(ada)["causality"]["average_chain"] == average


def test_branches_each_count_their_own_chain(ada: Caller) -> None:
    root = saved(ada.project)
    for _ in range(3):
        saved(ada.project, caused_by_id=root)
    assert stats(ada)["causality"]["average_chain"] == 1.75


def test_circles_have_no_length(ada: Caller) -> None:
    """Only an import brings them."""
    first, *_, last = chain(ada.project, 3)
    saved(ada.project, caused_by_id=last)
    Snapshot.unscoped.filter(pk=first).update(caused_by_id=last)
    chain(ada.project, 2)
    causality = stats(ada)["causality"]
    assert (causality["average_chain"], causality["with_cause"], causality["roots"]) == (1.5, 5, 1)


def test_the_tiers_are_those_of_tiers(ada: Caller) -> None:
    saved(ada.project, age=2)
    assert stats(ada)["memory"] == call(ada, "snapshot", {"action": "tiers"})


def test_predictions_are_summed_up(ada: Caller) -> None:
    saved(ada.project)
    for score, reasons in ((0.8, ["a", "b"]), (0.4, ["b"]), (0.3, ["b"])):
        saved(ada.project, prediction_score=score, reasons=reasons, predicted_at=NOON)
    prediction = stats(ada)["prediction"]
    assert (prediction["predicted"], prediction["average"]) == (3, 0.5)
    assert list(prediction["reasons"].items()) == [("b", 3), ("a", 1)]


def test_learned_weights_are_told_with_their_errors(ada: Caller) -> None:
    parts = {"temporal": 0.1, "causal": 0.3, "frequency": 0.6}
    PredictionWeights.unscoped.create(
        project=ada.project, **parts, samples=77, brier=0.12345, baseline_brier=0.2
    )
    prediction = stats(ada)["prediction"]
    assert prediction["weights"] == parts
    assert (prediction["samples"], prediction["brier"], prediction["baseline_brier"]) == (77, 0.1235, 0.2)


def test_outcomes_are_counted_before_anything_is_learned(ada: Caller) -> None:
    for hit in (True, False, None):
        PredictionOutcome.unscoped.create(
            project=ada.project, score=0.5, temporal=0.5, causal=0.5, frequency=0.5, hit=hit
        )
    assert stats(ada)["prediction"]["samples"] == 2


def test_statistics_are_of_one_project(ada: Caller, cy: Caller) -> None:
    empty = stats(cy)
    chain(ada.project, 2)
    saved(ada.project, prediction_score=0.5, reasons=["a"], predicted_at=NOON)
    assert stats(cy) == empty


def test_the_number_of_statements_does_not_grow_with_the_snapshots(ada: Caller) -> None:
    counts = []
    for length in (1, 30):
        chain(ada.project, length)
        with CaptureQueriesContext(connection) as queries:
            get_stats(ada.project_id)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 6


def test_a_reader_sees_them_over_rest(apollo: Project, ada_rest: RestClient, cy_rest: RestClient) -> None:
    chain(apollo, 2)
    assert ada_rest.get("snapshots/stats/").body["causality"]["average_chain"] == 1.5
    assert cy_rest.get("snapshots/stats/").body["memory"]["total"] == 0
    assert ada_rest.get("snapshots/stats/", view="historian").status == 400
