"""Named views of decisions and constraints."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.hub.named_views import all_views
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.listing import Listing
from memory.constraints.services import add_constraint, deactivate_constraint
from memory.decisions.services import set_decision

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
VIEWS = ("tagged_decisions", "active_context", "tagged_constraints")


@pytest.fixture
def filled(ada: Caller) -> None:
    for minutes, (key, status) in enumerate(
        (("old", "active"), ("new", "active"), ("draft", "draft"), ("gone", "deprecated"))
    ):
        with time_machine.travel(NOON + timedelta(minutes=minutes * 30), tick=False):
            set_decision(caller=ada, key=key, value="x" * 300, status=status, tags=["api"], scopes=["s"])
    for text, priority in (("small", "low"), ("great", "critical"), ("over", "high")):
        made = add_constraint(caller=ada, category="security", text=text, priority=priority, tags=["api"])
    deactivate_constraint(caller=ada, constraint_id=made["id"])


def view(caller: Caller, name: str, **query: Any) -> Listing:
    return all_views()[name].select(caller.project_id, **query)


def column(listing: Listing, name: str) -> list[Any]:
    return [row[name] for row in listing.objects()]


def test_tagged_decisions_lists_all_decisions_newest_first(filled: None, ada: Caller) -> None:
    listing = view(ada, "tagged_decisions")
    assert listing.columns == (
        *("key", "value", "status", "layer", "tags", "scopes", "version", "agent", "updated"),
    )
    assert column(listing, "key") == ["gone", "draft", "new", "old"]
    assert column(listing, "tags") == [["api"]] * 4
    assert {len(value) for value in column(listing, "value")} == {201}


def test_active_context_lists_active_decisions_of_the_last_hour(filled: None, ada: Caller) -> None:
    with time_machine.travel(NOON + timedelta(minutes=70), tick=False):
        assert column(view(ada, "active_context"), "key") == ["new"]
    with time_machine.travel(NOON + timedelta(minutes=50), tick=False):
        assert column(view(ada, "active_context"), "key") == ["new", "old"]


def test_tagged_constraints_lists_active_constraints_most_urgent_first(filled: None, ada: Caller) -> None:
    listing = view(ada, "tagged_constraints")
    assert column(listing, "text") == ["great", "small"]
    assert column(listing, "tags") == [["api"]] * 2


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_comes_in_pages(filled: None, ada: Caller, name: str) -> None:
    with time_machine.travel(NOON + timedelta(minutes=31), tick=False):
        whole = [list(row) for row in view(ada, name).rows]
        found, cursor = [], None
        while True:
            page = view(ada, name, limit=1, cursor=cursor)
            found += [list(row) for row in page.rows]
            if (cursor := page.next) is None:
                break
    assert found == whole
    assert len(whole) >= 2


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_shows_nothing_of_another_project(filled: None, cy: Caller, name: str) -> None:
    assert view(cy, name).rows == []


@pytest.mark.parametrize("name", VIEWS)
def test_the_number_of_queries_does_not_grow_with_the_rows(ada: Caller, name: str) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert view(ada, name, limit=2).next
        return len(queries)

    def fill(start: int, end: int) -> None:
        for n in range(start, end):
            set_decision(caller=ada, key=f"k{n}", value=n, tags=[f"t{n}"])
            add_constraint(caller=ada, category=f"c{n}", text="x", tags=[f"t{n}"])

    fill(0, 5)
    few = count()
    fill(5, 40)
    assert count() == few
