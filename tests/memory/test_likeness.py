"""The formulas of similarity, checked against results computed by hand."""

import math

import pytest

from ctxhub.core.search.similarity import (
    COMPARED_CHARACTERS,
    Rarity,
    Vector,
    count_words,
    jaccard,
    long_words,
    vector,
)
from memory.models import Relation
from memory.relationships.queries import WordSets, relation_of, similarity, strength_of

# Of four texts two contain redis, one contains kafka, all contain cache.
RARITY = Rarity.of_texts(["redis cach", "redis cach", "kafka cach", "cach"])


def test_the_weight_of_a_word_is_the_logarithm_of_its_rarity() -> None:
    """ln(1 + (N + 1) / (n + 1)), for n of N texts."""
    assert RARITY.of("kafka") == pytest.approx(math.log(1 + 5 / 2)) == pytest.approx(1.2528, abs=1e-4)
    assert RARITY.of("redis") == pytest.approx(math.log(1 + 5 / 3)) == pytest.approx(0.9808, abs=1e-4)
    assert RARITY.of("new") == pytest.approx(math.log(6)) == pytest.approx(1.7918, abs=1e-4)


def test_a_word_of_all_texts_has_a_small_positive_weight() -> None:
    assert RARITY.of("cach") == pytest.approx(math.log(2)) == pytest.approx(0.6931, abs=1e-4)


def test_without_texts_all_words_have_the_same_weight() -> None:
    empty = Rarity.of_texts([])
    assert empty.of("redis") == empty.of("kafka") == pytest.approx(math.log(2))


def test_a_frequent_word_counts_at_most_twice_a_single_one() -> None:
    weights = vector({"kafka": 4, "new": 1}, RARITY).weights
    assert weights["kafka"] == pytest.approx(1.0 * RARITY.of("kafka"))
    assert weights["new"] == pytest.approx((0.5 + 0.5 / 4) * RARITY.of("new"))


def test_the_cosine_of_two_texts_by_hand() -> None:
    """(1, 1) and (1, 0): 1 / sqrt(2)."""
    assert Vector({"a": 1, "b": 1}).cosine(Vector({"a": 1, "c": 1})) == pytest.approx(0.5)
    assert Vector({"a": 1, "b": 1}).cosine(Vector({"a": 1})) == pytest.approx(1 / math.sqrt(2))


def test_the_cosine_is_one_for_the_same_words_and_zero_for_others() -> None:
    one = vector(count_words("Redis caches answers"), RARITY)
    assert one.cosine(vector(count_words("answers: cached (REDIS)"), RARITY)) == pytest.approx(1.0)
    assert one.cosine(vector(count_words("Kafka queues"), RARITY)) == 0.0
    assert one.cosine(vector({}, RARITY)) == 0.0


def test_the_cosine_is_symmetric() -> None:
    one, other = (vector(count_words(t), RARITY) for t in ("redis redis cache kafka", "kafka cache lag"))
    assert one.cosine(other) == other.cosine(one)


def test_stop_words_count_only_where_there_are_no_others() -> None:
    assert count_words("the cache of the answers") == {"cach": 1, "answer": 1}
    assert count_words("auth config, authentication") == {"authent": 2, "configur": 1}
    assert count_words("to be or not to be") == {"to": 2, "be": 2, "or": 1, "not": 1}


def test_only_the_beginning_of_a_long_text_is_compared() -> None:
    assert count_words("a1 " * COMPARED_CHARACTERS + "last").keys() == {"a1"}


def test_jaccard_is_the_intersection_over_the_union() -> None:
    assert jaccard({"a", "b", "c"}, {"b", "c", "d"}) == 0.5
    assert jaccard(set(), set()) == 0.0


def test_long_words_exclude_two_letters_and_include_pairs_of_chinese() -> None:
    assert long_words("We use Redis: it IS fast") == {"use", "redis", "fast"}
    assert long_words("快取效能 ok") == {"快取", "取效", "效能"}


def test_titles_count_three_tenths_and_contents_seven_tenths() -> None:
    """Titles 1 of 3, contents 2 of 4: 0.3 / 3 + 0.7 / 2."""
    one = WordSets.of("Redis cache", "keep answers five minutes")
    other = WordSets.of("Redis queue", "keep answers")
    assert similarity(one, other) == pytest.approx(0.45) == similarity(other, one)


@pytest.mark.parametrize(
    ("score", "relation", "strength"),
    [
        (0.3, Relation.RELATED, 30),
        (0.4999, Relation.RELATED, 50),
        (0.5, Relation.REFERENCES, 50),
        (0.6999, Relation.REFERENCES, 70),
        (0.7, Relation.INCLUDES, 70),
        (1.0, Relation.INCLUDES, 100),
    ],
)
def test_the_score_decides_relation_and_strength(score: float, relation: Relation, strength: int) -> None:
    assert (relation_of(score), strength_of(score)) == (relation, strength)
