"""Candidates of a search: the passages with the rarest words, the same on every engine."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pytest

from ctxhub.core.models import Project
from ctxhub.core.search.candidates import Candidate, find_candidates, leading_terms
from ctxhub.core.search.documents import EARLIER, Document, kind_word
from ctxhub.core.search.engines import Narrowing
from ctxhub.core.search.index import index_documents
from ctxhub.core.search.queries import Query, Term
from ctxhub.core.search.ranking import worth

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
LIMIT = 5
COMMON, MIDDLE, RARE = (Term(((word,),), word) for word in ("lock", "badger", "pelican"))


def weights_of(counts: Mapping[Term, int], total: int = 1_000) -> dict[Term, float]:
    return {term: worth(total, count) for term, count in counts.items()}


def leading(counts: Mapping[Term, int], *, needs_all: bool = False, is_whole: bool = False) -> Sequence[Term]:
    query = Query(tuple(counts), needs_all=needs_all)
    return leading_terms(query, weights_of(counts), counts, LIMIT, is_whole=is_whole)


def index(project: Project, bodies: Sequence[str], kind: str = "decision", first: int = 1) -> None:
    documents = [Document(n, f"{n}", "", body, NOON) for n, body in enumerate(bodies, start=first)]
    index_documents(project.pk, kind, documents)


def candidates_of(
    project: Project, counts: Mapping[Term, int], kind: str = "", limit: int = LIMIT, count_to: int = 1_001
) -> tuple[list[Candidate], int]:
    scope = [[f"P{project.pk}"], *([[kind_word(kind)]] if kind else [])]
    query, weights = Query(tuple(counts)), weights_of(counts, 100)
    return find_candidates(Narrowing(scope), query, weights, limit, count_to, counts)


def test_rare_words_with_enough_matches_lead_alone() -> None:
    assert leading({COMMON: 800, MIDDLE: 60, RARE: 30}) == [RARE, MIDDLE]
    assert leading({COMMON: 800, RARE: 40}) == [RARE]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [({COMMON: 800, RARE: 3}, [RARE, COMMON]), ({COMMON: 80, MIDDLE: 70, RARE: 60}, [RARE, MIDDLE])],
    ids=("too few have the rarest", "the others are worth more"),
)
def test_common_words_lead_too_when_rare_words_have_too_few_matches(
    counts: dict[Term, int], expected: list[Term]
) -> None:
    assert leading(counts) == expected


def test_words_that_outweigh_all_others_lead_when_as_many_passages_have_one_as_are_read() -> None:
    assert leading({COMMON: 400, RARE: 15}, is_whole=True) == [RARE]
    assert leading({COMMON: 400, RARE: 14}, is_whole=True) == [RARE, COMMON]
    assert leading({COMMON: 70, MIDDLE: 60, RARE: 15}, is_whole=True) == [RARE, MIDDLE]


def test_they_do_not_when_filters_may_leave_fewer_passages() -> None:
    assert leading({COMMON: 400, RARE: 15}) == [RARE, COMMON]


def test_all_words_lead_without_counts_or_when_all_are_needed() -> None:
    assert leading_terms(Query((COMMON, RARE)), {COMMON: 1.0, RARE: 9.0}, {}, LIMIT) == (COMMON, RARE)
    assert leading({COMMON: 800, RARE: 40}, needs_all=True) == (COMMON, RARE)


def test_a_common_word_counts_but_does_not_lead(apollo: Project) -> None:
    index(apollo, ["the pelican"] * 37 + ["lock and pelican"] * 3 + ["lock"] * 60)
    candidates, counted = candidates_of(apollo, {COMMON: 63, RARE: 40})
    assert [candidate.object_id for candidate in candidates] == [40, 39, 38, 37, 36]
    assert counted == 100


def test_equal_passages_are_sorted_by_length_then_by_age(apollo: Project) -> None:
    index(apollo, ["pelican", "pelican " + "of the sea " * 20, "pelican", "pelican at last"])
    candidates, _ = candidates_of(apollo, {RARE: 4})
    assert [candidate.object_id for candidate in candidates] == [3, 1, 4, 2]


def test_common_words_lead_when_filters_leave_few_rare_words(apollo: Project) -> None:
    index(apollo, ["pelican"] * 40)
    index(apollo, ["lock"] * 7, kind="message", first=41)
    candidates, counted = candidates_of(apollo, {COMMON: 60, RARE: 40}, kind="message")
    assert [candidate.object_id for candidate in candidates] == [47, 46, 45, 44, 43]
    assert counted == 7


def test_counting_stops_at_count_to(apollo: Project) -> None:
    index(apollo, ["lock"] * 30 + ["pelican"] * 10)
    counts = {COMMON: 30, RARE: 10}
    assert [candidates_of(apollo, counts, count_to=n)[1] for n in (1, 20, 31, 41)] == [1, 20, 31, 40]


@pytest.mark.every_engine
def test_an_object_and_its_earlier_states_are_counted_once(apollo: Project) -> None:
    index(apollo, ["lock"] * 8)
    earlier = [Document(n, f"{n}", "", "lock", NOON, also=[EARLIER]) for n in (7, 8, 9)]
    index_documents(apollo.pk, "memory", earlier)
    assert candidates_of(apollo, {COMMON: 11})[1] == 9
    assert [candidates_of(apollo, {COMMON: 9}, count_to=n)[1] for n in (8, 10)] == [8, 9]


@pytest.mark.every_engine
def test_an_object_of_several_passages_is_counted_once(apollo: Project) -> None:
    index(apollo, ["lock " * 2_000, *["lock"] * 6])
    assert candidates_of(apollo, {COMMON: 9})[1] == 7


@pytest.mark.every_engine
def test_the_rows_of_a_project_told_by_themselves_are_its_own(apollo: Project, hermes: Project) -> None:
    for project in (apollo, hermes):
        index(project, ["pelican", "pelican and lock", *["lock"] * 6])
    narrowing, query = Narrowing([[f"P{apollo.pk}"]]), Query((COMMON, RARE))
    counts = {COMMON: 7, RARE: 2}
    by_list, by_row = (
        find_candidates(narrowing, query, weights_of(counts, 100), LIMIT, 1_001, counts, by_row=by_row)
        for by_row in (False, True)
    )
    assert by_row == by_list
    assert by_row[1] == 8
