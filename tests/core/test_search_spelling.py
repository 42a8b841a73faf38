"""Which of a project's own words a mistyped one may have been meant to be."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.core.models import Project, SearchWord
from ctxhub.core.search.spelling import find_near_words, near_words

KNOWN = ["cache", "caches", "cached", "migrations", "migration", "lease", "least", "release", "gate", "quick"]


def learn(project: Project, *words: str) -> None:
    SearchWord.unscoped.bulk_create(SearchWord(project=project, word=word, entry_id=1) for word in words)


@pytest.mark.parametrize(
    ("typed", "near"),
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
def test_the_nearest_words_come_first_then_by_the_alphabet(typed: str, near: list[tuple[str, int]]) -> None:
    assert near_words(typed, KNOWN) == near


def test_a_word_of_up_to_seven_letters_may_be_one_away_and_a_longer_one_two() -> None:
    assert near_words("relaese", ["release", "relxese", "releasez"]) == [("release", 1), ("relxese", 1)]
    assert near_words("releases", ["relaesen", "relxxxes"]) == [("relaesen", 2)]


@pytest.mark.parametrize("typed", ["", "a", "gat", "取"])
def test_a_word_of_under_four_letters_is_near_to_none(typed: str) -> None:
    assert near_words(typed, [*KNOWN, "gat", "gats", "取快"]) == []


def test_a_word_that_is_known_is_not_near_to_itself() -> None:
    assert near_words("cache", KNOWN) == [("cached", 1), ("caches", 1)]


def test_at_most_so_many_are_given_each_once() -> None:
    assert near_words("cachez", KNOWN * 2, at_most=3) == [("cache", 1), ("cached", 1), ("caches", 1)]


@given(st.text("abc", min_size=4, max_size=8), st.lists(st.text("abc", min_size=1, max_size=9), max_size=30))
def test_no_near_word_is_passed_over(typed: str, known: list[str]) -> None:
    far = 1 if len(typed) <= 7 else 2

    near = near_words(typed, known, at_most=1_000)

    assert near == sorted(near, key=lambda found: (found[1], found[0]))
    assert {word for word, _ in near} == {word for word in known if 0 < distance(typed, word) <= far}


def distance(one: str, other: str) -> int:
    """A letter more, less or other, or two neighbours that changed places, by the book."""
    rows = [[max(i, j) if not (i and j) else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            costs = [
                rows[i - 1][j] + 1,
                rows[i][j - 1] + 1,
                rows[i - 1][j - 1] + (one[i - 1] != other[j - 1]),
            ]
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                costs.append(rows[i - 2][j - 2] + 1)
            rows[i][j] = min(costs)
    return rows[-1][-1]


def test_words_are_put_right_from_the_projects_own(apollo: Project, hermes: Project) -> None:
    learn(apollo, "migration", "cache", "lease")
    learn(hermes, "migrations", "caches")

    assert find_near_words(apollo.pk, {"migartion", "caches", "unheard"}) == {
        "migartion": ["migration"],
        "caches": ["cache"],
    }


def test_words_of_any_length_that_is_near_enough_are_looked_at(apollo: Project) -> None:
    learn(apollo, "mi", "migrat", "migrations", "migrationist", "migr")

    assert find_near_words(apollo.pk, ["migratio", "mig"]) == {"migratio": ["migrat", "migrations"]}


def test_all_words_take_one_query_and_short_ones_none(apollo: Project) -> None:
    learn(apollo, "migration", "cache", "lease")
    with CaptureQueriesContext(connection) as queries:
        find_near_words(apollo.pk, ["migartion", "cahce", "leaze", "of"])
        find_near_words(apollo.pk, ["of", "to"])
        find_near_words(apollo.pk, [])

    assert len(queries) == 1
