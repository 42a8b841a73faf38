"""How good predictions were, by week."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
import time_machine

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.models import PredictionOutcome
from memory.predictions.learning import WEEKS, get_weeks

THURSDAY = datetime(2026, 11, 19, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def thursday() -> Iterator[None]:
    with time_machine.travel(THURSDAY, tick=False):
        yield


def remember(project: Project, days: float, hit: bool | None, **values: Any) -> None:
    parts = {"score": 0.5, "temporal": 0.5, "causal": 0.5, "frequency": 0.5, **values}
    at = clock.now() - timedelta(days=days)
    PredictionOutcome.unscoped.create(project=project, hit=hit, created_at=at, **parts)


def test_weeks_begin_on_monday_and_end_with_this_one(ada: Caller) -> None:
    weeks = get_weeks(ada.project_id)
    assert (len(weeks), weeks[-1].begins, weeks[0].begins) == (WEEKS, date(2026, 11, 16), date(2026, 8, 24))


@pytest.mark.parametrize(("days", "weeks_ago"), [(0, 0), (3.49, 0), (3.51, 1), (10.49, 1), (10.51, 2)])
def test_an_outcome_counts_in_its_week(days: float, weeks_ago: int, ada: Caller) -> None:
    remember(ada.project, days, hit=True)
    hits = [week.hits for week in get_weeks(ada.project_id)]
    assert hits[-1 - weeks_ago] == sum(hits) == 1


def test_the_brier_score_is_beside_that_of_the_default_weights(ada: Caller) -> None:
    remember(ada.project, 1, hit=True, score=0.9, temporal=1, causal=0, frequency=0)
    remember(ada.project, 2, hit=False, score=0.3, temporal=0, causal=1, frequency=1)
    week = get_weeks(ada.project_id)[-1]
    assert (week.hits, week.misses) == (1, 1)
    assert week.brier == pytest.approx((0.1**2 + 0.3**2) / 2)
    assert week.baseline == pytest.approx((0.6**2 + 0.6**2) / 2)


def test_open_predictions_and_those_of_other_projects_do_not_count(ada: Caller, cy: Caller) -> None:
    remember(ada.project, 1, hit=None)
    remember(cy.project, 1, hit=True)
    week = get_weeks(ada.project_id)[-1]
    assert (week.hits, week.misses, week.brier, week.baseline) == (0, 0, None, None)
