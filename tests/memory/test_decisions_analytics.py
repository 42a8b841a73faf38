"""Figures over numeric decisions and their history."""

import math
import re
import statistics
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.core.events.selectors.events import latest_cursor
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from memory.decisions.selectors import analytics
from memory.decisions.selectors.analytics import Analytics, analyse_decisions, percentile
from memory.decisions.services.decisions import deprecate_decision, set_decision, set_decision_batch
from memory.decisions.sql.numbers import key_like
from memory.models import Decision
from tests.query_plans import explained, plan_by_indexes, start_compact

START = datetime(2026, 11, 2, 10, 30, tzinfo=UTC)  # A Monday.


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(START, tick=False) as traveller:
        yield traveller


def analyse(caller: Caller, pattern: str = "perf/*", **said: Any) -> Analytics:
    return analyse_decisions(caller.project_id, pattern, **said)


def keep(caller: Caller, *values: Any, key: str = "perf/p95_ms", **rest: Any) -> None:
    for value in values:
        set_decision(caller=caller, key=key, value=value, **rest)


# -- Figures ---------------------------------------------------------------------------------------


def test_every_number_counts_with_its_history(ada: Caller) -> None:
    keep(ada, 10, 40, 20)
    keep(ada, 30.5, key="perf/other")
    assert analyse(ada) == {
        "count": 4,
        "min": 10,
        "max": 40,
        "mean": 25.125,
        "p50": 25.25,
        "p95": 38.575,
        "last": 30.5,
    }


def test_integers_stay_integers(ada: Caller) -> None:
    keep(ada, 3, 10**20 + 1)
    figures = analyse(ada)
    assert (figures["min"], figures["max"], figures["last"]) == (3, 10**20 + 1, 10**20 + 1)
    assert isinstance(figures["min"], int)
    keep(ada, 5, key="one")
    assert analyse(ada, "one") == {
        "count": 1,
        **dict.fromkeys(("min", "max", "mean", "p50", "p95", "last"), 5),
    }


def test_a_change_of_something_else_is_no_measurement(ada: Caller, ben: Caller) -> None:
    keep(ada, 10)
    keep(ben, 10, tags=["slow"])
    keep(ada, 10, rationale="Measured again.")
    deprecate_decision(caller=ada, key="perf/p95_ms", reason="Enough.")
    assert analyse(ada)["count"] == 1
    keep(ada, 20, status="active")
    keep(ada, 20, layer="data")
    assert (analyse(ada)["count"], analyse(ada)["mean"]) == (2, 15)


def test_the_same_number_under_a_new_version_is_measured_again(ada: Caller) -> None:
    keep(ada, 10)
    keep(ada, 10, version="2.0.0")
    assert analyse(ada)["count"] == 2


def test_a_number_counts_at_the_moment_it_was_written(ada: Caller, clock: time_machine.Traveller) -> None:
    keep(ada, 10)
    clock.shift(timedelta(hours=2))
    keep(ada, 10, tags=["later"])
    clock.shift(timedelta(hours=2))
    keep(ada, 20)
    assert analyse(ada, bucket="hour")["rows"] == [
        ["2026-11-02T14:00:00Z", 1, 20],
        ["2026-11-02T10:00:00Z", 1, 10],
    ]


def test_texts_are_left_out_and_what_was_a_number_before_is_not(ada: Caller) -> None:
    keep(ada, 5, "slow", 7, "fast")
    figures = analyse(ada)
    assert (figures["count"], figures["last"], figures["mean"]) == (2, 7, 6)


def test_without_a_number_there_is_nothing_but_a_hint(ada: Caller) -> None:
    assert analyse(ada) == {"count": 0}
    keep(ada, "fast")
    assert set(analyse(ada)) == {"count", "hint"}
    assert set(analyse(ada, bucket="day")) == {"count", "hint"}
    keep(ada, 5)
    assert "in that time" in analyse(ada, until="2020-01-01")["hint"]


def test_what_was_written_through_the_orm_counts_too(ada: Caller) -> None:
    decision = Decision.objects.create(project=ada.project, key="perf/orm", value="4", value_type=2)
    decision.value = "8"
    decision.save()
    decision.rationale = "Why."
    decision.save()
    assert (analyse(ada)["count"], analyse(ada)["mean"]) == (2, 6)


