"""Queries parsed into terms: which texts match a query, and which words are ignored or excluded."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.core.search.analyser import analyse, runs
from ctxhub.core.search.queries import (
    MAX_CHUNKS,
    MAX_TERMS,
    Term,
    parse,
    parse_similarity,
    single_words,
)
from tests.core.test_search_analyser import texts

ALL_FOUND = [
    ("getUserName", "user name"),
    ("getUserName", "user_name"),
    ("getUserName", "getusername"),
    ("set user name first", "setUserName user-name"),
    ("get user name", "getUserName"),
    ("the user-service", "user-service"),
    ("src/api/auth.py", "api/auth"),
    ("released v1.2.3", "v1.2.3"),
    ("we decided on C++", "c++ deciding"),
    ("Café", "cafe"),
    ("ｃａｆｅ", "café"),
    ("the user’s token", "users token's"),
    ("重跑gen-itgc后", "重跑gen-itgc后"),
    ("先重跑 gen 再 itgc 后面", "重跑gen itgc后"),
    ("全文快取層失效", "快取"),
    ("全文快取層失效", "快取層失效"),
    ("快取", "快"),
    ("快", "快"),
    ("gen重itgc", "gen重itgc"),
    ("한국어 검색", "국어"),
    ("ภาษาไทย", "ไทย"),
    ("launched 🚀", "🚀"),
    ("on 2025-03-04 we met", "2025-03-04"),
    ("2025 march 4", "(2025-03-04)."),
    ("the cache is cold", '"cache is cold"'),
    ("使用快取 層", '"快取 層"'),
    ("pass --no-verify", "--no-verify"),
    ("a delta of -5", "-5"),
    ("migrations", "migr*"),
    ("migrations", "migratio*"),
    ("migrations", "migrations*"),
    ("delete it", "delete*"),
    ("快取層", "快*"),
]
NOT_FOUND = [
    ("user of a name", "user_name"),
    ("auth/api", "api/auth"),
    ("v1.2.4", "v1.2.3"),
    ("plain c", "c++"),
    ("取快", "快取"),
    ("快取與層", "快取層"),
    ("cold is the cache", '"cache is cold"'),
    ("快取的層", '"快取 層"'),
    ("address", "added*"),
    ("2025-03-05", "2025-03-04"),
    ("apples and pears", "apples -pears"),
    ("apples on a plate", 'apples -"a plate"'),
    ("apples in user-service", "apples -user-service"),
]


def matches(text: str, query: str) -> bool:
    """Whether an engine finds the text if all terms are needed."""
    words, parsed = analyse(text), parse(query, needs_all=True)
    return all(has(words, term) for term in parsed.wanted) and not any(
        has(words, term) for term in parsed.excluded
    )


def has(words: Sequence[str], term: Term) -> bool:
    return any(
        is_spelling(words[start : start + len(spelling)], spelling, term.prefix)
        for spelling in term.spellings
        for start in range(len(words) - len(spelling) + 1)
    )


def is_spelling(words: Sequence[str], spelling: Sequence[str], prefix: bool) -> bool:
    last = words[-1].startswith(spelling[-1]) if prefix else words[-1] == spelling[-1]
    return last and list(words[:-1]) == list(spelling[:-1])


def wanted_words(query: str) -> list[str]:
    """The first spellings of the wanted terms when any suffices; those of lower weight in brackets."""
    return [
        f"({words})" if term.weight < 1 else f"{words}*" if term.prefix else words
        for term in parse(query).wanted
        for words in [" ".join(term.spellings[0])]
    ]


@pytest.mark.parametrize(("text", "query"), ALL_FOUND)
def test_a_text_matches_a_query_for_its_words(text: str, query: str) -> None:
    assert parse(query).wanted
    assert matches(text, query)


@pytest.mark.parametrize(("text", "query"), NOT_FOUND)
def test_a_text_does_not_match_a_query_for_other_words(text: str, query: str) -> None:
    assert not matches(text, query)


@given(texts)
def test_a_text_matches_each_of_its_words(text: str) -> None:
    words = [run.group() for run in runs(text)]

    assert [word for word in words if not matches(text, word)] == []


@given(texts)
def test_a_text_matches_each_of_its_chunks_between_blanks(text: str) -> None:
    chunks = [chunk for chunk in text.split() if not set(chunk) & set('"*') and not chunk.startswith("-")]

    assert [chunk for chunk in chunks if not matches(text, chunk)] == []


@given(texts)
def test_a_text_matches_itself_as_a_phrase(text: str) -> None:
    assert matches(text, '"{}"'.format(text.replace('"', " ")))


@given(
    st.text(st.characters(codec=None, categories=None) | st.sampled_from("\"-*' "), max_size=60),
    st.booleans(),
)
def test_any_query_is_parsed_into_words_of_the_analyser(text: str, needs_all: bool) -> None:
    query = parse(text, needs_all=needs_all)
    words = [word for term in (*query.wanted, *query.excluded) for words in term.spellings for word in words]

    assert all(char.isalnum() for word in words for char in word if char.isascii())
    assert all(words)
    assert all(term.spellings and all(term.spellings) for term in (*query.wanted, *query.excluded))


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("how does the login work", ["login", "work"]),
        ("user-service", ["user", "servic", "(user servic)"]),
        ("getUserName", ["getusernam", "(user)", "(name)"]),
        ("v1.2.3", ["v1", "(v1 2 3)"]),
        ("快取層失效", ["快取", "取層", "層失", "失效"]),
        ("快取層", ["快取 取層"]),
        ("快", ["快*"]),
        ("重跑gen-itgc后", ["重跑", "gen", "itgc", "(gen itgc)", "后*"]),
        ("cache Cache caching", ["cach"]),
        ("dec* x*", ["dec*", "x"]),
        ('"quick cache" slow', ["quick cach", "slow"]),
        ('an "unclosed phrase', ["unclos", "phrase"]),
        ("-gone", []),
        ("", []),
        ("?!* -", []),
    ],
)
def test_the_wanted_terms_of_a_query(query: str, wanted: list[str]) -> None:
    assert wanted_words(query) == wanted


@pytest.mark.parametrize("query", ["the", "how does it", "to be or not to be"])
def test_stop_words_are_wanted_when_there_are_no_others(query: str) -> None:
    assert wanted_words(query) == list(dict.fromkeys(analyse(query)))


@pytest.mark.parametrize(
    ("query", "excluded"),
    [
        ("a -b", ["b"]), ("-b a", ["b"]), ('a -"b c"', ["b c"]), ("a -快取層失效", ["快取 取層 層失 失效"]),
        ("a -the", ["the"]), ("a--b", []), ("a-b", []), ("a --b", []), ("a -5", []), ("a - b", []),
    ],
)  # fmt: skip
def test_a_minus_before_a_letter_or_a_quotation_mark_excludes(query: str, excluded: list[str]) -> None:
    assert [" ".join(term.spellings[0]) for term in parse(query).excluded] == excluded


@pytest.mark.parametrize("query", ["2025-13-04", "2025-00-04", "2025-03-40", "٢٠٢٥-03-04"])
def test_an_invalid_date_is_parsed_as_words(query: str) -> None:
    [*_, whole] = parse(query).wanted

    assert whole.spellings == (tuple(analyse(query)),)


def test_a_prefix_has_no_wider_spelling_than_needed() -> None:
    [term] = parse("migr*").wanted

    assert term.spellings == (("migr",),)


def test_only_single_plain_words_are_corrected() -> None:
    query = parse('Migartion user-service "a phrase" pre* 快取 2025-03-04 getUserName')

    assert [term.surface for term in single_words(query)] == ["migartion", "user", "service", "getusername"]


def test_a_similarity_query_wants_the_most_frequent_words() -> None:
    query = parse_similarity(
        "The cache, the cache, THE CACHE is cold 7 x " + " ".join(f"w{n}" for n in range(100))
    )

    assert [(term.spellings, term.weight) for term in query.wanted[:2]] == [
        ((("cach",),), 1.75),
        ((("cold",),), 1.25),
    ]
    assert len(query.wanted) == 2 * MAX_TERMS


def test_a_too_long_query_is_truncated() -> None:
    assert len(parse(" ".join(f"w{n}" for n in range(5_000))).wanted) == MAX_CHUNKS
