"""Ranges of a list's first column: SQL and Python agree on them, and pages go on within them."""

import sqlite3

import pytest

from ctxhub.core.kit.pages import ALL, Condition, ListPlan, Range

VALUES = "abcde"


def selected(conditions: list[Condition]) -> str:
    """The values that the conditions select, each in a query of its own."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE row (value TEXT, id INTEGER)")
    database.executemany("INSERT INTO row VALUES (?, 1)", [(value,) for value in VALUES])
    found: list[str] = []
    for text, values in conditions:
        where = text.replace("%s", "?") or "true"
        statement = f"SELECT value FROM row WHERE {where} ORDER BY value"
        found += [value for (value,) in database.execute(statement, values)]
    return "".join(found)


RANGES = [
    (ALL, "abcde"),
    (Range("b"), "bcde"),
    (Range(None, "d"), "abc"),
    (Range("b", "d"), "bc"),
    (Range("b", is_one=True), "b"),
]


@pytest.mark.parametrize(("values", "expected"), RANGES)
def test_a_range_holds_its_start_and_not_its_end(values: Range, expected: str) -> None:
    assert selected([values.on("value")]) == expected
    assert "".join(value for value in VALUES if values.holds(value)) == expected


@pytest.mark.parametrize(("values", "expected"), RANGES)
def test_what_lies_outside_is_before_or_after(values: Range, expected: str) -> None:
    outside = [value for value in VALUES if value not in expected]
    assert [value for value in VALUES if values.is_after(value)] == [v for v in outside if v < expected]
    assert [value for value in VALUES if values.is_before(value)] == [v for v in outside if v > expected]


@pytest.mark.parametrize(("values", "expected"), RANGES)
@pytest.mark.parametrize("last", VALUES)
def test_a_page_goes_on_behind_the_last_row_within_the_range(values: Range, expected: str, last: str) -> None:
    plan = ListPlan(order=("value", "id"), ranges=(values,))
    rest = "".join(value for value in expected if value > last)
    assert "".join(sorted(selected(plan.behind(str, (last, 1))))) == rest
    assert "".join(sorted(selected(plan.behind(str, (last, 0))))) == (last if last in expected else "") + rest


def test_ranges_are_read_one_after_the_other() -> None:
    plan = ListPlan(order=("value", "id"), ranges=(Range("a", "c"), Range("d", is_one=True)))
    assert selected(plan.behind(str, None)) == "abd"
    assert selected(plan.behind(str, ("b", 1))) == "d"
    assert selected(plan.behind(str, ("d", 1))) == ""


def test_a_descending_order_takes_no_ranges() -> None:
    with pytest.raises(ValueError, match="ascending"):
        ListPlan(order=("-value",), ranges=(Range("a"),))