def test_numbers_near_the_ends_of_what_a_float_can_hold(ada: Caller) -> None:
    for number, value in enumerate((1.7e308, 1.7e308, -1.7e308, 1.6e308, 10**299)):
        keep(ada, value, key=f"perf/{number}")
    figures = analyse(ada, bucket="day")
    assert all(math.isfinite(figures[name]) for name in ("min", "max", "mean", "p50", "p95"))
    assert figures["mean"] == pytest.approx(0.66e308)


# -- Which ones ------------------------------------------------------------------------------------

KEYS = (
    "perf/api/p95",
    "perf/db/p95",
    "perf/p95",
    "Perf/p95",
    "perf",
    "perfect",
    "xperf/a",
    "perf/[a]?",
    "perf/100%_\\",
)
GLOBS: list[tuple[str, set[str]]] = [
    ("perf/*", {"perf/api/p95", "perf/db/p95", "perf/p95", "perf/[a]?", "perf/100%_\\"}),
    ("perf/*/p95", {"perf/api/p95", "perf/db/p95"}),
    ("*p95", {"perf/api/p95", "perf/db/p95", "perf/p95", "Perf/p95"}),
    ("perf", {"perf"}),
    ("perf*", set(KEYS) - {"Perf/p95", "xperf/a"}),
    ("*", set(KEYS)),
    ("**", set(KEYS)),
    ("Perf/*", {"Perf/p95"}),
    ("perf/[a]?", {"perf/[a]?"}),
    ("perf/[a]*", {"perf/[a]?"}),
    ("perf/?*", set()),
    ("perf/100%*", {"perf/100%_\\"}),
    ("perf/100%_\\*", {"perf/100%_\\"}),
    ("perf/_*", set()),
    ("perf/%*", set()),
    ("*\\", {"perf/100%_\\"}),
    (" perf ", {"perf"}),
    ("per?", set()),
]


@pytest.mark.parametrize(("pattern", "keys"), GLOBS)
def test_a_glob_matches_whole_keys(ada: Caller, pattern: str, keys: set[str]) -> None:
    values = {key: 2**place for place, key in enumerate(KEYS)}
    set_decision_batch(caller=ada, items=[{"key": key, "value": value} for key, value in values.items()])
    figures = analyse(ada, pattern)
    assert figures["count"] == len(keys)
    assert figures.get("mean", 0) * len(keys) == pytest.approx(sum(values[key] for key in keys))


def test_a_glob_reaches_keys_of_any_characters(ada: Caller) -> None:
    keys = ["数据/a", "数据/\U0010ffff", "数据/\U0010ffff\U0010ffff", "数/b", "e\u0301/x"]
    set_decision_batch(caller=ada, items=[{"key": key, "value": 1} for key in keys])
    assert analyse(ada, "数据/*")["count"] == 3
    assert analyse(ada, "é/*")["count"] == 1


def test_no_glob_takes_long(ada: Caller) -> None:
    keys = [f"{'a' * 190}{n}" for n in range(50)]
    set_decision_batch(caller=ada, items=[{"key": key, "value": 1} for key in keys])
    with time_machine.travel(START, tick=True):
        started = datetime.now(UTC)
        assert analyse(ada, "*a" * 90 + "*b")["count"] == 0
        assert datetime.now(UTC) - started < timedelta(seconds=1)


def test_times_and_layer_narrow_it(ada: Caller, clock: time_machine.Traveller) -> None:
    keep(ada, 10, layer="data")
    clock.shift(timedelta(hours=1))
    cursor = str(latest_cursor(ada.project_id))
    keep(ada, 20)
    keep(ada, 40, key="perf/b", layer="business")
    clock.shift(timedelta(hours=1))
    assert analyse(ada, since="90m")["count"] == 2
    assert analyse(ada, until="90m")["last"] == 10
    assert analyse(ada, since="2026-11-02T11:30:00Z", until="2026-11-02T11:30:00Z")["count"] == 0
    assert analyse(ada, since=cursor)["count"] == 2
    assert (analyse(ada, layer="Data")["count"], analyse(ada, layer="business")["last"]) == (2, 40)


def test_another_projects_numbers_do_not_exist(ada: Caller, cy: Caller) -> None:
    keep(ada, 10, 20)
    assert analyse(cy) == {"count": 0}
    keep(cy, 5)
    assert analyse(cy)["mean"] == 5


