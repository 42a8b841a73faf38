"""Lists of decisions: filters, orders, cursors and pages."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any

import pytest
import time_machine
from django.db import transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxhub.core.events.log import latest_cursor
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.listing import make_cursor
from ctxhub.core.models import Project
from memory.decisions.models import version_order
from memory.decisions.queries import list_decisions
from memory.decisions.services import deprecate_decision, set_decision, set_decision_batch
from memory.models import Decision
from tests.properties import SHARED_FIXTURES

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def keys(caller: Caller, **query: Any) -> list[str]:
    return [str(row["key"]) for row in list_decisions(caller.project_id, **query).objects()]


def total(caller: Caller, **query: Any) -> Mapping[str, Any]:
    return list_decisions(caller.project_id, **query).extra


def decide(caller: Caller, key: str, hours: int = 0, **rest: Any) -> None:
    with time_machine.travel(NOON + timedelta(hours=hours), tick=False):
        set_decision(caller=caller, key=key, **{"value": "x", **rest})


# -- Filters ---------------------------------------------------------------------------------------


def test_lists_show_active_decisions_newest_first_by_default(ada: Caller) -> None:
    for hours, (key, status) in enumerate((("a", "active"), ("b", "draft"), ("c", "active"))):
        decide(ada, key, hours, status=status)
    assert keys(ada) == ["c", "a"]
    assert keys(ada, status="draft") == ["b"]
    assert keys(ada, status="any") == ["c", "b", "a"]


def test_a_row_has_all_columns(ada: Caller) -> None:
    decide(ada, "a", value=5, layer="data", tags=["api"], scopes=["src"])
    assert list_decisions(ada.project_id).answer() == {
        "columns": ["key", "value", "version", "status", "layer", "tags", "scopes", "agent", "updated"],
        "rows": [["a", 5, "1.0.0", "active", "data", ["api"], ["src"], "ada", "2026-11-21T12:00:00Z"]],
        "count": 1,
        "total": 1,
    }


def test_long_values_are_cut_unless_full(ada: Caller) -> None:
    decide(ada, "a", value="x" * 201)
    assert list_decisions(ada.project_id).objects()[0]["value"] == "x" * 200 + "…"
    assert list_decisions(ada.project_id, full=True).objects()[0]["value"] == "x" * 201


def test_filters_ignore_case_and_surrounding_spaces(ada: Caller, ben: Caller) -> None:
    decide(ada, "a", layer="data", tags=["OAuth"])
    decide(ben, "b", layer="business")
    assert keys(ada, layer=" DATA ") == keys(ada, by=" Ada ") == keys(ada, tags=["oauth"]) == ["a"]


def test_tags_match_any_or_all(ada: Caller) -> None:
    decide(ada, "both", 2, tags=["x", "y"])
    decide(ada, "one", 1, tags=["x"])
    decide(ada, "none", 0)
    assert keys(ada, tags=["x", "y"]) == keys(ada, tags=["x", "y"], match="OR") == ["both", "one"]
    assert keys(ada, tags=["x", "y"], match="all") == keys(ada, tags=["Y", "X"], match="AND") == ["both"]
    assert keys(ada, exclude_tags=["y"]) == ["one", "none"]


def test_filters_without_matches_return_nothing(ada: Caller) -> None:
    decide(ada, "a", tags=["x"], scopes=["s"])
    for query in (
        {"tags": ["nothing"]},
        {"tags": ["x", "nothing"], "match": "all"},
        {"scope": "nothing"},
        {"scope": "nothing*"},
        {"by": "nobody"},
    ):
        assert keys(ada, **query) == []
        assert total(ada, **query) == {"total": 0}


def test_excluding_an_unused_tag_excludes_nothing(ada: Caller) -> None:
    decide(ada, "a")
    assert keys(ada, exclude_tags=["nothing"]) == ["a"]


@pytest.mark.parametrize(
    "bad", [{"since": "someday"}, {"status": "odd"}, {"layer": "nowhere"}, {"text": " "}]
)
def test_invalid_arguments_are_refused_even_if_nothing_could_match(ada: Caller, bad: Any) -> None:
    for impossible in ({"tags": ["nothing"]}, {"by": "nobody"}, {"scope": "nothing"}, {}):
        with pytest.raises(InvalidInput):
            keys(ada, **bad, **impossible)


@pytest.mark.parametrize(
    ("scope", "found"),
    [
        ("api", ["api"]),
        ("API/Auth", ["api/auth"]),
        ("api/*", ["api/auth", "api/a_b"]),
        ("*", ["api", "api/auth", "api/a_b", "100%", "a\\b"]),
        ("api/a_b", ["api/a_b"]),
        ("api/a_*", ["api/a_b"]),
        ("*%", ["100%"]),
        ("*\\*", ["a\\b"]),
    ],
)
def test_in_a_scope_only_the_star_is_special(ada: Caller, scope: str, found: list[str]) -> None:
    for scope_name in ("api", "api/auth", "api/a_b", "100%", "a\\b"):
        decide(ada, scope_name, scopes=[scope_name])
    assert sorted(keys(ada, scope=scope)) == sorted(found)


def test_a_glob_may_match_any_number_of_scopes(ada: Caller) -> None:
    for start in range(0, 1_100, 50):
        items = [{"key": f"k{n}", "value": n, "scopes": [f"api/{n:04}"]} for n in range(start, start + 50)]
        set_decision_batch(caller=ada, items=items)
    assert total(ada, scope="api/*") == {"total": 1_000, "more": True}
    assert total(ada, scope="api/0*") == {"total": 1_000}
    assert total(ada, scope="api/1*") == {"total": 100}
    assert keys(ada, scope="api/*", limit=1) == ["k1099"]


def test_since_is_inclusive_and_until_is_exclusive(ada: Caller) -> None:
    for hours, key in enumerate("abc"):
        decide(ada, key, hours)
    one = (NOON + timedelta(hours=1)).isoformat()
    assert keys(ada, since=one) == ["c", "b"]
    assert keys(ada, until=one) == ["a"]
    with time_machine.travel(NOON + timedelta(hours=3), tick=False):
        assert keys(ada, since="90m") == ["c"]


def test_since_an_event_lists_later_changes(ada: Caller) -> None:
    decide(ada, "a", 0)
    cursor = str(latest_cursor(ada.project_id))
    decide(ada, "b", 1)
    assert keys(ada, since=cursor) == ["b"]
    assert keys(ada, since="e0") == ["b", "a"]
    assert keys(ada, until=cursor) == ["a"]


def test_versions_sort_as_numbers(ada: Caller) -> None:
    for version in ("1.0.10", "1.0.9", "v2", "1.0.9-beta", "10"):
        decide(ada, version, version=version)
    assert keys(ada, sort="version", order="asc")[:2] == ["1.0.9", "1.0.9-beta"]
    assert keys(ada, sort="version", order="asc").index("1.0.10") == 2


def test_a_deprecated_decision_is_listed_only_by_its_status(ada: Caller) -> None:
    decide(ada, "a")
    deprecate_decision(caller=ada, key="a")
    assert keys(ada) == []
    assert keys(ada, status="deprecated") == keys(ada, status=2) == ["a"]


def test_the_total_stops_at_a_thousand(ada: Caller) -> None:
    for start in range(0, 1_000, 50):
        set_decision_batch(
            caller=ada, items=[{"key": f"k{n}", "value": n, "tags": ["x"]} for n in range(start, start + 50)]
        )
    assert total(ada) == total(ada, tags=["x"]) == {"total": 1_000}
    decide(ada, "one more", tags=["x"])
    assert total(ada) == total(ada, tags=["x"]) == {"total": 1_000, "more": True}


# -- Cursors ---------------------------------------------------------------------------------------


def test_a_cursor_of_another_sort_is_refused(ada: Caller) -> None:
    for key in "abc":
        decide(ada, key)
    for sort in ("updated", "key", "version"):
        cursor = list_decisions(ada.project_id, sort=sort, limit=1).next
        for other in {"updated", "key", "version"} - {sort}:
            with pytest.raises(InvalidInput, match="cursor"):
                keys(ada, sort=other, cursor=cursor)


@pytest.mark.parametrize(
    "cursor",
    [
        "nonsense",
        "%%%",
        "é",
        "\ud800",
        "\x00",
        "x" * 10_000,
        make_cursor(1),
        make_cursor("updated", "2026-11-21T12:00:00+00:00"),
        make_cursor("updated", "2026-11-21T12:00:00+00:00", "1"),
        make_cursor("updated", "2026-11-21T12:00:00+00:00", 10**30),
        make_cursor("updated", "2026-11-21T12:00:00+00:00", -(10**30)),
        make_cursor("updated", "someday", 1),
        make_cursor("updated", "0001-01-01T00:00:00+14:00", 1),
        make_cursor("updated", "9999-12-31T23:59:59-14:00", 1),
        make_cursor("key", "a\x00", 1),
        make_cursor("key", "\ud800", 1),
        make_cursor("version", "a\x00", 1),
        "W" * 5_000,
        "W10",
        "bnVsbA",
        "e30",
        "MQ",
    ],
)
@pytest.mark.parametrize("sort", ["updated", "key", "version"])
def test_a_forged_cursor_is_refused(ada: Caller, sort: str, cursor: str) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        keys(ada, sort=sort, cursor=cursor)


@pytest.mark.parametrize("limit", [0, 201, -1, 10**30])
def test_a_page_holds_1_to_200_rows(ada: Caller, limit: int) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        keys(ada, limit=limit)


# -- Generated decisions, filters, orders and pages ------------------------------------------------

NAMES = ["a", "A", "b", "a/b", "a b", "a\ue0b0b", "é", "ß", "👩\u200d👧", "z" * 200, "%", "_", "\\", "中"]
TAGS = ["red", "Green", "blue", "ΣΑΣ"]
SCOPES = ["api/x", "api/y", "db"]
TIMES = [NOON + timedelta(hours=n) for n in range(3)]

few_tags = st.lists(st.sampled_from(TAGS), max_size=3, unique=True)
few_scopes = st.lists(st.sampled_from(SCOPES), max_size=2, unique=True)


@dataclass(frozen=True)
class Example:
    """A decision as a plain Python object."""

    key: str
    status: str
    version: str
    layer: str | None
    tags: list[str]
    scopes: list[str]
    agent: str
    at: datetime


examples = st.lists(
    st.builds(
        Example,
        key=st.sampled_from(NAMES),
        status=st.sampled_from(["active", "active", "draft", "deprecated"]),
        version=st.sampled_from(["1.0.0", "1.0.9", "1.0.10", "v2", "beta"]),
        layer=st.sampled_from([None, "data", "business"]),
        tags=few_tags,
        scopes=few_scopes,
        agent=st.sampled_from(["ada", "ben"]),
        at=st.sampled_from(TIMES),
    ),
    max_size=len(NAMES),
    unique_by=lambda example: example.key,
)
filters = st.fixed_dictionaries(
    {"status": st.sampled_from(["any", "any", "active", "draft"])},
    optional={
        "layer": st.sampled_from(["data", "Business"]),
        "tags": few_tags,
        "match": st.sampled_from(["any", "all"]),
        "exclude_tags": few_tags,
        "scope": st.sampled_from([*SCOPES, "api/*", "*", "ap*x"]),
        "by": st.sampled_from(["ada", "BEN"]),
        "since": st.sampled_from([at.isoformat() for at in TIMES]),
        "until": st.sampled_from([at.isoformat() for at in TIMES]),
    },
)
orders = st.fixed_dictionaries(
    {"sort": st.sampled_from(["updated", "key", "version"]), "order": st.sampled_from(["desc", "asc"])}
)


@settings(SHARED_FIXTURES, max_examples=150)
@given(examples=examples, query=filters, order=orders, size=st.integers(1, 6))
def test_pages_match_a_filter_and_sort_in_plain_python(
    apollo: Project, examples: list[Example], query: dict[str, Any], order: dict[str, str], size: int
) -> None:
    with rolled_back():
        store(apollo, examples)
        ids: dict[str, int] = dict(Decision.objects.in_project(apollo).values_list("key", "id"))
        expected = sorted(
            (example for example in examples if matches(example, query)),
            key=lambda example: (sort_value(example, order["sort"]), ids[example.key]),
            reverse=order["order"] == "desc",
        )
        pages = list(paged(apollo, limit=size, **query, **order))
        assert [key for page in pages for key in page] == [example.key for example in expected]
        assert all(len(page) == size for page in pages[:-1])


def matches(example: Example, query: Mapping[str, Any]) -> bool:
    return all(
        (
            query["status"] in ("any", example.status),
            query.get("layer", example.layer or "").lower() == (example.layer or ""),
            has_tags(example, query.get("tags", ()), query.get("match", "any")),
            not set(example.tags) & set(query.get("exclude_tags", ())),
            "scope" not in query or any(fnmatchcase(s, query["scope"]) for s in example.scopes),
            query.get("by", example.agent).lower() == example.agent,
            "since" not in query or example.at >= datetime.fromisoformat(query["since"]),
            "until" not in query or example.at < datetime.fromisoformat(query["until"]),
        )
    )


def has_tags(example: Example, tags: Iterable[str], match: str) -> bool:
    found = [tag in example.tags for tag in tags]
    return not found or (all(found) if match == "all" else any(found))


def sort_value(example: Example, sort: str) -> Any:
    return {"updated": example.at, "key": example.key, "version": version_order(example.version)}[sort]


def paged(project: Project, **query: Any) -> Iterator[list[str]]:
    cursor: str | None = None
    totals = set()
    while True:
        page = list_decisions(project.pk, cursor=cursor, **query)
        totals.add(page.extra["total"])
        assert len(totals) == 1
        yield [str(row[0]) for row in page.rows]
        cursor = page.next
        if cursor is None:
            return


def store(project: Project, examples: Iterable[Example]) -> None:
    for example in examples:
        with time_machine.travel(example.at, tick=False):
            set_decision(
                caller=Caller(project=project, agent=example.agent),
                key=example.key,
                value="x",
                status=example.status,
                version=example.version,
                layer=example.layer,
                tags=example.tags,
                scopes=example.scopes,
            )


@contextmanager
def rolled_back() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
