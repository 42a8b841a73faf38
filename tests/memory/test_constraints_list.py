"""Lists of constraints: every filter, their one order, any page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any

import pytest
import time_machine
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.listing import make_cursor
from ctxhub.core.kit.priority import Priority
from ctxhub.core.models import Category, Project
from ctxhub.core.vocabulary.services.changes import rename_word
from memory.constraints.lists import list_constraints
from memory.constraints.services import add_constraint, deactivate_constraint
from memory.models import Constraint

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def texts(caller: Caller, **query: Any) -> list[str]:
    return [str(row["text"]) for row in list_constraints(caller.project_id, **query).objects()]


def total(caller: Caller, **query: Any) -> Mapping[str, Any]:
    return list_constraints(caller.project_id, **query).extra


def add(caller: Caller, text: str, hours: int = 0, **rest: Any) -> int:
    with time_machine.travel(NOON + timedelta(hours=hours), tick=False):
        return add_constraint(caller=caller, text=text, **{"category": "security", **rest})["id"]


def retire(caller: Caller, constraint_id: int) -> None:
    deactivate_constraint(caller=caller, constraint_id=constraint_id)


# -- Order and rows --------------------------------------------------------------------------------


def test_the_most_urgent_come_first_then_by_category_then_the_newest(ada: Caller) -> None:
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


def test_of_one_moment_the_later_id_is_the_newer(ada: Caller) -> None:
    for text in "abc":
        add(ada, text)
    assert texts(ada) == ["c", "b", "a"]


def test_a_row_tells_the_whole_story(ada: Caller) -> None:
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


def test_a_renamed_category_takes_its_new_place(ada: Caller) -> None:
    add(ada, "a", category="alpha", tags=["x"], scopes=["s"])
    add(ada, "b", category="beta", tags=["x"], scopes=["s"])
    category = Category.objects.in_project(ada.project).get(name="alpha")
    rename_word(caller=ada, word=category, name="Zeta")
    for query in ({}, {"tags": ["x"]}, {"scope": "s"}, {"status": "any"}):
        assert texts(ada, **query) == ["b", "a"]
    assert texts(ada, category="zeta") == texts(ada, category="ZETA", tags=["x"]) == ["a"]
    assert texts(ada, category="alpha") == []


# -- Filters, one by one ---------------------------------------------------------------------------


def test_a_status_is_active_unless_said(ada: Caller) -> None:
    add(ada, "a", 0)
    retire(ada, add(ada, "b", 1))
    assert texts(ada) == texts(ada, status="active") == texts(ada, status=1) == ["a"]
    assert texts(ada, status="INACTIVE") == texts(ada, status="2") == ["b"]
    assert texts(ada, status="any") == ["b", "a"]


def test_words_match_in_any_case(ada: Caller, ben: Caller) -> None:
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


def test_a_tag_is_a_whole_word(ada: Caller) -> None:
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


def test_a_word_that_nothing_has_finds_nothing(ada: Caller) -> None:
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
def test_what_is_unreadable_is_refused_even_where_nothing_could_match(ada: Caller, bad: Any) -> None:
    for impossible in ({}, {"by": "nobody"}, {"scope": "nothing"}):
        with pytest.raises(InvalidInput):
            texts(ada, **bad, **impossible)


def test_another_projects_constraints_are_not_listed(ada: Caller, cy: Caller) -> None:
    add(ada, "a", tags=["x"])
    assert texts(cy) == texts(cy, tags=["x"]) == texts(cy, status="any") == []
    cursor = make_cursor("0", NOON.isoformat(), 10**6)
    assert texts(cy, cursor=cursor) == []


def test_the_total_counts_to_a_thousand(ada: Caller) -> None:
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
def test_a_cursor_that_no_list_gave_is_refused(ada: Caller, cursor: str) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        texts(ada, cursor=cursor)


def test_a_cursor_of_another_filter_never_shows_what_this_one_excludes(ada: Caller) -> None:
    for n, priority in enumerate(Priority.labels):
        for category in ("architecture", "security"):
            add(ada, f"{priority} {category}", n, category=category, priority=priority)
    every = [
        make_cursor(row.rank, row.created_at.isoformat(), row.pk + 1)
        for row in Constraint.objects.in_project(ada.project)
    ]
    for cursor in every:
        assert all(text.startswith("high") for text in texts(ada, priority="high", cursor=cursor))
        assert all(text.endswith("security") for text in texts(ada, category="security", cursor=cursor))


# -- Any constraints, any filter, any page ---------------------------------------------------------

CATEGORIES = ["alpha", "alpha beta", "Alphabet", "ß", "中"]
TAGS = ["red", "Green", "blue", "ΣΑΣ"]
SCOPES = ["api/x", "api/y", "db"]
TIMES = [NOON + timedelta(hours=n) for n in range(3)]

few_tags = st.lists(st.sampled_from(TAGS), max_size=3, unique=True)
few_scopes = st.lists(st.sampled_from(SCOPES), max_size=2, unique=True)


@dataclass(frozen=True)
class Fact:
    """A constraint as a plain Python object."""

    text: str
    category: str
    priority: str
    is_active: bool
    layer: str | None
    tags: Sequence[str]
    scopes: Sequence[str]
    agent: str
    at: datetime


facts = st.lists(
    st.builds(
        Fact,
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
    unique_by=lambda fact: fact.text,
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


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(facts=facts, wanted=filters, size=st.integers(1, 6))
def test_paging_gives_what_a_plain_filter_gives(
    apollo: Project, facts: list[Fact], wanted: dict[str, Any], size: int
) -> None:
    with rolled_back():
        ids = store(apollo, facts)
        expected = [fact for fact in facts if passes(fact, wanted)]
        # Which category comes first is the database's to say; here only that they come together.
        pages = list(paged(apollo, limit=size, **wanted))
        found = [text for page in pages for text in page]
        assert sorted(found) == sorted(fact.text for fact in expected)
        assert all(len(page) == size for page in pages[:-1])
        by_text = {fact.text: fact for fact in facts}
        in_order = [by_text[text] for text in found]
        urgencies = [Priority.labels.index(fact.priority) for fact in in_order]
        assert urgencies == sorted(urgencies, reverse=True)
        for run in runs(in_order):
            assert run == sorted(run, key=lambda fact: (fact.at, ids[fact.text]), reverse=True)


def runs(ordered: Sequence[Fact]) -> Iterable[list[Fact]]:
    """The constraints of each priority and category, which stand together."""
    found: dict[tuple[str, str], list[Fact]] = {}
    last = None
    for fact in ordered:
        place = fact.priority, fact.category.casefold()
        assert place == last or place not in found
        found.setdefault(place, []).append(fact)
        last = place
    return found.values()


def passes(fact: Fact, wanted: Mapping[str, Any]) -> bool:
    return all(
        (
            wanted["status"] in ("any", "active" if fact.is_active else "inactive"),
            wanted.get("category", fact.category).casefold() == fact.category.casefold(),
            wanted.get("priority", fact.priority) == fact.priority,
            wanted.get("layer", fact.layer or "").lower() == (fact.layer or ""),
            has_tags(fact, wanted.get("tags", ()), wanted.get("match", "any")),
            "scope" not in wanted or any(fnmatchcase(s, wanted["scope"]) for s in fact.scopes),
            wanted.get("by", fact.agent).lower() == fact.agent,
        )
    )


def has_tags(fact: Fact, tags: Iterable[str], match: str) -> bool:
    found = [tag in fact.tags for tag in tags]
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


def store(project: Project, facts: Iterable[Fact]) -> dict[str, int]:
    ids = {}
    for fact in facts:
        caller = Caller(project=project, agent=fact.agent)
        with time_machine.travel(fact.at, tick=False):
            ids[fact.text] = add_constraint(
                caller=caller,
                category=fact.category,
                text=fact.text,
                priority=fact.priority,
                layer=fact.layer,
                tags=fact.tags,
                scopes=fact.scopes,
            )["id"]
            if not fact.is_active:
                retire(caller, ids[fact.text])
    return ids


@contextmanager
def rolled_back() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
