"""Spelling: the words of a project that are near to a mistyped word."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.core.models import Project, SearchWord
from ctxhub.core.search.spelling import find_meant_words, find_near_words, is_slip, near_words

KNOWN = ["cache", "caches", "cached", "migrations", "migration", "lease", "least", "release", "gate", "quick"]


def store_words(project: Project, *words: str) -> None:
    SearchWord.unscoped.bulk_create(SearchWord(project=project, word=word, entry_id=1) for word in words)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("migartion", [("migration", 1), ("migrations", 2)]),
        ("migratoins", [("migrations", 1), ("migration", 2)]),
        ("cahce", [("cache", 1)]),
        ("cachez", [("cache", 1), ("cached", 1)]),
        ("leese", [("lease", 1)]),
        ("gaet", [("gate", 1)]),
        ("qick", [("quick", 1)]),
        ("миграция", []),
    ],
)
def test_near_words_are_sorted_by_distance_then_alphabetically(
    typed: str, expected: list[tuple[str, int]]
) -> None:
    assert near_words(typed, KNOWN) == expected


def test_words_of_up_to_seven_letters_have_distance_one_and_longer_ones_two() -> None:
    assert near_words("relaese", ["release", "relxese", "releasez"]) == [("release", 1), ("relxese", 1)]
    assert near_words("releases", ["relaesen", "relxxxes"]) == [("relaesen", 2)]


@pytest.mark.parametrize("typed", ["", "a", "gat", "取"])
def test_a_word_of_under_four_letters_has_no_near_words(typed: str) -> None:
    assert near_words(typed, [*KNOWN, "gat", "gats", "取快"]) == []


def test_a_known_word_is_not_near_to_itself() -> None:
    assert near_words("cache", KNOWN) == [("cached", 1), ("caches", 1)]


def test_near_words_are_limited_and_unique() -> None:
    assert near_words("cachez", KNOWN * 2, at_most=3) == [("cache", 1), ("cached", 1), ("caches", 1)]


@given(st.text("abc", min_size=4, max_size=8), st.lists(st.text("abc", min_size=1, max_size=9), max_size=30))
def test_every_near_word_is_found(typed: str, known: list[str]) -> None:
    max_distance = 1 if len(typed) <= 7 else 2

    found_words = near_words(typed, known, at_most=1_000)

    assert found_words == sorted(found_words, key=lambda found: (found[1], found[0]))
    assert {word for word, _ in found_words} == {
        word for word in known if 0 < distance(typed, word) <= max_distance
    }


def distance(first: str, second: str) -> int:
    """Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours."""
    rows = [
        [max(i, j) if not (i and j) else 0 for j in range(len(second) + 1)] for i in range(len(first) + 1)
    ]
    for i in range(1, len(first) + 1):
        for j in range(1, len(second) + 1):
            costs = [
                rows[i - 1][j] + 1,
                rows[i][j - 1] + 1,
                rows[i - 1][j - 1] + (first[i - 1] != second[j - 1]),
            ]
            if i > 1 and j > 1 and first[i - 1] == second[j - 2] and first[i - 2] == second[j - 1]:
                costs.append(rows[i - 2][j - 2] + 1)
            rows[i][j] = min(costs)
    return rows[-1][-1]


def test_words_are_corrected_from_the_words_of_the_project(apollo: Project, hermes: Project) -> None:
    store_words(apollo, "migration", "cache", "lease")
    store_words(hermes, "migrations", "caches")

    assert find_near_words(apollo.pk, {"migartion", "caches", "unheard"}) == {
        "migartion": ["migration"],
        "caches": ["cache"],
    }


def test_near_words_may_be_shorter_or_longer(apollo: Project) -> None:
    store_words(apollo, "mi", "migrat", "migrations", "migrationist", "migr")

    assert find_near_words(apollo.pk, ["migratio", "mig"]) == {"migratio": ["migrat", "migrations"]}


def test_all_words_take_one_query_and_short_words_none(apollo: Project) -> None:
    store_words(apollo, "migration", "cache", "lease")
    with CaptureQueriesContext(connection) as queries:
        find_near_words(apollo.pk, ["migartion", "cahce", "leaze", "of"])
        find_near_words(apollo.pk, ["of", "to"])
        find_near_words(apollo.pk, [])

    assert len(queries) == 1


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("raets", [("rate", 1)]),
        ("ediled", []),
        ("tessts", [("tests", 1)]),
        ("teets", [("tests", 1)]),
        ("migartion", [("migration", 1)]),
        ("cahces", [("caches", 1)]),
    ],
)
def test_a_mistyped_word_means_the_nearest_with_its_first_letter(
    apollo: Project, typed: str, meant: list[tuple[str, int]]
) -> None:
    """Without its ending, only by a slip."""
    store_words(apollo, "rate", "emil", "tests", "meets", "migration", "migrations", "caches", "cache")
    assert find_meant_words(apollo.pk, [typed]).get(typed, []) == meant


@pytest.mark.parametrize(
    ("typed", "word", "expected"),
    [
        ("tokn", "token", True),
        ("tokken", "token", True),
        ("tkoen", "token", True),
        ("taken", "token", False),
        ("token", "token", False),
    ],
)
def test_a_slip_replaces_no_letter(typed: str, word: str, expected: bool) -> None:
    assert is_slip(typed, word) is expected
