"""Analytics of numeric decisions and their history."""

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

from ctxhub.core.events.log import latest_cursor
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.listing import with_rows
from memory.decisions.services import deprecate_decision, set_decision, set_decision_batch
from memory.models import Decision
from memory.statistics import numbers as analytics
from memory.statistics.numbers import analyse_decisions, key_like, percentile
from tests.hub import McpClient, RestClient
from tests.query_plans import explained, plan_by_indexes, start_compact
from tests.timing import within_cpu_seconds

START = datetime(2026, 11, 2, 10, 30, tzinfo=UTC)  # A Monday.


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(START, tick=False) as traveller:
        yield traveller


def analyse(caller: Caller, pattern: str = "perf/*", **arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = with_rows(analyse_decisions(caller.project_id, pattern, **arguments))
    return answer


def store_values(caller: Caller, *values: Any, key: str = "perf/p95_ms", **rest: Any) -> None:
    for value in values:
        set_decision(caller=caller, key=key, value=value, **rest)


# -- Statistics ------------------------------------------------------------------------------------


def test_numbers_of_all_versions_are_measured(ada: Caller) -> None:
    store_values(ada, 10, 40, 20)
    store_values(ada, 30.5, key="perf/other")
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
    store_values(ada, 3, 10**20 + 1)
    result = analyse(ada)
    assert (result["min"], result["max"], result["last"]) == (3, 10**20 + 1, 10**20 + 1)
    assert isinstance(result["min"], int)
    store_values(ada, 5, key="one")
    assert analyse(ada, "one") == {
        "count": 1,
        **dict.fromkeys(("min", "max", "mean", "p50", "p95", "last"), 5),
    }


def test_changes_of_other_fields_are_not_measured(ada: Caller, ben: Caller) -> None:
    store_values(ada, 10)
    store_values(ben, 10, tags=["slow"])
    store_values(ada, 10, rationale="Measured again.")
    deprecate_decision(caller=ada, key="perf/p95_ms", reason="Enough.")
    assert analyse(ada)["count"] == 1
    store_values(ada, 20, status="active")
    store_values(ada, 20, layer="data")
    assert (analyse(ada)["count"], analyse(ada)["mean"]) == (2, 15)


def test_an_equal_number_with_a_new_version_is_measured_again(ada: Caller) -> None:
    store_values(ada, 10)
    store_values(ada, 10, version="2.0.0")
    assert analyse(ada)["count"] == 2


def test_a_number_has_the_time_when_it_was_written(ada: Caller, clock: time_machine.Traveller) -> None:
    store_values(ada, 10)
    clock.shift(timedelta(hours=2))
    store_values(ada, 10, tags=["later"])
    clock.shift(timedelta(hours=2))
    store_values(ada, 20)
    assert analyse(ada, bucket="hour")["rows"] == [
        ["2026-11-02T14:00:00Z", 1, 20],
        ["2026-11-02T10:00:00Z", 1, 10],
    ]


def test_texts_are_left_out_and_earlier_numbers_of_the_key_are_not(ada: Caller) -> None:
    store_values(ada, 5, "slow", 7, "fast")
    result = analyse(ada)
    assert (result["count"], result["last"], result["mean"], result["left_out"]) == (2, 7, 6, 2)
    assert "left_out" not in analyse(ada, until="2020-01-01")


def test_texts_that_are_plain_numbers_count(ada: Caller) -> None:
    """As the rule for values on numeric keys reads them: no commas, leading zeros or units."""
    numbers = ["42", "3.5", " 1e3 ", "-7", "0.5E-1", "\n8\t"]
    others = ["1,5", "007", "+4", ".5", "5.", "15 minutes", "1.2.3", "NaN", "Infinity", "1e999", "x" * 500]
    for n, value in enumerate([*numbers, *others]):
        store_values(ada, value, key=f"perf/{n}")
    result = analyse(ada)
    assert (result["count"], result["left_out"]) == (len(numbers), len(others))
    assert (result["min"], result["max"]) == (-7, 1000)


def test_numbers_in_texts_and_numbers_are_one_history(ada: Caller) -> None:
    store_values(ada, "10")
    store_values(ada, "20", numeric=False)
    store_values(ada, 30)
    store_values(ada, 30, rationale="Measured again.")
    result = analyse(ada)
    assert (result["count"], result["mean"], result["last"]) == (3, 20, 30)


def test_both_faces_tell_what_was_left_out(ada: Caller, ada_mcp: McpClient, ada_rest: RestClient) -> None:
    store_values(ada, "10")
    store_values(ada, "ten", key="perf/other")
    query = {"pattern": "perf/*", "bucket": "day"}
    for answer in (
        ada_mcp.call("decision", "analytics", **query),
        ada_rest.get("decisions/analytics/", **query).body,
        ada_rest.get("decisions/analytics/", pattern="perf/*").body,
    ):
        assert (answer["count"], answer["last"], answer["left_out"]) == (1, 10, 1)


def test_without_numbers_the_answer_is_a_count_and_a_hint(ada: Caller) -> None:
    assert analyse(ada) == {"count": 0}
    store_values(ada, "fast")
    assert set(analyse(ada)) == {"count", "left_out", "hint"}
    assert set(analyse(ada, bucket="day")) == {"count", "left_out", "hint"}
    store_values(ada, 5)
    assert "in that time" in analyse(ada, until="2020-01-01")["hint"]


def test_values_written_through_the_orm_are_measured(ada: Caller) -> None:
    decision = Decision.objects.create(project=ada.project, key="perf/orm", value="4", value_type=2)
    decision.value = "8"
    decision.save()
    decision.rationale = "Why."
    decision.save()
    assert (analyse(ada)["count"], analyse(ada)["mean"]) == (2, 6)


def test_numbers_near_the_limits_of_a_float_stay_finite(ada: Caller) -> None:
    for number, value in enumerate((1.7e308, 1.7e308, -1.7e308, 1.6e308, 10**299)):
        store_values(ada, value, key=f"perf/{number}")
    result = analyse(ada, bucket="day")
    assert all(math.isfinite(result[name]) for name in ("min", "max", "mean", "p50", "p95"))
    assert result["mean"] == pytest.approx(0.66e308)


# -- Patterns, filters -----------------------------------------------------------------------------

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
    values = {key: 2**position for position, key in enumerate(KEYS)}
    set_decision_batch(caller=ada, items=[{"key": key, "value": value} for key, value in values.items()])
    result = analyse(ada, pattern)
    assert result["count"] == len(keys)
    assert result.get("mean", 0) * len(keys) == pytest.approx(sum(values[key] for key in keys))


def test_a_glob_matches_non_ascii_keys(ada: Caller) -> None:
    keys = ["数据/a", "数据/\U0010fffd", "数据/\U0010fffd\U0010fffd", "数/b", "e\u0301/x"]
    set_decision_batch(caller=ada, items=[{"key": key, "value": 1} for key in keys])
    assert analyse(ada, "数据/*")["count"] == 3
    assert analyse(ada, "é/*")["count"] == 1


def test_a_glob_with_many_stars_takes_less_than_a_second(ada: Caller) -> None:
    keys = [f"{'a' * 190}{n}" for n in range(50)]
    set_decision_batch(caller=ada, items=[{"key": key, "value": 1} for key in keys])
    with within_cpu_seconds(1):
        assert analyse(ada, "*a" * 90 + "*b")["count"] == 0


def test_since_until_and_layer_filter_the_numbers(ada: Caller, clock: time_machine.Traveller) -> None:
    store_values(ada, 10, layer="data")
    clock.shift(timedelta(hours=1))
    cursor = str(latest_cursor(ada.project_id))
    store_values(ada, 20)
    store_values(ada, 40, key="perf/b", layer="business")
    clock.shift(timedelta(hours=1))
    assert analyse(ada, since="90m")["count"] == 2
    assert analyse(ada, until="90m")["last"] == 10
    assert analyse(ada, since="2026-11-02T11:30:00Z", until="2026-11-02T11:30:00Z")["count"] == 0
    assert analyse(ada, since=cursor)["count"] == 2
    assert (analyse(ada, layer="Data")["count"], analyse(ada, layer="business")["last"]) == (2, 40)


def test_numbers_of_another_project_are_not_measured(ada: Caller, cy: Caller) -> None:
    store_values(ada, 10, 20)
    assert analyse(cy) == {"count": 0}
    store_values(cy, 5)
    assert analyse(cy)["mean"] == 5


@pytest.mark.parametrize(
    "arguments",
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
def test_bad_input_is_refused(ada: Caller, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        analyse(ada, **{"pattern": "*", **arguments})


# -- Buckets ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bucket", "starts"),
    [
        ("hour", ["2026-12-01T10", "2026-11-09T10", "2026-11-08T10", "2026-11-02T11", "2026-11-02T10"]),
        ("day", ["2026-12-01T00", "2026-11-09T00", "2026-11-08T00", "2026-11-02T00"]),
        ("week", ["2026-11-30T00", "2026-11-09T00", "2026-11-02T00"]),
        ("MONTH", ["2026-12-01T00", "2026-11-01T00"]),
    ],
)
def test_each_bucket_with_numbers_has_a_row(
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
        store_values(ada, value)
    result = analyse(ada, bucket=bucket)
    assert result["columns"] == ["at", "count", "mean"]
    assert [row[0] for row in result["rows"]] == [f"{start}:00:00Z" for start in starts]
    assert sum(int(row[1]) for row in result["rows"]) == result["count"] == 5


def test_only_the_newest_measurements_and_buckets_are_used(
    ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analytics, "MEASUREMENTS_READ", 3)
    with time_machine.travel(START, tick=False) as clock:
        for value in range(3):
            clock.shift(timedelta(days=1))
            store_values(ada, value)
        assert "more" not in analyse(ada)
        store_values(ada, 3)
    result = analyse(ada, bucket="day")
    assert (result["count"], result["min"], result["last"], result["more"]) == (3, 1, 3, True)
    assert (result["total"], "next" in result) == (2, False)
    assert analyse(ada, bucket="hour")["rows"][0][1] == 2


def test_buckets_are_paged(ada: Caller, ada_mcp: McpClient, ada_rest: RestClient) -> None:
    with time_machine.travel(START, tick=False) as clock:
        for value in range(5):
            clock.shift(timedelta(days=1))
            store_values(ada, value)
    query = {"pattern": "perf/*", "bucket": "day", "limit": 2}
    whole = ada_mcp.call("decision", "analytics", **{**query, "limit": 200})
    assert (len(whole["rows"]), whole["total"], "next" in whole) == (5, 5, False)
    rows: list[Any] = []
    cursor: dict[str, str] = {}
    while True:
        page = ada_mcp.call("decision", "analytics", **query, **cursor)
        assert (page["count"], page["total"], page["max"]) == (5, 5, 4)
        rows += page["rows"]
        if "next" not in page:
            break
        cursor = {"cursor": page["next"]}
    assert rows == whole["rows"]
    first = ada_rest.get("decisions/analytics/", **query)
    assert [item["mean"] for item in first.body["items"]] == [4, 3]
    assert 'rel="next"' in first.headers["link"]
    second = ada_rest.get("decisions/analytics/", **query, cursor=first.body["next"]).body
    assert [item["mean"] for item in second["items"]] == [2, 1]


@pytest.mark.parametrize("bad", [{"limit": 0}, {"limit": 201}, {"cursor": "x"}])
def test_a_bad_page_is_refused(
    ada: Caller, ada_mcp: McpClient, ada_rest: RestClient, bad: dict[str, Any]
) -> None:
    store_values(ada, 1)
    query = {"pattern": "perf/*", "bucket": "day", **bad}
    assert ada_mcp.call("decision", "analytics", **query)["error"] == "invalid"
    assert ada_rest.get("decisions/analytics/", **query).status == 400


# -- Arithmetic ------------------------------------------------------------------------------------

numbers = st.lists(st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6), min_size=2, max_size=50)


@given(numbers)
def test_percentiles_equal_those_of_the_statistics_module(values: list[float]) -> None:
    quantiles = statistics.quantiles(values, n=100, method="inclusive")
    for share, quantile in ((0.5, quantiles[49]), (0.95, quantiles[94])):
        assert percentile(sorted(values), share) == pytest.approx(quantile, rel=1e-9, abs=1e-9)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_mean_and_percentiles_are_finite_and_between_min_and_max(values: list[float]) -> None:
    ordered = sorted(values)
    tolerance = 1e-11 * max(abs(ordered[0]), abs(ordered[-1]))
    for value in (analytics._mean(values), percentile(ordered, 0.5), percentile(ordered, 0.95)):
        assert math.isfinite(value)
        assert ordered[0] - tolerance <= value <= ordered[-1] + tolerance


# -- Queries ---------------------------------------------------------------------------------------


def test_the_number_of_queries_does_not_grow_with_rows(ada: Caller) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            analyse(ada, bucket="day", layer="data")
        return len(queries)

    store_values(ada, 1, layer="data")
    few = count()
    for start in range(2):
        items = [{"key": f"perf/{n}", "value": n + start, "layer": "data"} for n in range(50)]
        set_decision_batch(caller=ada, items=items)
    assert count() == few


def test_a_pattern_with_a_prefix_reads_the_index_of_keys(ada: Caller) -> None:
    start_compact(Decision)
    for start in range(0, 1_000, 50):
        items = [{"key": f"k/{n:04}", "value": n, "layer": "data"} for n in range(start, start + 50)]
        set_decision_batch(caller=ada, items=items)
    index = "(memory_one_decision_per_key|sqlite_autoindex_memory_decision_1)"
    if connection.vendor == "postgresql":
        index = "memory_decision_by_prefix"
    plan_by_indexes()
    for filters in ({}, {"layer": "data"}, {"since": "1h"}):
        with CaptureQueriesContext(connection) as queries:
            assert analyse(ada, "k/099*", **filters)["count"] == 10
        plan = explained(queries.captured_queries[-1]["sql"])
        assert re.search(index, plan), plan


def test_a_pattern_without_a_star_is_an_equality() -> None:
    assert key_like("perf") == [("d.key = %s", ["perf"])]
