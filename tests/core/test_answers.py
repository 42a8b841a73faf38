"""Answers are cut to the number of tokens that a client accepts."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.core.kit.answers import MAX_TOKENS, MOST_ROWS, fit
from ctxhub.core.kit.listing import Listing, Row, with_rows
from ctxhub.core.text.token_count import count_tokens
from tests.timing import within_cpu_seconds


def size(answer: dict[str, Any]) -> int:
    return count_tokens(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))


def test_a_short_answer_stays_as_it_is() -> None:
    answer = {"value": "short"}
    assert fit(answer) is answer


def test_a_long_text_is_cut_and_marked_as_truncated() -> None:
    text = "\n".join(f"line {n}" for n in range(1, 20_001))
    answer = fit({"value": text})
    assert MAX_TOKENS * 0.95 < size(answer) <= MAX_TOKENS
    assert text.startswith(answer["value"].removesuffix("…"))
    assert answer["value"].endswith("…")
    assert answer["truncated"] is True


def test_no_grapheme_is_cut() -> None:
    answer = fit({"value": "👨‍👩‍👧‍👦" * 2_000}, 300)
    assert set(answer["value"].removesuffix("…").split("👨‍👩‍👧‍👦")) == {""}


def test_the_longest_text_is_cut_first() -> None:
    answer = fit({"short": "word " * 200, "inner": [{"long": "word " * 5_000}]}, 1_000)
    assert answer["short"] == "word " * 200
    assert len(answer["inner"][0]["long"]) < 5_000
    assert size(answer) <= 1_000


def test_the_given_answer_is_not_modified() -> None:
    answer = {"value": "word " * 5_000}
    fit(answer, 100)
    assert answer == {"value": "word " * 5_000}


@given(
    texts=st.lists(st.text(max_size=2_000), min_size=1, max_size=5),
    budget=st.integers(300, 2_000),
)
def test_texts_are_cut_until_the_answer_fits(texts: list[str], budget: int) -> None:
    answer = fit({"texts": texts, "count": len(texts)}, budget)
    assert size(answer) <= budget
    assert len(answer["texts"]) == len(texts)


@pytest.mark.parametrize(
    "heavy",
    [
        {
            "metadata": {"n": [1] * 20_000},
            "alternatives": ["a"] * 10_000,
            "tradeoffs": {"pros": ["b"] * 10_000},
        },
        {"history": {"columns": ["version"], "rows": [[f"1.0.{n}", n] for n in range(9_000)]}},
        {"tags": {f"word {n}": n for n in range(9_000)}, "scopes": {f"scope {n}": n for n in range(9_000)}},
    ],
)
def test_lists_and_objects_are_cut_at_their_end_if_no_text_is_long(heavy: dict[str, Any]) -> None:
    answer = fit({"found": True, "decision": {"key": "a", "value": "x", **heavy, "agent": "ada"}})
    assert size(answer) <= 20_000
    assert answer["truncated"]
    assert set(answer["decision"]) == {"key", "value", *heavy, "agent"}


def test_omitted_counts_items_and_not_words_or_numbers() -> None:
    assert "omitted" not in fit({"allowed": ["a"] * 30_000, "n": [1] * 30_000})
    results = fit({"done": 50, "results": [{"n": n, "m": n} for n in range(5_000)]})
    assert len(results["results"]) + results["omitted"] == 5_000


def test_a_row_too_long_for_a_page_is_cut_and_the_next_page_begins_after_it() -> None:
    rows = [["a", "龘" * 21_000], ["b", "short"]]
    listing = Listing(("key", "value"), rows, next="later", cursor_after=lambda count: f"after {count}")
    answer = listing.answer(max_tokens=20_000)
    assert [answer["count"], answer["omitted"], answer["next"], answer["truncated"]] == [
        1,
        1,
        "after 1",
        True,
    ]
    assert answer["rows"][0][1].startswith("龘" * 1_000)
    assert size(answer) <= 20_000


def test_a_row_keeps_its_columns_when_its_lists_are_too_long() -> None:
    rows = [["a", [f"a rather long tag, the number {n}" for n in range(5_000)], "ada"], ["b", [], "ben"]]
    listing = Listing(("key", "tags", "agent"), rows, cursor_after=lambda count: f"after {count}")
    answer = listing.answer(max_tokens=1_000)
    [[key, tags, agent]] = answer["rows"]
    assert (key, agent) == ("a", "ada")
    assert 0 < len(tags) < 100


# -- What cannot fit is not made -------------------------------------------------------------------


def test_a_very_long_list_is_cut_soon() -> None:
    answer = {"rows": [[number, "x", number] for number in range(200_000)], "note": "word " * 5_000}
    with within_cpu_seconds(3):  # It took 12.
        cut = fit(answer)
    assert len(cut["rows"]) + cut["omitted"] == 200_000
    assert 0.9 * MAX_TOKENS < size(cut) <= MAX_TOKENS


def test_rows_inside_an_answer_are_not_made_beyond_what_can_fit() -> None:
    inner = Listing(("id", "name"), [(number, "x") for number in range(100_000)])
    shown = with_rows({"inner": inner})["inner"]
    assert (len(shown["rows"]), shown["count"], shown["omitted"]) == (
        MOST_ROWS,
        MOST_ROWS,
        100_000 - MOST_ROWS,
    )


@pytest.mark.parametrize("letter", ["word ", " ", "x"])
def test_of_long_texts_no_answer_of_all_rows_is_made(letter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (letter * 65_536)[:65_536]
    listing = Listing(("id", "text"), [(number, text) for number in range(200)])
    made: list[int] = []
    answer_of = Listing._answer

    def record(listing: Listing, rows: Sequence[Row], as_objects: bool) -> dict[str, Any]:
        made.append(len(rows))
        return answer_of(listing, rows, as_objects)

    monkeypatch.setattr(Listing, "_answer", record)
    answer = listing.answer(max_tokens=MAX_TOKENS)
    assert max(made) <= 2 * max(answer["count"], 2)
    assert answer["count"] + answer["omitted"] == 200