@pytest.mark.parametrize(
    "said",
    [
        {"pattern": " "},
        {"pattern": "x" * 201},
        {"pattern": "a\x00*"},
        {"bucket": "year"},
        {"since": "soon"},
        {"until": "x"},
        {"layer": "nowhere"},
    ],
)
def test_bad_input_is_refused(ada: Caller, said: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        analyse(ada, **{"pattern": "*", **said})


# -- In time ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bucket", "starts"),
    [
        ("hour", ["2026-12-01T10", "2026-11-09T10", "2026-11-08T10", "2026-11-02T11", "2026-11-02T10"]),
        ("day", ["2026-12-01T00", "2026-11-09T00", "2026-11-08T00", "2026-11-02T00"]),
        ("week", ["2026-11-30T00", "2026-11-09T00", "2026-11-02T00"]),
        ("MONTH", ["2026-12-01T00", "2026-11-01T00"]),
    ],
)
def test_a_bucket_has_a_row(
    ada: Caller, clock: time_machine.Traveller, bucket: str, starts: list[str]
) -> None:
    shifts = [
        timedelta(),
        timedelta(hours=1),
        timedelta(days=5, hours=23),
        timedelta(days=1),
        timedelta(days=22),
    ]
    for value, shift in enumerate(shifts):
        clock.shift(shift)
        keep(ada, value)
    figures = analyse(ada, bucket=bucket)
    assert figures["columns"] == ["at", "count", "mean"]
    assert [row[0] for row in figures["rows"]] == [f"{start}:00:00Z" for start in starts]
    assert sum(int(row[1]) for row in figures["rows"]) == figures["count"] == 5


def test_only_the_newest_are_read_and_shown(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analytics, "MEASUREMENTS_READ", 3)
    monkeypatch.setattr(analytics, "BUCKETS_SHOWN", 2)
    with time_machine.travel(START, tick=False) as clock:
        for value in range(3):
            clock.shift(timedelta(days=1))
            keep(ada, value)
        assert "more" not in analyse(ada)
        keep(ada, 3)
    figures = analyse(ada, bucket="day")
    assert (figures["count"], figures["min"], figures["last"], figures["more"]) == (3, 1, 3, True)
    assert "omitted" not in figures
    assert analyse(ada, bucket="hour")["rows"][0][1] == 2
    monkeypatch.setattr(analytics, "BUCKETS_SHOWN", 1)
    assert analyse(ada, bucket="day")["omitted"] == 1


# -- The arithmetic --------------------------------------------------------------------------------

numbers = st.lists(st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6), min_size=2, max_size=50)


@given(numbers)
def test_percentiles_are_those_of_the_textbook(values: list[float]) -> None:
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    for share, cut in ((0.5, cuts[49]), (0.95, cuts[94])):
        assert percentile(sorted(values), share) == pytest.approx(cut, rel=1e-9, abs=1e-9)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_figures_are_finite_and_lie_between_the_ends(values: list[float]) -> None:
    ordered = sorted(values)
    slack = 1e-11 * max(abs(ordered[0]), abs(ordered[-1]))
    for figure in (analytics._mean(values), percentile(ordered, 0.5), percentile(ordered, 0.95)):
        assert math.isfinite(figure)
        assert ordered[0] - slack <= figure <= ordered[-1] + slack


# -- Costs -----------------------------------------------------------------------------------------


def test_it_asks_as_often_however_much_there_is(ada: Caller) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            analyse(ada, bucket="day", layer="data")
        return len(queries)

    keep(ada, 1, layer="data")
    few = count()
    for start in range(2):
        items = [{"key": f"perf/{n}", "value": n + start, "layer": "data"} for n in range(50)]
        set_decision_batch(caller=ada, items=items)
    assert count() == few


def test_a_beginning_walks_the_keys(ada: Caller) -> None:
    start_compact(Decision)
    for start in range(0, 1_000, 50):
        items = [{"key": f"k/{n:04}", "value": n, "layer": "data"} for n in range(start, start + 50)]
        set_decision_batch(caller=ada, items=items)
    index = "(memory_one_decision_per_key|sqlite_autoindex_memory_decision_1)"
    if connection.vendor == "postgresql":
        index = "memory_decision_by_prefix"
    plan_by_indexes()
    for said in ({}, {"layer": "data"}, {"since": "1h"}):
        with CaptureQueriesContext(connection) as queries:
            assert analyse(ada, "k/099*", **said)["count"] == 10
        plan = explained(queries.captured_queries[-1]["sql"])
        assert re.search(index, plan), plan


def test_a_key_without_a_star_is_looked_up() -> None:
    assert key_like("perf") == [("d.key = %s", ["perf"])]
