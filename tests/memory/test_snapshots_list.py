"""Lists of snapshots: every filter, pages, and the indexes that they read."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import now
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.models import Event, Tag
from ctxhub.toolbox.dispatch import call
from memory.models import Snapshot, SnapshotTag
from tests.memory.snapshots import save, write
from tests.query_plans import explained, plan_by_indexes, sorts_inside, start_compact

HOUR = timedelta(hours=1)


def listed(caller: Caller, **query: Any) -> list[int]:
    """The ids of all pages."""
    found: list[int] = []
    arguments = {"action": "list", **query}
    while True:
        page = call(caller, "snapshot", arguments)
        found += [row[0] for row in page["rows"]]
        if "next" not in page:
            return found
        arguments["cursor"] = page["next"]


def test_snapshots_are_listed_newest_first_without_contents(ada: Caller) -> None:
    cause = save(ada, "Keep it.", tags=["api"])
    row_id = save(ada, "x. " * 200, summary="y" * 300, caused_by=cause, action_type="decision")
    page = call(ada, "snapshot", {"action": "list", "format": "objects"})
    assert (page["count"], page["total"]) == (2, 2)
    at = call(ada, "snapshot", {"action": "get", "id": row_id})["at"]
    assert page["items"][0] == {
        "id": row_id,
        "action_type": "decision",
        "summary": "y" * 200 + "…",
        "tier": "active",
        "caused_by": cause,
        "tags": [],
        "agent": "ada",
        "at": at,
    }
    assert page["items"][1]["id"] == cause


def test_each_filter_keeps_what_passes_it(ada: Caller, ben: Caller) -> None:
    one = save(ada, "Redis was slow.", action_type="decision", tags=["api", "shop"])
    two = save(ben, "PostgreSQL is fast.", action_type="research", tags=["shop"])
    assert listed(ada, action_type="decision") == listed(ada, action_type="2") == [one]
    assert listed(ada, tags=["API"]) == [one]
    assert listed(ada, tags=["api", "SHOP"]) == [two, one]
    assert listed(ada, by="BEN") == [two]
    assert listed(ada, text="fast PostgreSQL") == [two]
    assert listed(ada, text='"was slow"') == [one]
    assert listed(ada, text="slow fast") == []
    assert listed(ada, tags=["shop"], by="ben", action_type="research", text="fast", tier="active") == [two]
    assert listed(ada, tags=["shop"], by="ben", action_type="decision") == []
    assert listed(ada, tags=["nothing"]) == listed(ada, by="nobody") == []


def test_since_and_until_are_times_ago_times_and_cursors(ada: Caller) -> None:
    [old] = write(ada, 1, at=now() - 3 * HOUR)
    new = save(ada)
    assert listed(ada, since="2h") == [new]
    assert listed(ada, until="2h") == [old]
    assert listed(ada, since="2020-01-01") == [new, old]
    cursor = f"e{Event.objects.in_project(ada.project).latest('id').pk}"
    assert listed(ada, since=cursor) == []
    assert listed(ada, until=cursor) == [new, old]


def test_tiers_follow_from_the_last_access_or_the_creation(ada: Caller) -> None:
    moments = [now() - hours * HOUR for hours in (0.5, 2, 25, 721)]
    ids = [write(ada, 1, at=at)[0] for at in moments]
    for tier, row_id in zip(("active", "recent", "archived", "expired"), ids, strict=True):
        assert listed(ada, tier=tier) == listed(ada, tier=tier.upper()) == [row_id]
    [read] = write(ada, 1, at=now() - 800 * HOUR, last_accessed=now() - 0.1 * HOUR)
    assert listed(ada, tier="active") == [ids[0], read]
    assert listed(ada, tier=4) == [ids[3]]


def test_a_tier_with_many_snapshots_is_listed_as_well(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.snapshots.queries.FEW", 3)
    old = write(ada, 6, at=now() - 800 * HOUR)
    [read] = write(ada, 1, at=now() - 801 * HOUR, last_accessed=now())
    new = write(ada, 5)
    assert listed(ada, tier="expired") == old[::-1]
    assert listed(ada, tier="active") == [*new[::-1], read]
    assert listed(ada, tier="expired", limit=2, by="ada") == old[::-1]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"action_type": "refactor"}, "action_type: 'refactor' is not known"),
        ({"tier": "hot"}, "tier: 'hot' is not known"),
        ({"since": "yesterday"}, "since: 'yesterday' is not a time"),
        ({"until": "yesterday"}, "until: 'yesterday' is not a time"),
        ({"limit": 0}, "limit is 0"),
        ({"limit": 201}, "limit is 201"),
        ({"cursor": "x"}, "cursor is not one"),
        ({"text": " "}, "text must not be blank"),
        ({"by": " "}, "by must not be blank"),
        ({"tags": [""]}, r"tags\[0\] must not be blank"),
    ],
)
def test_bad_filters_are_refused(ada: Caller, query: dict[str, Any], message: str) -> None:
    save(ada)
    with pytest.raises(InvalidInput, match=message):
        call(ada, "snapshot", {"action": "list", **query})


def test_the_newest_snapshots_of_a_project_are_loaded(ada: Caller, cy: Caller) -> None:
    """Query 1 of WakeIQX's schema: the recent contexts of a project."""
    save(cy)
    ids = write(ada, 12)
    loaded = call(ada, "snapshot", {"action": "load", "limit": 10})
    assert [row[0] for row in loaded["rows"]] == ids[:1:-1]


