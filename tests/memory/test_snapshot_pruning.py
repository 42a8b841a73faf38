"""Expired snapshots that nothing rests on are pruned, never without being asked."""

from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.config import set_config
from ctxhub.core.events.cleanup import cleanup
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotAllowed
from ctxhub.core.models import Event, Project, SearchEntry, Tag, Tally
from ctxhub.toolbox.dispatch import call
from memory.predictions.models import PredictionOutcome
from memory.retention import clean_snapshots
from memory.snapshots import tiers
from memory.snapshots.models import Snapshot, SnapshotDependency, SnapshotTag
from memory.snapshots.tiers import prune_snapshots
from tests.hub import RestClient
from tests.memory.saved import NOON, living, saved

EXPIRED = 720


@pytest.fixture(autouse=True)
def noon() -> Iterator[None]:
    with time_machine.travel(NOON, tick=False):
        yield


def prune(caller: Caller, **arguments: Any) -> dict[str, Any]:
    return call(caller, "snapshot", {"action": "prune", **arguments})


def ids_in(answer: dict[str, Any]) -> list[int]:
    return [row[0] for row in answer["rows"]]


def counter(project: Project) -> int:
    return Tally.objects.in_project(project).get(noun="snapshot").count


def test_only_expired_snapshots_are_pruned(ada: Caller) -> None:
    warm = [saved(ada.project, age=719.9), saved(ada.project, age=9_999, read=719.9)]
    cold = [saved(ada.project, age=EXPIRED), saved(ada.project, age=9_999, read=EXPIRED)]
    assert ids_in(prune(ada, dry_run=False)) == cold
    assert living() == {*warm}


def test_a_dry_run_is_the_default(ada: Caller) -> None:
    row_id = saved(ada.project, "old", age=EXPIRED)
    answer = prune(ada)
    assert answer == {
        "columns": ["id", "summary"],
        "rows": [[row_id, "old"]],
        "count": 1,
        "dry_run": True,
        "would_prune": 1,
        "pruned": 0,
        "kept": 0,
    }
    assert living() == {row_id}


def test_a_pruned_snapshot_shows_its_last_read(ada: Caller) -> None:
    row_id = saved(ada.project, "old", age=9_999, read=EXPIRED)
    assert prune(ada)["rows"] == [[row_id, "old", "2026-10-24T12:00:00Z"]]


def test_those_never_read_go_first_then_those_read_longest_ago(ada: Caller) -> None:
    """The source's fourth query: expired, by last access, the unread first."""
    late, early = saved(ada.project, age=9_999, read=800), saved(ada.project, age=9_999, read=900)
    unread, older = saved(ada.project, age=750), saved(ada.project, age=760)
    assert ids_in(prune(ada)) == [older, unread, early, late]
    assert ids_in(prune(ada, limit=3, dry_run=False)) == [older, unread, early]
    assert living() == {late}


def test_what_others_rest_on_is_kept(ada: Caller) -> None:
    cause, dependency = saved(ada.project, age=EXPIRED), saved(ada.project, age=EXPIRED)
    saved(ada.project, caused_by_id=cause, rests_on=[dependency])
    answer = prune(ada, dry_run=False)
    assert (ids_in(answer), answer["pruned"], answer["kept"]) == ([], 0, 2)
    assert {cause, dependency} <= living()


def test_an_expired_chain_goes_from_its_end(ada: Caller) -> None:
    root = saved(ada.project, age=EXPIRED)
    leaf = saved(ada.project, age=EXPIRED, caused_by_id=root)
    pruned = [ids_in(prune(ada, dry_run=False)) for _ in range(3)]
    assert pruned == [[leaf], [root], []]


def test_nothing_of_a_pruned_snapshot_stays(ada: Caller) -> None:
    root = saved(ada.project)
    row_id = saved(ada.project, age=EXPIRED, caused_by_id=root, rests_on=[root])
    tag = Tag.objects.in_project(ada.project).first()
    assert tag
    SnapshotTag.unscoped.create(project=ada.project, snapshot_id=row_id, tag=tag)
    outcome = PredictionOutcome.unscoped.create(
        project=ada.project, snapshot_id=row_id, score=0, temporal=0, causal=0, frequency=0, hit=True
    )
    prune(ada, dry_run=False)
    outcome.refresh_from_db()
    assert (living(), counter(ada.project), outcome.snapshot_id) == ({root}, 1, None)
    assert not SnapshotTag.unscoped.exists()
    assert not SnapshotDependency.unscoped.exists()
    assert not SearchEntry.unscoped.filter(kind="snapshot", object_id=row_id).exists()


