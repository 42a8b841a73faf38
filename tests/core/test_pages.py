"""Pagination of lists: orders, ranges of values, filters by links, and cursors."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from ctxhub.core.kit.listing import read_cursor
from ctxhub.core.kit.pages import (
    ALL,
    MOST_BRANCHES,
    Condition,
    Links,
    ListPlan,
    Page,
    Position,
    Range,
    all_of,
    link_filters,
)
from tests.rows import Known, stored_rule

TAGS = Links("memory_constrainttag", "tag_id", "constraint_id")
SCOPES = Links("memory_constraintscope", "scope_id", "constraint_id")


def behind(after: Position | None, *ranges: Range, order: Sequence[str]) -> list[Condition]:
    return ListPlan(order=order, ranges=ranges or (ALL,)).behind(lambda column: f"d.{column}", after)


# -- Orders ----------------------------------------------------------------------------------------


def test_the_default_order_is_newest_first() -> None:
    assert ListPlan().order_by(lambda column: f"d.{column}") == "d.updated_at DESC, d.id DESC"
    assert ListPlan(order=("rank", "-id")).columns == ["rank", "id"]


def test_a_first_page_has_no_condition() -> None:
    assert behind(None, order=("rank", "-id")) == [("", [])]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (("-at", "-id"), [("(d.at, d.id) < (%s, %s)", [5, 7])]),
        (("at", "id"), [("(d.at, d.id) > (%s, %s)", [5, 7])]),
        (("id",), [("d.id > %s", [5])]),
        (("at", "-id"), [("d.at = %s AND d.id < %s", [5, 7]), ("d.at > %s", [5])]),
        (("-at", "id"), [("d.at = %s AND d.id > %s", [5, 7]), ("d.at < %s", [5])]),
    ],
)
def test_each_direction_of_an_order_is_one_comparison(
    order: Sequence[str], expected: list[Condition]
) -> None:
    assert behind((5, 7)[: len(order)], order=order) == expected


def test_an_order_may_change_its_direction_twice() -> None:
    assert behind((1, 2, 3), order=("a", "-b", "c")) == [
        ("d.a = %s AND d.b = %s AND d.c > %s", [1, 2, 3]),
        ("d.a = %s AND d.b < %s", [1, 2]),
        ("d.a > %s", [1]),
    ]


# -- Ranges ----------------------------------------------------------------------------------------

RANKED = ("rank", "-id")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (ALL, ("", [])),
        (Range("b", is_one=True), ("d.rank = %s", ["b"])),
        (Range("b"), ("d.rank >= %s", ["b"])),
        (Range(end="c"), ("d.rank < %s", ["c"])),
        (Range("b", "c"), ("d.rank >= %s AND d.rank < %s", ["b", "c"])),
    ],
)
def test_a_range_is_a_condition_on_the_first_column(values: Range, expected: Condition) -> None:
    assert behind(None, values, order=RANKED) == [expected]


def test_a_position_in_a_range_leaves_the_rest_of_its_value_and_higher_values() -> None:
    assert behind(("bb", 7), Range("b", "c"), order=RANKED) == [
        ("d.rank = %s AND d.id < %s", ["bb", 7]),
        ("d.rank > %s AND d.rank < %s", ["bb", "c"]),
    ]


def test_a_position_in_a_range_of_one_value_leaves_the_rest_of_it() -> None:
    assert behind(("b", 7), Range("b", is_one=True), order=RANKED) == [
        ("d.rank = %s AND d.id < %s", ["b", 7])
    ]


def test_a_range_also_ends_in_an_all_ascending_order() -> None:
    assert behind(("b", 7), Range("b", is_one=True), order=("rank", "id")) == [
        ("d.rank = %s AND d.id > %s", ["b", 7])
    ]
    assert behind(("b", 7), Range("b", "c"), order=("rank", "id")) == [
        ("d.rank = %s AND d.id > %s", ["b", 7]),
        ("d.rank > %s AND d.rank < %s", ["b", "c"]),
    ]


@pytest.mark.parametrize("before", [Range("a", "b"), Range("a", is_one=True), Range(end="b")])
def test_a_range_before_the_position_is_dropped(before: Range) -> None:
    assert behind(("b", 7), before, order=RANKED) == []


@pytest.mark.parametrize("after", [Range("c", "d"), Range("c", is_one=True), Range("c")])
def test_a_range_after_the_position_is_read_whole(after: Range) -> None:
    assert behind(("b", 7), after, order=RANKED) == behind(None, after, order=RANKED)


def test_several_ranges_continue_in_the_one_that_holds_the_position() -> None:
    ranges = [Range(value, is_one=True) for value in "abc"]
    assert behind(("b", 7), *ranges, order=RANKED) == [
        ("d.rank = %s AND d.id < %s", ["b", 7]),
        ("d.rank = %s", ["c"]),
    ]


@pytest.mark.parametrize("values", [Range("a"), Range("a", is_one=True)])
def test_a_range_of_a_descending_order_is_refused(values: Range) -> None:
    with pytest.raises(ValueError, match="ascending"):
        ListPlan(order=("-rank",), ranges=[values])


@pytest.mark.parametrize(
    ("values", "holds", "not_held"),
    [
        (ALL, "ab", ""),
        (Range("b"), "bc", "a"),
        (Range("b", "d"), "bc", "ad"),
        (Range(end="b"), "a", "bc"),
        (Range("b", is_one=True), "b", "ac"),
    ],
)
def test_a_range_holds_its_values(values: Range, holds: str, not_held: str) -> None:
    assert all(values.holds(value) for value in holds)
    assert not any(values.holds(value) for value in not_held)


# -- Filters by links ------------------------------------------------------------------------------


def test_a_list_is_read_along_its_first_filter() -> None:
    plan = ListPlan.along([(TAGS, [1, 2]), (SCOPES, [3])], [("d.status = %s", [1])], order=("id",))
    assert (plan.links, plan.link_ids, plan.order) == (TAGS, [1, 2], ("id",))
    exists = "EXISTS (SELECT 1 FROM memory_constraintscope y WHERE y.constraint_id = d.id AND y.scope_id IN"
    assert plan.conditions == [("d.status = %s", [1]), (f"{exists} (%s))", [3])]


def test_more_link_ids_than_branches_become_a_condition() -> None:
    ids = list(range(MOST_BRANCHES + 1))
    plan = ListPlan.along([(TAGS, ids)], [])
    assert (plan.links, plan.link_ids) == (None, ())
    assert plan.conditions == [TAGS.to_any(ids)]


def test_a_list_without_filters_is_read_along_its_own_table() -> None:
    assert ListPlan.along([], []) == ListPlan([])


def test_a_negated_filter_excludes_rows_with_the_links() -> None:
    text, values = TAGS.to_any([1], negated=True)
    assert text.startswith("NOT EXISTS (")
    assert values == [1]


def test_matching_any_is_one_filter_per_kind_of_link() -> None:
    assert link_filters(TAGS, [[1], [2]], SCOPES, [3], match_all=False) == [(TAGS, [1, 2]), (SCOPES, [3])]
    assert link_filters(TAGS, [], SCOPES, [3], match_all=False) == [(SCOPES, [3])]
    assert link_filters(TAGS, [], SCOPES, [], match_all=True) == []
    assert link_filters(TAGS, [[1]], SCOPES, [], match_all=True) == [(TAGS, [1])]


def test_matching_all_is_one_filter_per_word_the_rarest_first(apollo: Any) -> None:
    for text, tags in {"A": ["api"], "B": ["api"], "C": ["api", "db"]}.items():
        stored_rule(apollo, text, tags=tags)
    known = Known(apollo)
    api, db, unused = (known.word_id("tags", name) for name in ("api", "db", "unused"))
    filters = link_filters(TAGS, [[api], [db], [unused]], SCOPES, [9], match_all=True)
    assert filters == [(TAGS, [unused]), (TAGS, [db]), (TAGS, [api]), (SCOPES, [9])]


# -- Pages -----------------------------------------------------------------------------------------


def test_conditions_without_text_are_dropped() -> None:
    assert all_of([("", []), ("a = %s", [1]), ("", []), ("b", [])]) == ("a = %s AND b", [1])


def test_a_cursor_holds_the_position_of_the_last_row() -> None:
    at = datetime(2026, 3, 2, 12, tzinfo=UTC)
    rows: Any = [(at, "a", 1), (at, "b", 2)]
    page: Page[Any] = Page(rows, has_more=True, total={}, position=lambda row: row)
    assert page.next
    assert read_cursor(page.next, datetime, str, int) == [at, "b", 2]
    assert read_cursor(page.cursor_after(1), datetime, str, int) == [at, "a", 1]


def test_the_last_page_has_no_cursor() -> None:
    assert Page([], has_more=False, total={}, position=lambda row: ()).next is None
