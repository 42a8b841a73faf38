"""Pages of a table: together they are the list, for any order, ranges and words."""

import json
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from ctxhub.core.kit import listing, rows, sql
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import MAX_LIMIT
from ctxhub.core.kit.listing import make_cursor
from ctxhub.core.kit.pages import ALL, MOST_BRANCHES, ListPlan, Page, Range, link_filters
from ctxhub.core.models import Project
from memory.models import Constraint
from tests.properties import SHARED_FIXTURES
from tests.rows import NOON, RULES, Known, Rule, new_rule, store, stored_rule

TAGS, SCOPES = RULES.links["tags"], RULES.links["scopes"]
BY_RANK = ("rank", "-created_at", "-id")


def texts(page: Page[Rule]) -> str:
    return "".join(row.text for row in page.rows)


def read_all_pages(project: Project, plan: ListPlan, limit: int) -> list[int]:
    """The ids of a list, read page by page."""
    ids: list[int] = []
    cursor = None
    while True:
        page = RULES.page(project.pk, plan, limit=limit, cursor=cursor)
        ids += [row.id for row in page.rows]
        assert page.has_more == (page.next is not None)
        assert len(page.rows) == limit or not page.has_more
        if page.next is None:
            return ids
        cursor = page.next


# -- Lists -----------------------------------------------------------------------------------------

WORDS = ("api", "db", "ui", "unused")


@pytest.fixture
def rules(apollo: Project, hermes: Project) -> list[Constraint]:
    """Rules with equal ranks, times and words, and one of another project."""
    stored_rule(hermes, "elsewhere", tags=["api"], scopes=["db"])
    new_rules = [
        new_rule(
            apollo,
            f"{number:02}",
            category=("security", "architecture")[number % 2],
            priority=1 + number % 3,
            minutes=number % 4,
            tags=[word for index, word in enumerate(WORDS[:3]) if number >> index & 1],
            scopes=[word for index, word in enumerate(WORDS[:3]) if number % (index + 2) == 0],
        )
        for number in range(14)
    ]
    store(apollo, *new_rules[::-1])
    registry = Known(apollo)
    for word in WORDS:
        registry.word_id("tags", word), registry.word_id("scopes", word)
    return list(Constraint.objects.in_project(apollo))


COPIED_COLUMNS = ("rank", "created_at")
OTHER_COLUMNS = ("priority", "text", "updated_at")


@st.composite
def orders(draw: st.DrawFn) -> list[str]:
    """Columns in any order and direction; the id comes last and makes the order definite."""
    columns = draw(st.lists(st.sampled_from([*COPIED_COLUMNS, *OTHER_COLUMNS]), unique=True, max_size=3))
    return [draw(st.sampled_from(["", "-"])) + column for column in [*columns, "id"]]


@st.composite
def ranges_of(draw: st.DrawFn, values: Sequence[Any]) -> Range:
    value = st.sampled_from(values)
    start, end = sorted([draw(value), draw(value)])
    return draw(st.sampled_from([Range(start, is_one=True), Range(start), Range(end=end), Range(start, end)]))


words = st.lists(st.sampled_from(WORDS), unique=True, max_size=3)


@settings(SHARED_FIXTURES, max_examples=100, database=None)
@given(data=st.data(), order=orders(), tags=words, scopes=words, match_all=st.booleans())
def test_the_pages_of_a_list_join_to_the_list(
    data: st.DataObject,
    order: list[str],
    tags: list[str],
    scopes: list[str],
    match_all: bool,
    apollo: Project,
    rules: list[Constraint],
) -> None:
    first = order[0]
    values = sorted({_stored_value(row, first) for row in rules}) if not first.startswith("-") else []
    ranges = data.draw(st.lists(ranges_of(values), min_size=1, max_size=3)) if values else [ALL]
    plan = _plan(apollo, order, ranges, tags, scopes, match_all)
    found = _expected_rules(apollo, tags, scopes, match_all).order_by(*order)
    expected = [
        row.pk
        for row in found
        if not values or any(row_range.holds(_stored_value(row, first)) for row_range in ranges)
    ]
    assert RULES.page(apollo.pk, plan, limit=1).total == {"total": len(expected)}
    for limit in {1, 2, data.draw(st.integers(1, 14)), 100}:
        assert read_all_pages(apollo, plan, limit) == expected


