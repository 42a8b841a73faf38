"""BM25 with golden values, and the other factors that order the hits."""

from datetime import UTC, datetime, timedelta
from math import log

import pytest

from ctxhub.core.search.candidates import Candidate
from ctxhub.core.search.queries import Term
from ctxhub.core.search.ranking import occurrences, rank, worth

AT = datetime(2026, 11, 21, tzinfo=UTC)
CACHE, TOKEN = Term((("cach",),)), Term((("token",),))


def candidate(entry_id: int, words: str, *, is_over: bool = False, days: int = 0, part: int = 0) -> Candidate:
    at, ref, size = AT + timedelta(days=days), f"decision:{entry_id}", len(words.split())
    return Candidate(entry_id, "decision", entry_id, ref, at, 0, words, size, is_over, part=part)


def test_rarer_words_have_higher_weights() -> None:
    assert worth(100, 1) == pytest.approx(log(1 + 99.5 / 1.5))
    assert worth(100, 1) > worth(100, 10) > worth(100, 100) > 0
    assert worth(5, 9) > 0


def test_a_text_of_average_length_with_a_word_once_scores_one() -> None:
    [ranked] = rank([candidate(1, "cach is cold")], {CACHE: 2.0})

    assert ranked.score == 1.0
    assert ranked.parts == {CACHE: pytest.approx(2.0)}


def test_bm25_gives_the_expected_numbers() -> None:
    """Lengths 2 and 6, so 4 on average; k1 1.2 and b 0.6."""
    short, long = rank(
        [candidate(1, "cach token"), candidate(2, "cach cach a b c d")], {CACHE: 1.0, TOKEN: 3.0}
    )

    length = 1.2 * (0.4 + 0.6 * 2 / 4)
    assert short.parts == {CACHE: pytest.approx(2.2 / (1 + length)), TOKEN: pytest.approx(6.6 / (1 + length))}
    assert short.score == 1.0
    assert long.parts == {CACHE: pytest.approx(2 * 2.2 / (2 + 1.2 * (0.4 + 0.6 * 6 / 4)))}
    assert long.score == pytest.approx(long.parts[CACHE] / 4)


def test_an_entry_is_scored_by_its_best_passage() -> None:
    ranked = rank(
        [candidate(1, "cach x x x"), candidate(1, "cach token", part=5), candidate(2, "token")],
        {CACHE: 1.0, TOKEN: 1.0},
    )

    assert [hit.candidate.words for hit in ranked] == ["cach token", "token"]
    assert ranked[0].lent == 0


def test_a_passage_lends_a_fifth_to_its_neighbours() -> None:
    beside, apart = rank(
        [
            candidate(1, "cach x", part=3, days=1),
            candidate(1, "cach x x", part=4, days=1),
            candidate(1, "cach x x x", part=5, days=1),
            candidate(2, "cach x", part=3),
            candidate(2, "cach x x", part=5),
        ],
        {CACHE: 1.0},
    )

    length = 1.2 * (0.4 + 0.6 * 3 / 2.8)
    assert (beside.candidate.part, apart.candidate.part, apart.lent) == (3, 3, 0)
    assert beside.parts == apart.parts
    assert beside.lent == pytest.approx(0.2 * 2.2 / (1 + length))
    assert beside.strength == pytest.approx(beside.parts[CACHE] + beside.lent)


def test_among_equals_the_newest_comes_first() -> None:
    ranked = rank([candidate(1, "cach"), candidate(2, "cach", days=1)], {CACHE: 1.0})

    assert [hit.candidate.entry_id for hit in ranked] == [2, 1]


def test_an_inactive_row_scores_six_tenths() -> None:
    ranked = rank([candidate(1, "cach", is_over=True), candidate(2, "cach", days=-1)], {CACHE: 1.0})

    assert [hit.candidate.entry_id for hit in ranked] == [2, 1]
    assert ranked[1].parts[CACHE] == pytest.approx(0.6 * ranked[0].parts[CACHE])


def test_no_candidates_give_an_empty_ranking() -> None:
    assert rank([], {CACHE: 1.0}) == []


@pytest.mark.parametrize(
    ("term", "times"),
    [
        (Term((("cach",),)), 2),
        (Term((("cach", "hit"),)), 1),
        (Term((("hit", "cach"),)), 0),
        (Term((("ca",),), prefix=True), 3),
        (Term((("cach",), ("cat",))), 3),
    ],
)
def test_occurrences_of_a_term_are_counted(term: Term, times: int) -> None:
    assert occurrences("cach hit cat cach", term) == times
