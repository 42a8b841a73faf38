"""Similarity of keys: the same words in another order or form are similar, neighbouring keys are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.suggestions.keys import (
    Signatures,
    are_alike,
    compare_keys,
    index_terms,
    shorter_term,
    signatures,
)

KEY = "api/auth/method"


@pytest.mark.parametrize(
    ("other", "score"),
    [
        ("api/auth/method", 1.0),
        ("API/Auth/Method", 1.0),
        ("api/auth/methods", 0.967),
        ("api/auth-method", 0.933),
        ("auth/api/method", 0.9),
        ("apiAuthMethod", 0.9),
        ("api/auth/metod", 0.892),
        ("api/authentication/method", 0.888),
        ("api/auth/login-method", 0.854),
        ("auth/method", 0.787),
    ],
)
def test_similar_keys_are_the_same_with_this_score(other: str, score: float) -> None:
    similarity = compare_keys(KEY, other)
    assert similarity.is_same
    assert round(similarity.score, 3) == score


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (KEY, "api/auth/timeout"),
        (KEY, "db/auth/method"),
        (KEY, "api/auth"),
        (KEY, "api/auth/method/default"),
        (KEY, "method"),
        (KEY, "other/thing"),
        ("a/b/c/d/e/f", "a/b/c/d/e/f/g"),
        ("shop/users/list/page/limit", "shop/orders/list/page/limit"),
        ("db/pool-size", "db/pool-age"),
        ("perf/search/p95", "perf/search/p99"),
        ("oauth1/key", "oauth2/key"),
        ("step1Name", "step2Name"),
        ("log/level", "login/level"),
        ("k/1", "k/2"),
        ("→", "⇒"),
    ],
)
def test_different_keys_are_not_the_same(one: str, other: str) -> None:
    assert not compare_keys(one, other).is_same
    assert not compare_keys(other, one).is_same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("接口/认证/方式", "接口/认证方式"),
        ("user/getName", "user/get_name"),
        ("db/pool", "db/pool-size"),
        ("Größe", "grösse"),
    ],
)
def test_words_of_other_scripts_and_of_identifiers_are_compared(one: str, other: str) -> None:
    assert compare_keys(one, other).is_same


def test_the_shared_path_is_spelled_as_in_the_other_key() -> None:
    assert compare_keys("api/auth/method", "API/Auth/timeout").path == "API/Auth"
    assert compare_keys("api/auth", "api/auth/method").path == "api/auth"
    assert compare_keys("x", "y").path == ""


@given(st.text(max_size=200), st.text(max_size=200))
def test_every_score_is_between_zero_and_one(one: str, other: str) -> None:
    assert 0 <= compare_keys(one, other).score <= 1 + 1e-9


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (KEY, "api/auth/methods"),
        (KEY, "method/auth/api"),
        (KEY, "API/Authentication/Method"),
        (KEY, "auth/method"),
        (KEY, "api/auth/login-method"),
        ("db/pool", "db/pool-size"),
        ("快取/策略", "策略/快取"),
        ("cache", "caching"),
    ],
)
def test_similar_keys_share_a_signature(one: str, other: str) -> None:
    assert finds(one, other)
    assert finds(other, one)


@pytest.mark.parametrize(
    "other", ["api/auth/timeout", "api/auth", "api/auth/method/default", "k/1", "→", "x" * 200]
)
def test_different_keys_share_no_signature(other: str) -> None:
    assert not finds(KEY, other)
    assert not finds(other, KEY)


def finds(new: str, stored: str) -> bool:
    """Whether a search for keys like the new one finds the stored one by its signatures."""
    own, other = signatures(new), signatures(stored)
    if own.whole is None or other.whole is None:
        return False
    return other.whole in (own.whole, *own.shorter) or shorter_term(own.whole) in index_terms(stored)


def test_a_long_key_has_few_signatures() -> None:
    assert not signatures("/".join(f"word{n}" for n in range(25))).shorter
    assert len(signatures("a/b/c/d/e/f/g/h").shorter) == 7
    assert signatures("→") == signatures("//") == Signatures()


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("perf/p95", "perf/p99", False),
        ("sprint/12/goal", "sprint/13/goal", False),
        ("sprint/12/goal", "goal/12", True),
        ("api/auth", "api/authentication", True),
        ("api/2fa", "api/otp/17", True),
    ],
)
def test_keys_with_different_numbers_are_not_compared(one: str, other: str, alike: bool) -> None:
    assert are_alike(one, other) is are_alike(other, one) is alike
    assert alike or not compare_keys(one, other).is_same
