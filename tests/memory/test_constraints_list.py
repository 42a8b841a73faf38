"""Lists of constraints: filters, order, cursors and pages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.listing import make_cursor
from ctxhub.core.kit.priority import Priority
from ctxhub.core.models import Category, Project
from ctxhub.core.vocabulary.services import rename_word
from memory.constraints.queries import list_constraints
from memory.constraints.services import add_constraint, deactivate_constraint
from memory.models import Constraint
from tests.properties import SHARED_FIXTURES

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def texts(caller: Caller, **query: Any) -> list[str]:
    return [str(row["text"]) for row in list_constraints(caller.project_id, **query).objects()]


def total(caller: Caller, **query: Any) -> Mapping[str, Any]:
    return list_constraints(caller.project_id, **query).extra


def add(caller: Caller, text: str, hours: int = 0, **rest: Any) -> int:
    with time_machine.travel(NOON + timedelta(hours=hours), tick=False):
        return add_constraint(caller=caller, text=text, **{"category": "security", **rest})["id"]


def deactivate(caller: Caller, constraint_id: int) -> None:
    deactivate_constraint(caller=caller, constraint_id=constraint_id)


# -- Order and rows --------------------------------------------------------------------------------


def test_lists_are_ordered_by_priority_then_category_then_newest(ada: Caller) -> None:
    for hours, (text, category, priority) in enumerate(
        (
            ("a", "security", "high"),
            ("b", "security", "critical"),
            ("c", "architecture", "low"),
            ("d", "architecture", "high"),
            ("e", "security", "high"),
            ("f", "Architecture", "high"),
        )
    ):
        add(ada, text, hours, category=category, priority=priority)
    assert texts(ada) == ["b", "f", "d", "e", "a", "c"]


def test_at_equal_times_the_higher_id_comes_first(ada: Caller) -> None:
    for text in "abc":
        add(ada, text)
    assert texts(ada) == ["c", "b", "a"]


def test_a_row_has_all_columns(ada: Caller) -> None:
    row_id = add(ada, "a", layer="data", tags=["api"], scopes=["src"], reason="Why.", paths=["x/**"])
    assert list_constraints(ada.project_id).answer() == {
        "columns": [
            *("id", "category", "text", "priority", "layer", "tags", "scopes", "reason", "status", "agent"),
            "at",
        ],
        "rows": [
            [
                *(row_id, "security", "a", "medium", "data", ["api"], ["src"], "Why.", "active", "ada"),
                "2026-11-21T12:00:00Z",
            ]
        ],
        "count": 1,
        "total": 1,
    }


def test_long_texts_are_cut_unless_full(ada: Caller) -> None:
    add(ada, "x" * 201, reason="y" * 201)
    [cut] = list_constraints(ada.project_id).objects()
    assert (cut["text"], cut["reason"]) == ("x" * 200 + "…", "y" * 200 + "…")
    [full] = list_constraints(ada.project_id, full=True).objects()
    assert (full["text"], full["reason"]) == ("x" * 201, "y" * 201)


def test_a_renamed_category_is_sorted_and_filtered_by_its_new_name(ada: Caller) -> None:
    add(ada, "a", category="alpha", tags=["x"], scopes=["s"])
    add(ada, "b", category="beta", tags=["x"], scopes=["s"])
    category = Category.objects.in_project(ada.project).get(name="alpha")
    rename_word(caller=ada, word=category, name="Zeta")
    for query in ({}, {"tags": ["x"]}, {"scope": "s"}, {"status": "any"}):
        assert texts(ada, **query) == ["b", "a"]
    assert texts(ada, category="zeta") == texts(ada, category="ZETA", tags=["x"]) == ["a"]
    assert texts(ada, category="alpha") == []


# -- Filters ---------------------------------------------------------------------------------------


def test_lists_show_active_constraints_by_default(ada: Caller) -> None:
    add(ada, "a", 0)
    deactivate(ada, add(ada, "b", 1))
    assert texts(ada) == texts(ada, status="active") == texts(ada, status=1) == ["a"]
    assert texts(ada, status="INACTIVE") == texts(ada, status="2") == ["b"]
    assert texts(ada, status="any") == ["b", "a"]


def test_filters_ignore_case_and_surrounding_spaces(ada: Caller, ben: Caller) -> None:
    add(ada, "a", layer="data", tags=["OAuth"], category="Privacy", priority="high")
    add(ben, "b", layer="business")
    for query in (
        {"layer": " DATA "},
        {"by": " Ada "},
        {"tags": ["oauth"]},
        {"category": " privacy "},
        {"priority": "HIGH"},
        {"priority": 3},
    ):
        assert texts(ada, **query) == ["a"], query


def test_tags_match_any_or_all(ada: Caller) -> None:
    add(ada, "both", 2, tags=["x", "y"])
    add(ada, "one", 1, tags=["x"])
    add(ada, "none", 0)
    assert texts(ada, tags=["x", "y"]) == texts(ada, tags=["x", "y"], match="OR") == ["both", "one"]
    assert texts(ada, tags=["x", "y"], match="all") == texts(ada, tags=["Y", "X"], match="AND") == ["both"]


def test_tags_and_scopes_match_only_whole_names(ada: Caller) -> None:
    add(ada, "a", tags=["rapid"], scopes=["rapid"])
    assert texts(ada, tags=["api"]) == texts(ada, scope="api") == []


@pytest.mark.parametrize(
    ("scope", "found"),
    [
        ("api", ["api"]),
        ("API/Auth", ["api/auth"]),
        ("api/*", ["api/a_b", "api/auth"]),
        ("*", ["100%", "a\\b", "api", "api/a_b", "api/auth"]),
        ("api/a_*", ["api/a_b"]),
        ("*%", ["100%"]),
    ],
)
def test_a_scope_may_be_a_glob(ada: Caller, scope: str, found: list[str]) -> None:
    for name in ("api", "api/auth", "api/a_b", "100%", "a\\b"):
        add(ada, name, scopes=[name])
    assert sorted(texts(ada, scope=scope)) == found


def test_filters_without_matches_return_nothing(ada: Caller) -> None:
    add(ada, "a", tags=["x"], scopes=["s"])
    for query in (
        {"tags": ["nothing"]},
        {"tags": ["x", "nothing"], "match": "all"},
        {"scope": "nothing"},
        {"scope": "nothing*"},
        {"by": "nobody"},
        {"category": "nothing"},
        {"category": "performance"},
        {"priority": "critical"},
    ):
        assert texts(ada, **query) == []
        assert total(ada, **query) == {"total": 0}


@pytest.mark.parametrize(
    "bad",
    [
        {"status": "odd"},
        {"status": 3},
        {"layer": "nowhere"},
        {"priority": "urgent"},
        {"priority": 0},
        {"match": "some"},
        {"category": "x" * 101},
        {"tags": ["a\x00"]},
        {"limit": 0},
        {"limit": 201},
        {"limit": 10**30},
        {"cursor": "nonsense"},
    ],
    ids=str,
)
def test_invalid_arguments_are_refused_even_if_nothing_could_match(ada: Caller, bad: Any) -> None:
    for impossible in ({}, {"by": "nobody"}, {"scope": "nothing"}):
        with pytest.raises(InvalidInput):
            texts(ada, **bad, **impossible)


def test_another_projects_constraints_are_not_listed(ada: Caller, cy: Caller) -> None:
    add(ada, "a", tags=["x"])
    assert texts(cy) == texts(cy, tags=["x"]) == texts(cy, status="any") == []
    cursor = make_cursor("0", NOON.isoformat(), 10**6)
    assert texts(cy, cursor=cursor) == []


def test_the_total_stops_at_a_thousand(ada: Caller) -> None:
    category = Category.objects.in_project(ada.project).get(name="security")
    add(ada, "first")
    [one] = Constraint.objects.in_project(ada.project)
    copies = [
        Constraint(project=ada.project, category=category, text=str(n), digest=str(n), rank=one.rank)
        for n in range(999)
    ]
    Constraint.unscoped.bulk_create(copies)
    assert total(ada) == total(ada, category="security") == {"total": 1_000}
    add(ada, "one more", priority="low")
    assert total(ada) == {"total": 1_000, "more": True}
    assert total(ada, priority="low") == {"total": 1}


# -- Cursors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cursor",
    [
        "%%%",
        "\x00",
        "x" * 10_000,
        make_cursor(1),
        make_cursor("1security", NOON.isoformat()),
        make_cursor("1security", NOON.isoformat(), "1"),
        make_cursor("1security", NOON.isoformat(), 10**30),
        make_cursor("1security", "someday", 1),
        make_cursor("1security", "0001-01-01T00:00:00+14:00", 1),
        make_cursor("a\x00", NOON.isoformat(), 1),
        make_cursor("\ud800", NOON.isoformat(), 1),
        make_cursor(1, NOON.isoformat(), 1),
    ],
)
def test_a_forged_cursor_is_refused(ada: Caller, cursor: str) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        texts(ada, cursor=cursor)


def test_a_cursor_of_another_filter_does_not_widen_the_filter(ada: Caller) -> None:
    for n, priority in enumerate(Priority.labels):
        for category in ("architecture", "security"):
            add(ada, f"{priority} {category}", n, category=category, priority=priority)
    cursors = [
        make_cursor(row.rank, row.created_at.isoformat(), row.pk + 1)
        for row in Constraint.objects.in_project(ada.project)
    ]
    for cursor in cursors:
        assert all(text.startswith("high") for text in texts(ada, priority="high", cursor=cursor))
        assert all(text.endswith("security") for text in texts(ada, category="security", cursor=cursor))


# -- Generated constraints, filters and pages ------------------------------------------------------

CATEGORIES = ["alpha", "alpha beta", "Alphabet", "ß", "中"]
TAGS = ["red", "Green", "blue", "ΣΑΣ"]
SCOPES = ["api/x", "api/y", "db"]
TIMES = [NOON + timedelta(hours=n) for n in range(3)]

few_tags = st.lists(st.sampled_from(TAGS), max_size=3, unique=True)
few_scopes = st.lists(st.sampled_from(SCOPES), max_size=2, unique=True)


@dataclass(frozen=True)
class Example:
    """A constraint as a plain Python object."""

    text: str
    category: str
    priority: str
    is_active: bool
    layer: str | None
    tags: list[str]
    scopes: list[str]
    agent: str
    at: datetime


examples = st.lists(
    st.builds(
        Example,
        text=st.sampled_from([str(n) for n in range(14)]),
        category=st.sampled_from(CATEGORIES),
        priority=st.sampled_from(Priority.labels),
        is_active=st.sampled_from([True, True, False]),
        layer=st.sampled_from([None, "data", "business"]),
        tags=few_tags,
        scopes=few_scopes,
        agent=st.sampled_from(["ada", "ben"]),
        at=st.sampled_from(TIMES),
    ),
    max_size=14,
    unique_by=lambda example: example.text,
)
filters = st.fixed_dictionaries(
    {"status": st.sampled_from(["any", "any", "active", "inactive"])},
    optional={
        "category": st.sampled_from([*CATEGORIES, "ALPHA"]),
        "priority": st.sampled_from(Priority.labels),
        "layer": st.sampled_from(["data", "Business"]),
        "tags": few_tags,
        "match": st.sampled_from(["any", "all"]),
        "scope": st.sampled_from([*SCOPES, "api/*", "*", "ap*x"]),
        "by": st.sampled_from(["ada", "BEN"]),
    },
)


@settings(SHARED_FIXTURES, max_examples=150)
@given(examples=examples, query=filters, size=st.integers(1, 6))
def test_pages_match_a_filter_in_plain_python(
    apollo: Project, examples: list[Example], query: dict[str, Any], size: int
) -> None:
    with rolled_back():
        ids = store(apollo, examples)
        expected = [example for example in examples if matches(example, query)]
        # The database decides the order of categories; here only that each is contiguous.
        pages = list(paged(apollo, limit=size, **query))
        found = [text for page in pages for text in page]
        assert sorted(found) == sorted(example.text for example in expected)
        assert all(len(page) == size for page in pages[:-1])
        by_text = {example.text: example for example in examples}
        in_order = [by_text[text] for text in found]
        priorities = [Priority.labels.index(example.priority) for example in in_order]
        assert priorities == sorted(priorities, reverse=True)
        for group in group_by_priority_and_category(in_order):
            assert group == sorted(group, key=lambda example: (example.at, ids[example.text]), reverse=True)


def group_by_priority_and_category(ordered: Sequence[Example]) -> Iterable[list[Example]]:
    """Groups the constraints by priority and category. Fails unless each group is contiguous."""
    groups: dict[tuple[str, str], list[Example]] = {}
    last_group = None
    for example in ordered:
        group = example.priority, example.category.casefold()
        assert group == last_group or group not in groups
        groups.setdefault(group, []).append(example)
        last_group = group
    return groups.values()


def matches(example: Example, query: Mapping[str, Any]) -> bool:
    return all(
        (
            query["status"] in ("any", "active" if example.is_active else "inactive"),
            query.get("category", example.category).casefold() == example.category.casefold(),
            query.get("priority", example.priority) == example.priority,
            query.get("layer", example.layer or "").lower() == (example.layer or ""),
            has_tags(example, query.get("tags", ()), query.get("match", "any")),
            "scope" not in query or any(fnmatchcase(s, query["scope"]) for s in example.scopes),
            query.get("by", example.agent).lower() == example.agent,
        )
    )


def has_tags(example: Example, tags: Iterable[str], match: str) -> bool:
    found = [tag in example.tags for tag in tags]
    return not found or (all(found) if match == "all" else any(found))


def paged(project: Project, **query: Any) -> Iterator[list[str]]:
    cursor: str | None = None
    totals = set()
    while True:
        page = list_constraints(project.pk, cursor=cursor, **query)
        totals.add(page.extra["total"])
        assert len(totals) == 1
        yield [str(row["text"]) for row in page.objects()]
        cursor = page.next
        if cursor is None:
            return


def store(project: Project, examples: Iterable[Example]) -> dict[str, int]:
    ids = {}
    for example in examples:
        caller = Caller(project=project, agent=example.agent)
        with time_machine.travel(example.at, tick=False):
            ids[example.text] = add_constraint(
                caller=caller,
                category=example.category,
                text=example.text,
                priority=example.priority,
                layer=example.layer,
                tags=example.tags,
                scopes=example.scopes,
            )["id"]
            if not example.is_active:
                deactivate(caller, ids[example.text])
    return ids


@contextmanager
def rolled_back() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