def test_one_event_names_all_that_went(ada: Caller) -> None:
    ids = [saved(ada.project, age=EXPIRED) for _ in range(3)]
    before = Event.unscoped.count()
    prune(ada, dry_run=False)
    event = Event.unscoped.order_by("pk").last()
    assert event
    assert Event.unscoped.count() == before + 1
    assert (event.noun, event.verb, event.ref) == ("snapshot", "pruned", f"snapshot:{ids[0]}")
    assert event.data == {"ids": ids, "note": "3 snapshots"}
    assert event.agent
    assert event.agent.name == "ada"


def test_where_nothing_is_expired_nothing_is_recorded(ada: Caller) -> None:
    saved(ada.project)
    before = Event.unscoped.count()
    assert prune(ada, dry_run=False)["pruned"] == 0
    assert Event.unscoped.count() == before


def test_other_projects_keep_their_snapshots(ada: Caller, cy: Caller) -> None:
    row_id = saved(cy.project, age=EXPIRED)
    assert prune(ada, dry_run=False)["pruned"] == 0
    assert living() == {row_id}


@pytest.mark.parametrize("scopes", [{"read"}, {"read", "write"}])
def test_only_an_administrator_prunes(apollo: Project, scopes: set[str]) -> None:
    row_id = saved(apollo, age=EXPIRED)
    caller = Caller(project=apollo, agent="r", scopes=frozenset(scopes))
    assert ids_in(prune(caller, dry_run=True)) == [row_id]
    with pytest.raises(NotAllowed):
        prune(caller, dry_run=False)
    with pytest.raises(NotAllowed):
        prune_snapshots(caller=caller, dry_run=False)
    assert living() == {row_id}


@pytest.mark.parametrize(
    "bad", [{"limit": 0}, {"limit": 201}, {"limit": "all"}, {"dry_run": "maybe"}, {"older_than": "1d"}]
)
def test_bad_arguments_are_refused(ada: Caller, bad: dict[str, Any]) -> None:
    row_id = saved(ada.project, age=EXPIRED)
    with pytest.raises(InvalidInput):
        prune(ada, **{"dry_run": False, **bad})
    assert living() == {row_id}


def test_the_number_of_statements_does_not_grow_with_the_snapshots(ada: Caller) -> None:
    counts = []
    for count in (2, 60):
        for _ in range(count):
            saved(ada.project, age=EXPIRED)
        with CaptureQueriesContext(connection) as queries:
            prune_snapshots(caller=ada, limit=200, dry_run=False)
        counts.append(len(queries))
    assert counts[0] == counts[1]


# -- Automatic pruning -----------------------------------------------------------------------------


def test_a_cleanup_prunes_only_where_the_project_says_so(ada: Caller) -> None:
    row_id = saved(ada.project, age=EXPIRED)
    cleanup(ada.project_id)
    assert living() == {row_id}
    set_config(caller=ada, values={"auto_prune": True})
    cleanup(ada.project_id)
    assert living() == set()
    assert Event.unscoped.get(verb="pruned").data["ids"] == [row_id]


def test_a_cleanup_prunes_a_bounded_number(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "PRUNED_AT_ONCE", 2)
    ids = [saved(ada.project, age=EXPIRED + n) for n in range(3)]
    Snapshot.unscoped.exclude(pk__in=ids).delete()
    assert clean_snapshots(ada.project_id, NOON, auto_prune=True) == {"snapshots": 2}


# -- Over REST -------------------------------------------------------------------------------------


def test_pruning_over_rest(apollo: Project, ada_rest: RestClient, ben_rest: RestClient) -> None:
    row_id = saved(apollo, "old", age=9_999, read=EXPIRED)
    expected = {
        "items": [{"id": row_id, "summary": "old", "last_accessed": "2026-10-24T12:00:00Z"}],
        "count": 1,
        "pruned": 1,
        "kept": 0,
    }
    dry = {"dry_run": True, "would_prune": 1, "pruned": 0}
    assert ben_rest.post("snapshots/prune/").body == expected | dry
    assert ben_rest.post("snapshots/prune/", {"dry_run": False}).status == 403
    assert ada_rest.post("snapshots/prune/", {"dry_run": False, "limit": 1}).body == expected
    assert living() == set()


def test_a_retried_prune_prunes_once(apollo: Project, ada_rest: RestClient) -> None:
    saved(apollo, age=EXPIRED)
    saved(apollo, age=EXPIRED)
    body, key = {"dry_run": False, "limit": 1}, {"Idempotency-Key": "k1"}
    answers = [ada_rest.post("snapshots/prune/", body, key).body for _ in range(2)]
    assert answers[0] == answers[1]
    assert len(living()) == 1


def test_bad_input_over_rest(ada_rest: RestClient) -> None:
    assert ada_rest.post("snapshots/prune/", {"dry_run": "false"}).status == 400
    assert ada_rest.post("snapshots/prune/", {"limit": 0}).status == 400
