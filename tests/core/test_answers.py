"""No answer is longer than a client accepts."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ctxhub.core.answers import MAX_TOKENS, fit
from ctxhub.core.token_count import count_tokens


def size(answer: dict[str, Any]) -> int:
    return count_tokens(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))


def test_a_short_answer_stays_as_it_is() -> None:
    answer = {"value": "short"}
    assert fit(answer) is answer


def test_a_long_text_is_cut_to_whole_lines_and_tells_the_rest() -> None:
    text = "\n".join(f"line {n}" for n in range(1, 20_001))
    answer = fit({"value": text})
    assert size(answer) <= MAX_TOKENS
    kept = answer["value"].split("\n")
    assert kept == [f"line {n}" for n in range(1, len(kept) + 1)]
    assert (answer["truncated"], answer["total_lines"]) == (True, 20_000)
    assert answer["next_lines"] == f"{len(kept) + 1}-20000"


def test_the_longest_text_is_cut_first() -> None:
    answer = fit({"short": "word " * 200, "inner": [{"long": "word " * 5_000}]}, 1_000)
    assert answer["short"] == "word " * 200
    assert len(answer["inner"][0]["long"]) < 5_000
    assert size(answer) <= 1_000


def test_the_answer_that_came_in_is_left_alone() -> None:
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
