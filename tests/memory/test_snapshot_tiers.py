"""Tiers are counted by the last access, and their stored copies follow."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.events import cleanup
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotAllowed
from ctxhub.core.models import Event, Project
from ctxhub.toolbox.dispatch import call
from memory.constraints.services import add_constraint
from memory.retention import clean_snapshots
from memory.snapshots import tiers as services
from memory.snapshots.models import Snapshot, Tier
from memory.snapshots.tiers import get_tiers, retier
from tests.hub import RestClient
from tests.memory.saved import NOON, hours, saved, stored


@pytest.fixture(autouse=True)
def noon() -> Iterator[None]:
    with time_machine.travel(NOON, tick=False):
        yield


def tiers(caller: Caller) -> dict[str, int]:
    return call(caller, "snapshot", {"action": "tiers"})


def fill(project: Project) -> list[int]:
    """Two snapshots in each tier, one of them on its limit."""
    return [saved(project, age=age) for age in (0, 0.9, 1, 23.9, 24, 719.9, 720, 9_999)]


def test_each_tier_is_counted(ada: Caller, cy: Caller) -> None:
    fill(ada.project)
    saved(cy.project)
    assert tiers(ada) == {"active": 2, "recent": 2, "archived": 2, "expired": 2, "total": 8}
    assert tiers(cy) == {"active": 1, "recent": 0, "archived": 0, "expired": 0, "total": 1}


def test_a_project_without_snapshots_has_empty_tiers(ada: Caller) -> None:
    assert set(tiers(ada).values()) == {0}


def test_a_snapshot_that_was_read_is_as_warm_as_its_last_read(ada: Caller) -> None:
    saved(ada.project, age=800, read=2)
    assert tiers(ada)["recent"] == 1


def test_tiers_are_true_before_anything_is_written(ada: Caller) -> None:
    saved(ada.project)
    with time_machine.travel(NOON + hours(30), tick=False):
        assert tiers(ada)["archived"] == 1


def test_tiers_take_one_statement(ada: Caller) -> None:
    fill(ada.project)
    tiers(ada)
    with CaptureQueriesContext(connection) as queries:
        get_tiers(ada.project_id)
    assert len(queries) == 1


def test_the_sources_third_query_agrees_after_a_retier(ada: Caller) -> None:
    """SELECT memory_tier, COUNT(*) ... GROUP BY memory_tier."""
    fill(ada.project)
    retier(caller=ada)
    rows = Snapshot.objects.in_project(ada.project).values_list("tier", flat=True)
    assert sorted(rows) == sorted([*Tier, *Tier])


def test_retier_corrects_the_stored_tiers(ada: Caller) -> None:
    ids = fill(ada.project)
    assert call(ada, "snapshot", {"action": "retier"}) == {"updated": 6}
    assert [stored(row_id).tier for row_id in ids] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert retier(caller=ada) == {"updated": 0}


def test_retier_warms_a_stored_tier_too(ada: Caller) -> None:
    row_id = saved(ada.project, age=9_999, read=30, tier=Tier.EXPIRED)
    assert retier(caller=ada) == {"updated": 1}
    assert stored(row_id).tier == Tier.ARCHIVED


def test_retier_leaves_other_projects_alone(ada: Caller, cy: Caller) -> None:
    row_id = saved(cy.project, age=9_999)
    assert retier(caller=ada) == {"updated": 0}
    assert stored(row_id).tier == Tier.ACTIVE


def test_retier_records_no_event(ada: Caller) -> None:
    fill(ada.project)
    before = Event.unscoped.count()
    retier(caller=ada)
    assert Event.unscoped.count() == before


def test_retier_goes_on_until_all_are_corrected(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "ROWS_AT_ONCE", 4)
    fill(ada.project)
    assert retier(caller=ada) == {"updated": 6}


def test_a_cleanup_corrects_a_bounded_number(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "ROWS_AT_ONCE", 4)
    fill(ada.project)
    clean_snapshots(ada.project_id, NOON, auto_prune=False)
    assert retier(caller=ada) == {"updated": 2}


def test_the_first_write_of_a_minute_corrects_tiers(ada: Caller) -> None:
    row_id = saved(ada.project)
    cleanup._cleaned.clear()
    with time_machine.travel(NOON + timedelta(hours=2), tick=False):
        add_constraint(caller=ada, category="security", text="x")
    assert stored(row_id).tier == Tier.RECENT


def test_a_reader_sees_tiers_and_corrects_none(apollo: Project) -> None:
    reader = Caller(project=apollo, agent="r", scopes=frozenset({"read"}))
    assert tiers(reader)["total"] == 0
    with pytest.raises(NotAllowed):
        call(reader, "snapshot", {"action": "retier"})


@pytest.mark.parametrize("action", ["tiers", "retier", "stats"])
def test_unknown_arguments_are_refused(ada: Caller, action: str) -> None:
    with pytest.raises(InvalidInput):
        call(ada, "snapshot", {"action": action, "project": "hermes"})


def test_tiers_over_rest(apollo: Project, ada_rest: RestClient, cy_rest: RestClient) -> None:
    saved(apollo, age=2)
    assert ada_rest.get("snapshots/tiers/").body["recent"] == 1
    assert cy_rest.get("snapshots/tiers/").body["total"] == 0
    assert ada_rest.post("snapshots/retier/", {}).body == {"updated": 1}
    assert ada_rest.post("snapshots/retier/", {"limit": 1}).status == 400