def _plan(
    project: Project,
    order: Sequence[str],
    ranges: Sequence[Range],
    tags: Sequence[str],
    scopes: Sequence[str],
    match_all: bool,
) -> ListPlan:
    registry = Known(project)
    filters = link_filters(
        *(TAGS, [[registry.word_id("tags", tag)] for tag in tags]),
        *(SCOPES, [registry.word_id("scopes", scope) for scope in scopes]),
        match_all=match_all,
    )
    if {column.removeprefix("-") for column in order} <= {*COPIED_COLUMNS, "id"}:
        return ListPlan.along(filters, [], order=order, ranges=ranges)
    conditions = [links.to_any(ids) for links, ids in filters]
    return ListPlan(conditions, order=order, ranges=ranges)


def _expected_rules(project: Project, tags: Sequence[str], scopes: Sequence[str], match_all: bool) -> Any:
    found = Constraint.objects.in_project(project)
    for names in [[tag] for tag in tags] if match_all else [tags] if tags else []:
        found = found.filter(pk__in=Constraint.unscoped.filter(tags__folded__in=names))
    if scopes:
        found = found.filter(pk__in=Constraint.unscoped.filter(scopes__folded__in=scopes))
    return found


def _stored_value(row: Constraint, column: str) -> Any:
    """A value of a column as the database compares it."""
    value = getattr(row, column)
    return sql.stored_time(value) if column.endswith("_at") else value


# -- Statements ------------------------------------------------------------------------------------


def statements(project: Project, plan: ListPlan, **query: Any) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        RULES.page(project.pk, plan, **query)
    return [" ".join(statement["sql"].split()) for statement in queries.captured_queries]


def test_a_page_that_holds_all_rows_is_one_statement(apollo: Project) -> None:
    stored_rule(apollo)
    [statement] = statements(apollo, ListPlan(order=BY_RANK))
    assert statement.startswith(
        "WITH page AS MATERIALIZED (SELECT d.id AS id FROM memory_constraint d WHERE d.project_id ="
    )
    assert "UNION" not in statement
    assert statement.endswith("WHERE d.id = page.id ORDER BY d.rank, d.created_at DESC, d.id DESC")


def test_each_word_is_a_union_branch(apollo: Project) -> None:
    registry = Known(apollo)
    ids = [registry.word_id("tags", name) for name in ("api", "db")]
    stored_rule(apollo, tags=["api"])
    [statement] = statements(apollo, ListPlan(order=BY_RANK, links=TAGS, link_ids=ids))
    assert statement.count("FROM memory_constrainttag x CROSS JOIN memory_constraint d WHERE") == 2
    assert statement.count("ORDER BY x.rank, x.created_at DESC, x.constraint_id DESC LIMIT") == 2
    assert statement.count(" UNION ") == 1
    assert statement.endswith("ORDER BY d.rank, d.created_at DESC, d.id DESC LIMIT 21")


def test_each_range_is_a_union_branch(apollo: Project) -> None:
    stored_rule(apollo)
    ranges = [Range(rank, is_one=True) for rank in ("1security", "2security", "3security")]
    [statement] = statements(apollo, ListPlan(order=BY_RANK, ranges=ranges))
    assert statement.count(" UNION ") == 2


def test_a_page_joins_only_the_tables_of_its_fields(apollo: Project) -> None:
    stored_rule(apollo)
    names = ("id", "category", "category_id", "created_at", "updated_at")
    [statement] = statements(apollo, ListPlan(), names=names)
    assert "JOIN core_category category" in statement
    assert "core_agent" not in statement
    assert "core_tag" not in statement


