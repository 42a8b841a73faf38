"""How decisions grow and change over time, on MCP and REST."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.config import set_config
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.toolbox.dispatch import call
from tests.hub import McpClient, RestClient

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)  # A Monday.


@pytest.fixture
def time() -> Iterator[Any]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def week(ada: Caller, ben: Caller, time: Any) -> None:
    """Monday: two are created. Tuesday: one changes twice. Wednesday: it is deprecated, a draft comes."""
    call(
        ada, "decision", {"action": "set", "key": "a", "value": "1", "layer": "business", "tags": ["x", "y"]}
    )
    call(ada, "decision", {"action": "set", "key": "b", "value": "1"})
    time.move_to(NOON + timedelta(days=1))
    call(ben, "decision", {"action": "set", "key": "a", "value": "2"})
    call(ben, "decision", {"action": "set", "key": "a", "value": "3"})
    time.move_to(NOON + timedelta(days=2))
    call(ben, "decision", {"action": "deprecate", "key": "a", "reason": "old"})
    call(ben, "decision", {"action": "set", "key": "d", "value": "1", "status": "draft"})
    time.move_to(NOON + timedelta(days=3))


def rows(caller: Caller, **arguments: Any) -> list[tuple[Any, ...]]:
    """Day, of, created, changed, deprecated, in force."""
    answer = call(caller, "hub", {"action": "trends", "format": "objects", **arguments})
    names = ("created", "changed", "deprecated", "in_force")
    return [(row["at"][8:10], row.get("of"), *(row[name] for name in names)) for row in answer["items"]]


def test_days_newest_first(week: None, ada: Caller) -> None:
    assert rows(ada) == [("07", None, 1, 0, 1, 1), ("06", None, 0, 2, 0, 2), ("05", None, 2, 0, 0, 2)]


def test_a_decision_that_is_active_again(week: None, ada: Caller, time: Any) -> None:
    call(ada, "decision", {"action": "set", "key": "a", "value": "4", "status": "active"})
    time.shift(1)
    assert rows(ada)[0] == ("08", None, 0, 1, 0, 2)


def test_by_layer_and_tag_as_they_are_now(week: None, ada: Caller) -> None:
    assert rows(ada, by="layer") == [
        ("07", None, 1, 0, 0, 1),
        ("07", "business", 0, 0, 1, 0),
        ("06", "business", 0, 2, 0, 1),
        ("05", None, 1, 0, 0, 1),
        ("05", "business", 1, 0, 0, 1),
    ]
    assert rows(ada, by="tag", bucket="week") == [("05", "x", 1, 2, 1, 0), ("05", "y", 1, 2, 1, 0)]


def test_by_agent_who_wrote_them(week: None, ada: Caller) -> None:
    assert rows(ada, by="agent") == [
        ("07", "ben", 1, 0, 1, 0),
        ("06", "ada", 0, 0, 0, 1),
        ("06", "ben", 0, 2, 0, 1),
        ("05", "ada", 2, 0, 0, 2),
    ]


def test_by_status_how_many_have_it(week: None, ada: Caller) -> None:
    assert rows(ada, by="status") == [
        ("07", "active", 0, 0, 0, 1),
        ("07", "deprecated", 0, 0, 1, 1),
        ("07", "draft", 1, 0, 0, 1),
        ("06", "active", 0, 2, 0, 2),
        ("05", "active", 2, 0, 0, 2),
    ]


def test_periods_and_pages(week: None, ada: Caller) -> None:
    assert [row[0] for row in rows(ada, since="2026-01-06T09:00:00Z")] == ["07", "06"]
    assert rows(ada, until="2026-01-06") == [("05", None, 2, 0, 0, 2)]
    assert rows(ada, until="2026-01-05T11:00:00Z") == []
    first = call(ada, "hub", {"action": "trends", "limit": 2})
    assert (first["count"], first["total"]) == (2, 3)
    assert [row[0] for row in rows(ada, limit=2, cursor=first["next"])] == ["05"]


def test_days_are_those_of_the_project(ada: Caller, time: Any) -> None:
    set_config(caller=ada, values={"time_zone": "Asia/Tokyo"})
    time.move_to(NOON.replace(hour=16))  # One in the morning of the 6th.
    call(ada, "decision", {"action": "set", "key": "a", "value": "1"})
    time.shift(1)
    [row] = call(ada, "hub", {"action": "trends", "format": "objects"})["items"]
    assert row["at"] == "2026-01-05T15:00:00Z"


@pytest.mark.parametrize(
    "wrong",
    [{"bucket": "year"}, {"by": "colour"}, {"since": "x"}, {"since": "1h", "until": "2h"}, {"cursor": "x"}],
)
def test_bad_input_is_told(ada: Caller, wrong: dict[str, str]) -> None:
    with pytest.raises(InvalidInput):
        call(ada, "hub", {"action": "trends", **wrong})


def test_other_projects_are_not_counted(week: None, cy: Caller) -> None:
    assert rows(cy) == []


def test_the_statements_do_not_grow(ada: Caller) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            call(ada, "hub", {"action": "trends", "by": "tag"})
        return len(queries)

    call(ada, "decision", {"action": "set", "key": "a", "value": "1", "tags": ["x"]})
    few = statements()
    items = [{"key": f"k{n}", "value": "1", "tags": [f"t{n}"]} for n in range(50)]
    call(ada, "decision", {"action": "set_batch", "items": items})
    assert statements() == few


def test_rest_answers_the_same(ada_rest: RestClient, ada_mcp: McpClient) -> None:
    ada_rest.post("decisions/", {"key": "a", "value": "1", "layer": "business"})
    over_mcp = ada_mcp.call("hub", action="trends", by="layer", bucket="month", format="objects")["items"]
    body = ada_rest.get("trends/", by="layer", bucket="month").body
    assert body["items"] == over_mcp
    assert (body["items"][0]["of"], body["items"][0]["in_force"]) == ("business", 1)
    assert ada_rest.get("trends/", by="colour").status == 400
