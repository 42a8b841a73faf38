"""Answers of lists: columns and rows, pages, cursors, and a budget of tokens."""

import json
import re
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.listing import Listing, make_cursor, page_in_memory, preview, read_cursor, total_of
from ctxhub.core.text.token_count import count_tokens

texts = st.text(max_size=80)
keys = st.one_of(st.integers(0, 99_999), st.text("abc", min_size=1, max_size=5))
cells = st.one_of(st.none(), st.integers(), texts, st.lists(texts, max_size=2))


# The tokens of one row, cut as short as possible, with `omitted`, `next` and `truncated`.
SMALLEST = 70


def size(answer: dict[str, Any]) -> int:
    return count_tokens(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))


def test_columns_that_are_empty_in_every_row_are_left_out() -> None:
    listing = Listing(("a", "b", "c", "d", "e"), [[1, None, "", [], 0], [2, None, "x", {}, 0]])
    assert listing.answer() == {"columns": ["a", "c", "e"], "rows": [[1, "", 0], [2, "x", 0]], "count": 2}


def test_an_empty_list_has_no_columns() -> None:
    assert Listing(("a",), []).answer() == {"columns": [], "rows": [], "count": 0}
    assert Listing(("a",), []).answer(as_objects=True) == {"items": [], "count": 0}


def test_rows_can_be_objects() -> None:
    listing = Listing(("a", "b"), [[1, None], [2, "x"]], next="n", extra={"total": 9})
    assert listing.answer(as_objects=True) == {
        "items": [{"a": 1, "b": None}, {"a": 2, "b": "x"}],
        "count": 2,
        "total": 9,
        "next": "n",
    }


def test_a_cut_row_does_not_count_as_omitted() -> None:
    answer = Listing(("a", "b"), [("x " * 30, ["y " * 30])]).answer(max_tokens=70)
    assert (answer["count"], answer["truncated"], "omitted" in answer) == (1, True, False)


@given(
    rows=st.lists(st.tuples(keys, cells, cells), max_size=20),
    budget=st.integers(1, 400),
    as_objects=st.booleans(),
)
def test_a_list_stays_within_its_budget_and_counts_omitted_rows(
    rows: list[tuple[Any, Any, Any]], budget: int, as_objects: bool
) -> None:
    listing = Listing(("id", "a", "b"), rows, next="later", cursor_after=lambda count: f"after {count}")
    answer = listing.answer(max_tokens=budget, as_objects=as_objects)
    shown = answer["count"]
    assert shown + answer.get("omitted", 0) == len(rows)
    assert shown >= min(len(rows), 1)
    assert size(answer) <= max(budget, SMALLEST)
    if shown < len(rows):
        assert answer["next"] == f"after {shown}"
        assert answer.get("truncated") or size(listing._answer(rows[: shown + 1], as_objects)) > budget
    else:
        assert answer["next"] == "later"


def test_a_first_row_that_does_not_fit_is_cut_step_by_step() -> None:
    row = [7, "a long title " * 20, "a long text " * 50, ["one tag", "another tag"], "2026-11-21T10:00:00Z"]
    listing = Listing(("id", "title", "text", "tags", "at"), [row, row], cursor_after=lambda n: f"after {n}")
    whole = listing.answer(max_tokens=20_000)["rows"][0]
    cut = listing.answer(max_tokens=180)
    [[row_id, title, text, tags, at]] = cut["rows"]
    assert (row_id, title.endswith("…"), text.endswith("…"), tags, at) == (7, True, True, whole[3], whole[4])
    least = listing.answer(max_tokens=1)
    assert least == {
        "columns": ["id"],
        "rows": [[7]],
        "count": 1,
        "omitted": 1,
        "next": "after 1",
        "truncated": True,
    }


@pytest.mark.parametrize(
    ("text", "shown"),
    [("x" * 200, "x" * 200), ("x" * 201, "x" * 200 + "…"), ("x" * 199 + "  y", "x" * 199 + "…"), (5, 5)],
)
def test_a_text_is_cut_at_200_characters(text: Any, shown: Any) -> None:
    assert preview(text) == shown
    assert preview(text, full=True) == text


def test_a_total_stops_at_a_thousand() -> None:
    assert total_of(1_000) == {"total": 1_000}
    assert total_of(1_001) == {"total": 1_000, "more": True}


# -- Cursors ---------------------------------------------------------------------------------------


@given(st.text(st.characters(exclude_characters="\x00", codec="utf-8")), st.integers(0, 2**63 - 1))
def test_a_cursor_round_trips_its_position(text: str, number: int) -> None:
    assert read_cursor(make_cursor(text, number), str, int) == [text, number]


@pytest.mark.parametrize("number", [0.0, 0.36, 1.0, 1e-7, 0.1 + 0.2])
def test_a_cursor_may_hold_a_fraction(number: float) -> None:
    assert read_cursor(make_cursor(number), float) == [number]


@given(st.text(st.characters(exclude_characters="\x00", codec="utf-8")))
def test_a_cursor_stands_in_an_address_as_it_is(text: str) -> None:
    cursor = make_cursor(text, 7, datetime(2026, 11, 21, tzinfo=UTC))
    assert re.fullmatch(r"c[A-Za-z0-9._~,/:-]+", cursor)
    assert unquote_plus(cursor) == cursor


def test_a_cursor_costs_few_tokens() -> None:
    assert count_tokens(make_cursor("updated", datetime(2026, 11, 21, tzinfo=UTC), 8)) <= 30


def test_a_cursor_may_hold_a_time() -> None:
    moment = datetime(2026, 11, 21, 12, 0, 0, 123456, tzinfo=UTC)
    assert read_cursor(make_cursor(moment), datetime) == [moment]
    assert read_cursor(make_cursor(moment.isoformat()), datetime) == [moment]
    with pytest.raises(InvalidInput, match="cursor"):
        read_cursor(make_cursor(moment), str)


@pytest.mark.parametrize(
    "position",
    [
        (), ("a",), (1, "a"), ("a", 1, 1), ("a", "1"), ("a", 1.0), ("a", True), ("a", None), ("a", -1),
        ("a", 2**63), ("a", 10**400), ("a\x00", 1), ("\ud800", 1), (["a"], 1), ({"a": 1}, 1),
    ],
)  # fmt: skip
def test_a_cursor_of_another_list_is_refused(position: Any) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        read_cursor(make_cursor(*position), str, int)


@pytest.mark.parametrize(
    "value", ["someday", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "", 5]
)
def test_a_cursor_with_an_invalid_time_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        read_cursor(make_cursor(value), datetime)


@given(st.text(st.characters(codec=None, categories=None)))
def test_any_text_is_refused_as_a_cursor(text: str) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        read_cursor(text, str, str, int)


def test_a_list_in_memory_is_paged_by_its_rows() -> None:
    def page(cursor: str | None = None, *, is_cut: bool = False) -> Listing:
        return page_in_memory(("n",), range(5), lambda n: [n], limit=2, cursor=cursor, is_cut=is_cut)

    first = page()
    assert (first.rows, first.extra) == ([[0], [1]], {"total": 5})
    assert page(first.next).rows == [[2], [3]]
    assert first.cursor_after
    assert page(first.cursor_after(1)).rows == [[1], [2]]
    last = page(make_cursor(4), is_cut=True)
    assert (last.rows, last.next, last.extra) == ([[4]], None, {"total": 5, "more": True})
    with pytest.raises(InvalidInput):
        page("nonsense")