def test_a_chain_is_built_backwards(ada: Caller) -> None:
    """Query 2 of WakeIQX's schema: the causal chain of a context."""
    ids = [save(ada)]
    for _ in range(3):
        ids.append(save(ada, caused_by=ids[-1]))
    chain = call(ada, "snapshot", {"action": "chain", "id": ids[-1]})
    assert [row[0] for row in chain["rows"]] == ids


# -- Indexes ---------------------------------------------------------------------------------------

QUERIES: list[tuple[dict[str, Any], str]] = [
    ({}, "memory_snapshot_by_time"),
    ({"action_type": "research"}, "memory_snapshot_by_(action|time)"),
    ({"by": "rare"}, "memory_snapshot_by_agent"),
    ({"by": "rare", "action_type": "decision"}, "memory_snapshot_by_(agent|action)"),
    ({"tags": ["t1"]}, "memory_snapshottag_by_time"),
    ({"tags": ["t1", "all"], "action_type": "research"}, "memory_snapshottag_by_time"),
    ({"tags": ["t1"], "tier": "expired"}, "memory_snapshottag_by_time"),
    ({"since": "90d"}, "memory_snapshot_by_time"),
    ({"by": "ada", "since": "90d"}, "memory_snapshot_by_(agent|time)"),
]


@pytest.fixture
def many(ada: Caller) -> Caller:
    start_compact(Snapshot)
    project = ada.project
    ids = write(ada, 1_200, at=now() - 800 * HOUR)
    ids += write(Caller(project, "rare"), 60, at=now() - 799 * HOUR)
    for n in range(1, 6):
        Snapshot.objects.in_project(project).filter(pk__in=ids[n::5]).update(action_type=n)
    rows = Snapshot.objects.in_project(project).in_bulk(ids)
    words = {name: Tag(project=project, name=name, folded=name) for name in ("all", "t0", "t1", "t2")}
    Tag.unscoped.bulk_create(words.values())
    SnapshotTag.unscoped.bulk_create(
        SnapshotTag(project=project, snapshot_id=row_id, tag=words[name], created_at=rows[row_id].created_at)
        for n, row_id in enumerate(ids)
        for name in ("all", f"t{n // 6 % 3}")
    )
    plan_by_indexes()
    return ada


def statement(caller: Caller, query: dict[str, Any], page: str) -> str:
    """The SQL statement that fetched the rows of the page."""
    arguments = {"action": "list", "limit": 5, **query}
    if page == "next":
        arguments["cursor"] = call(caller, "snapshot", arguments)["next"]
    with CaptureQueriesContext(connection) as captured:
        assert call(caller, "snapshot", arguments)["count"] == 5
    [found] = [query["sql"] for query in captured.captured_queries if "WITH page" in query["sql"]]
    return str(found)


@pytest.mark.parametrize("page", ["first", "next"])
def test_a_list_reads_an_index_in_its_sort_order(many: Caller, page: str) -> None:
    for query, index in QUERIES:
        plan = explained(statement(many, query, page))
        assert re.search(rf"\b{index}\b", plan), (query, plan)
        assert not sorts_inside(plan), (query, plan)


def test_every_page_continues_where_the_last_one_ended(many: Caller) -> None:
    for query in [*(query for query, _ in QUERIES), {"tier": "expired"}, {"text": "s1*"}]:
        whole = listed(many, **query, limit=200)
        assert listed(many, **query, limit=37) == whole
        assert len(whole) == len(set(whole))
        total = call(many, "snapshot", {"action": "list", **query})["total"]
        assert total == min(len(whole), 1_000)