def test_many_words_are_one_union_branch(apollo: Project) -> None:
    registry = Known(apollo)
    ids = [registry.word_id("tags", f"t{number}") for number in range(MOST_BRANCHES + 1)]
    for text, tags in {"A": ["t0", "t1"], "B": ["t10"], "C": []}.items():
        stored_rule(apollo, text, tags=tags)
    plan = ListPlan.along([(TAGS, ids)], [], order=("id",))
    assert texts(RULES.page(apollo.pk, plan)) == "AB"
    [statement] = statements(apollo, plan)
    assert "UNION" not in statement


def test_a_filter_without_words_finds_nothing(apollo: Project) -> None:
    stored_rule(apollo)
    page = RULES.page(apollo.pk, ListPlan(links=TAGS, link_ids=[]))
    assert (page.rows, page.has_more, page.total) == ([], False, {"total": 0})


# -- Totals ----------------------------------------------------------------------------------------


def test_a_list_of_several_pages_gets_a_total(
    apollo: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    store(apollo, *(new_rule(apollo, text) for text in "ABC"))
    with django_assert_num_queries(2):
        page = RULES.page(apollo.pk, ListPlan(order=("id",)), limit=2)
    assert (texts(page), page.total) == ("AB", {"total": 3})
    assert RULES.page(apollo.pk, ListPlan(order=("id",)), limit=2, cursor=page.next).total == {"total": 3}


def test_a_known_total_is_not_counted(
    apollo: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    store(apollo, *(new_rule(apollo, text) for text in "ABC"))
    with django_assert_num_queries(1):
        page = RULES.page(apollo.pk, ListPlan(total=3), limit=2)
    assert page.total == {"total": 3}


@pytest.mark.parametrize(("counted_to", "total"), [(2, {"total": 2, "more": True}), (3, {"total": 3})])
def test_counting_stops_at_its_limit(
    counted_to: int, total: dict[str, Any], apollo: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "COUNTED_TO", counted_to)
    monkeypatch.setattr(listing, "COUNTED_TO", counted_to)
    store(apollo, *(new_rule(apollo, text, tags=["api", "db"]) for text in "ABC"))
    registry = Known(apollo)
    ids = [registry.word_id("tags", name) for name in ("api", "db")]
    for plan in (ListPlan(), ListPlan(order=BY_RANK, links=TAGS, link_ids=ids)):
        assert RULES.page(apollo.pk, plan, limit=1).total == total


def test_rows_with_two_of_the_words_are_counted_once(apollo: Project) -> None:
    stored_rule(apollo, tags=["api", "db"])
    registry = Known(apollo)
    ids = [registry.word_id("tags", name) for name in ("api", "db")]
    assert RULES.count(apollo.pk, ListPlan(order=BY_RANK, links=TAGS, link_ids=ids), 10) == 1


# -- Cursors ---------------------------------------------------------------------------------------

BAD = [
    "nonsense",
    "%%%",
    make_cursor(),
    make_cursor("0security"),
    make_cursor("0security", NOON.isoformat(), 1, 2),
    make_cursor(1, NOON.isoformat(), 1),
    make_cursor("0security", "yesterday", 1),
    make_cursor("0security", NOON.isoformat(), "1"),
    make_cursor("0security", NOON.isoformat(), -1),
    make_cursor("0security", NOON.isoformat(), 2**63),
    make_cursor("0\x00", NOON.isoformat(), 1),
    urlsafe_b64encode(json.dumps({"rank": "0"}).encode()).decode(),
    urlsafe_b64encode(json.dumps(["0security", None, 1]).encode()).decode(),
    urlsafe_b64encode(json.dumps(["\ud800", NOON.isoformat(), 1]).encode()).decode(),
]


@pytest.mark.parametrize("is_empty", [False, True])
@pytest.mark.parametrize("cursor", BAD)
def test_an_invalid_cursor_is_refused(cursor: str, is_empty: bool, apollo: Project) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        RULES.page(apollo.pk, ListPlan(order=BY_RANK, is_empty=is_empty), cursor=cursor)


@pytest.mark.parametrize("limit", [0, -1, MAX_LIMIT + 1])
def test_a_limit_out_of_bounds_is_refused(limit: int, apollo: Project) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        RULES.page(apollo.pk, ListPlan(is_empty=True), limit=limit)


def test_an_empty_plan_takes_no_query(
    apollo: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        page = RULES.page(apollo.pk, ListPlan(is_empty=True))
    assert (page.rows, page.total, page.next) == ([], {"total": 0}, None)


def test_a_cursor_of_a_numeric_order_continues(apollo: Project) -> None:
    for text, priority in {"A": 1, "B": 2, "C": 1}.items():
        stored_rule(apollo, text, priority=priority)
    plan = ListPlan(order=("priority", "-id"))
    page = RULES.page(apollo.pk, plan, limit=2)
    assert texts(page) == "CA"
    assert texts(RULES.page(apollo.pk, plan, limit=2, cursor=page.next)) == "B"


def test_a_cursor_of_another_sort_is_refused(apollo: Project) -> None:
    for text in "ABC":
        stored_rule(apollo, text)
    by_rank, by_reason = (ListPlan(order=("rank", "-id"), sort=sort) for sort in ("urgency", "reason"))
    page = RULES.page(apollo.pk, by_rank, limit=1)
    assert texts(page) + texts(RULES.page(apollo.pk, by_rank, cursor=page.next)) == "CBA"
    for plan in (by_reason, replace(by_reason, is_empty=True)):
        with pytest.raises(InvalidInput, match="another sort"):
            RULES.page(apollo.pk, plan, cursor=page.next)


def test_rows_of_given_ids_are_listed_in_the_order(apollo: Project, hermes: Project) -> None:
    other_project_row = stored_rule(hermes)
    new_rules = [stored_rule(apollo, text) for text in "ABC"]
    ids = [other_project_row.id, new_rules[0].id, new_rules[2].id]
    plan = ListPlan([("d.text <> %s", ["B"])], order=("-id",), ids=ids)
    page = RULES.page(apollo.pk, plan, limit=1)
    assert (texts(page), page.total) == ("C", {"total": 2})
    assert texts(RULES.page(apollo.pk, plan, cursor=page.next)) == "A"
    assert RULES.page(apollo.pk, ListPlan(ids=[])).rows == []


def test_a_cursor_works_whatever_fields_are_read(apollo: Project) -> None:
    for text, priority in {"A": 1, "B": 4, "C": 3}.items():
        stored_rule(apollo, text, priority=priority)
    names = ("category", "category_id", "text", "created_at", "updated_at")
    plan = ListPlan(order=BY_RANK)
    page = RULES.page(apollo.pk, plan, limit=1, names=names)
    next_page = RULES.page(apollo.pk, plan, limit=2, cursor=page.next, names=names)
    assert texts(page) + texts(next_page) == "BCA"


def test_a_truncated_page_continues_after_its_last_row(apollo: Project) -> None:
    store(apollo, *(new_rule(apollo, text) for text in "ABCD"))
    page = RULES.page(apollo.pk, ListPlan(order=("id",)), limit=3)
    assert texts(RULES.page(apollo.pk, ListPlan(order=("id",)), cursor=page.cursor_after(1))) == "BCD"


def test_rows_added_or_deleted_between_pages_keep_the_others_in_order(apollo: Project) -> None:
    first, second, third = store(apollo, *(new_rule(apollo, text) for text in "ABC"))
    page = RULES.page(apollo.pk, ListPlan(order=("id",)), limit=2)
    Constraint.unscoped.filter(pk__in=[first.id, second.id]).delete()
    stored_rule(apollo, "D", created_at=NOON + timedelta(days=1))
    assert texts(RULES.page(apollo.pk, ListPlan(order=("id",)), cursor=page.next)) == f"{third.text}D"
