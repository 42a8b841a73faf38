"""What the first page counts of a period is what REST lists of it."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
import time_machine
from django.test import Client

from ctxhub.console.away.page import Away
from ctxhub.console.away.sources import kinds
from ctxhub.console.away.work import COLUMNS
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import Conflict
from ctxhub.core.models import Project, Visit
from ctxhub.core.refusals.services import WRITER
from ctxhub.toolbox.dispatch import call
from tests.hub import RestClient
from tests.people import VIEWER, member, person, signed_in

AGENTS = ("ada", "ben", "codex-web")
ACTS = 120
# Of a ref, and of the kind that the first page counts.
KINDS = {"decision": "decision", "memory": "memory", "message": "message", "resource": "change"}


def act(caller: Caller, random: Random) -> None:
    """One of many things that an agent does."""
    number = random.randrange(6)
    acts: list[tuple[str, dict[str, Any]]] = [
        ("decision", {"action": "set", "key": f"web/{number}", "value": random.randrange(9)}),
        ("file", {"action": "record", "path": f"web/{number}.css", "change": "modified"}),
        ("file", {"action": "lease", "paths": [f"api/{number % 2}"], "minutes": 600}),
        ("memory", {"action": "add", "title": f"Note {random.random()}", "content": "Text"}),
        ("message", {"action": "send", "text": "Which?", "to": ["vi", "eve"]}),
    ]
    tool, arguments = random.choice(acts)
    try:
        call(caller, tool, arguments)
    except Conflict:
        return


@pytest.fixture
def days(apollo: Project) -> datetime:
    """Two days of three agents; returns when they end."""
    random, now = Random(7), clock.now()
    for number in range(ACTS):
        with time_machine.travel(now - timedelta(days=2) * (1 - number / ACTS), tick=False):
            act(Caller(project=apollo, agent=random.choice(AGENTS)), random)
            WRITER.flush()
    return now


def rows(rest: RestClient, path: str, since: datetime) -> Iterator[dict[str, Any]]:
    """All rows of a list since then."""
    cursor: dict[str, str] = {}
    while True:
        page = rest.get(path, since=format_time(since), limit=50, **cursor).body
        yield from page["items"]
        if not page.get("next"):
            return
        cursor = {"cursor": page["next"]}


@pytest.mark.one_engine
@pytest.mark.parametrize("last", ["24h", "visit"])
def test_lanes_and_sentences_count_what_rest_lists(
    last: str, days: datetime, apollo: Project, ada_rest: RestClient
) -> None:
    vi = person("vi", apollo, VIEWER)
    Visit.objects.create(user=vi, last_at=days - timedelta(hours=40))
    told = told_to(signed_in(vi), last)
    since = told.period.begin
    works = {lane.work.name: lane.work for lane in told.lanes}
    events: Counter[str] = Counter()
    objects: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in rows(ada_rest, "activity/", since):
        events[row["agent"]] += 1
        kind = row["ref"].partition(":")[0]
        if kind != "message" or row["verb"] == "sent":
            objects[row["agent"]][kind].add(row["ref"])
    assert {name: work.events for name, work in works.items()} == events
    for noun, kind in KINDS.items():
        assert counted(told, kind) == {
            name: len(found[noun]) for name, found in objects.items() if found[noun]
        }
    files: dict[str, set[str]] = defaultdict(set)
    for row in rows(ada_rest, "changes/", since):
        files[row["by"]].add(row["path"])
    assert counted(told, "change") == {name: len(paths) for name, paths in files.items()}
    refused: Counter[str] = Counter()
    for row in rows(ada_rest, "refusals/", since):
        refused[row["agent"]] += row["count"]
    assert {name: work.refusals for name, work in works.items() if work.refusals} == refused
    assert refused.total() > 3


def counted(told: Away, kind: str) -> dict[str, int]:
    """How many objects of a kind each lane counts."""
    objects = {lane.work.name: lane.work.objects for lane in told.lanes}
    return {name: of_agent[kind].count for name, of_agent in objects.items() if kind in of_agent}


def told_to(client: Client, last: str) -> Away:
    told: Away = client.get(f"/admin/?last={last}").context["away"]
    return told


@pytest.mark.one_engine
def test_a_column_counts_the_events_of_its_time(
    days: datetime, apollo: Project, ada_rest: RestClient
) -> None:
    told = told_to(member(apollo, VIEWER, username="vi"), "24h")
    width = told.period.length / COLUMNS
    listed: Counter[tuple[str, int]] = Counter()
    for row in rows(ada_rest, "activity/", told.period.begin):
        # Columns are counted from whole slots of ten minutes.
        at = datetime.fromisoformat(row["at"])
        slot = at.replace(minute=at.minute // 10 * 10, second=0, microsecond=0) + timedelta(minutes=5)
        listed[row["agent"], min(max(int((slot - told.period.begin) / width), 0), COLUMNS - 1)] += 1
    drawn = {
        (lane.work.name, column): count for lane in told.lanes for column, count in lane.work.columns.items()
    }
    assert drawn == listed


def test_each_kind_is_told_at_a_place_of_its_own() -> None:
    assert len({kind.place for kind in kinds}) == len({kind.noun for kind in kinds}) == len(kinds)
