"""Which passages are looked at closely: those with the rarest words, the same on every engine."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pytest

from ctxhub.core.models import Project
from ctxhub.core.search.documents import Document, kind_word
from ctxhub.core.search.engines import Candidate, Narrowing, find_candidates, leading_terms
from ctxhub.core.search.queries import Query, Term
from ctxhub.core.search.ranking import worth
from ctxhub.core.search.services.index import index_documents

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
LIMIT = 5
COMMON, MIDDLE, RARE = (Term(((word,),), word) for word in ("lock", "badger", "pelican"))


def weights_of(counts: Mapping[Term, int], total: int = 1_000) -> dict[Term, float]:
    return {term: worth(total, count) for term, count in counts.items()}


def telling(counts: Mapping[Term, int], *, needs_all: bool = False) -> Sequence[Term]:
    query = Query(tuple(counts), needs_all=needs_all)
    return leading_terms(query, weights_of(counts), counts, LIMIT)


def index(project: Project, bodies: Sequence[str], kind: str = "decision", first: int = 1) -> None:
    documents = [Document(n, f"{n}", "", body, NOON) for n, body in enumerate(bodies, start=first)]
    index_documents(project.pk, kind, documents)


def found(
    project: Project, counts: Mapping[Term, int], kind: str = "", limit: int = LIMIT, count_to: int = 1_001
) -> tuple[list[Candidate], int]:
    scope = [[f"P{project.pk}"], *([[kind_word(kind)]] if kind else [])]
    query, weights = Query(tuple(counts)), weights_of(counts, 100)
    return find_candidates(Narrowing(scope), query, weights, limit, count_to, counts)


def test_where_rare_words_lead_to_enough_the_common_ones_do_not_lead() -> None:
    assert telling({COMMON: 800, MIDDLE: 60, RARE: 30}) == [RARE, MIDDLE]
    assert telling({COMMON: 800, RARE: 40}) == [RARE]


@pytest.mark.parametrize(
    ("counts", "leading"),
    [({COMMON: 800, RARE: 3}, [RARE, COMMON]), ({COMMON: 80, MIDDLE: 70, RARE: 60}, [RARE, MIDDLE])],
    ids=("too few have the rarest", "the others are worth more"),
)
def test_else_others_lead_too(counts: dict[Term, int], leading: list[Term]) -> None:
    assert telling(counts) == leading


def test_without_counts_and_where_all_words_are_needed_all_lead() -> None:
    assert leading_terms(Query((COMMON, RARE)), {COMMON: 1.0, RARE: 9.0}, {}, LIMIT) == (COMMON, RARE)
    assert telling({COMMON: 800, RARE: 40}, needs_all=True) == (COMMON, RARE)


def test_a_common_word_counts_but_does_not_lead(apollo: Project) -> None:
    index(apollo, ["the pelican"] * 37 + ["lock and pelican"] * 3 + ["lock"] * 60)
    candidates, counted = found(apollo, {COMMON: 63, RARE: 40})
    assert [candidate.object_id for candidate in candidates] == [40, 39, 38, 37, 36]
    assert counted == 100


def test_of_equally_many_words_the_shorter_passage_is_first_then_the_newer(apollo: Project) -> None:
    index(apollo, ["pelican", "pelican " + "of the sea " * 20, "pelican", "pelican at last"])
    candidates, _ = found(apollo, {RARE: 4})
    assert [candidate.object_id for candidate in candidates] == [3, 1, 4, 2]


def test_where_filters_leave_few_rare_words_the_common_ones_lead(apollo: Project) -> None:
    index(apollo, ["pelican"] * 40)
    index(apollo, ["lock"] * 7, kind="message", first=41)
    candidates, counted = found(apollo, {COMMON: 60, RARE: 40}, kind="message")
    assert [candidate.object_id for candidate in candidates] == [47, 46, 45, 44, 43]
    assert counted == 7


def test_things_are_counted_as_far_as_they_are_asked_for(apollo: Project) -> None:
    index(apollo, ["lock"] * 30 + ["pelican"] * 10)
    counts = {COMMON: 30, RARE: 10}
    assert [found(apollo, counts, count_to=n)[1] for n in (1, 20, 31, 41)] == [1, 20, 31, 40]
