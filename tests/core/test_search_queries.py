"""What is asked, as terms: which texts answer a query, and what is left out of it."""

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


def answers(text: str, query: str) -> bool:
    """Whether an engine finds the text, all terms needed."""
    words, asked = analyse(text), parse(query, needs_all=True)
    return all(has(words, term) for term in asked.wanted) and not any(
        has(words, term) for term in asked.excluded
    )


def has(words: Sequence[str], term: Term) -> bool:
    return any(
        is_spelling(words[at : at + len(spelling)], spelling, term.prefix)
        for spelling in term.spellings
        for at in range(len(words) - len(spelling) + 1)
    )


def is_spelling(words: Sequence[str], spelling: Sequence[str], prefix: bool) -> bool:
    last = words[-1].startswith(spelling[-1]) if prefix else words[-1] == spelling[-1]
    return last and list(words[:-1]) == list(spelling[:-1])


def spoken(query: str) -> list[str]:
    """The first spellings of what is wanted where any of it will do; those that count less in brackets."""
    return [
        f"({words})" if term.weight < 1 else f"{words}*" if term.prefix else words
        for term in parse(query).wanted
        for words in [" ".join(term.spellings[0])]
    ]


@pytest.mark.parametrize(("text", "query"), ALL_FOUND)
def test_a_text_answers_what_it_holds(text: str, query: str) -> None:
    assert parse(query).wanted
    assert answers(text, query)


@pytest.mark.parametrize(("text", "query"), NOT_FOUND)
def test_a_text_does_not_answer_what_it_lacks(text: str, query: str) -> None:
    assert not answers(text, query)


@given(texts)
def test_a_text_answers_each_of_its_words(text: str) -> None:
    words = [run.group() for run in runs(text)]

    assert [word for word in words if not answers(text, word)] == []


@given(texts)
def test_a_text_answers_each_of_its_chunks_between_blanks(text: str) -> None:
    chunks = [chunk for chunk in text.split() if not set(chunk) & set('"*') and not chunk.startswith("-")]

    assert [chunk for chunk in chunks if not answers(text, chunk)] == []


@given(texts)
def test_a_text_answers_itself_as_a_phrase(text: str) -> None:
    assert answers(text, '"{}"'.format(text.replace('"', " ")))


@given(
    st.text(st.characters(codec=None, categories=None) | st.sampled_from("\"-*' "), max_size=60),
    st.booleans(),
)
def test_whatever_is_typed_becomes_words_of_the_analyser(text: str, needs_all: bool) -> None:
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
def test_where_any_word_will_do_a_query_wants(query: str, wanted: list[str]) -> None:
    assert spoken(query) == wanted


@pytest.mark.parametrize("query", ["the", "how does it", "to be or not to be"])
def test_words_that_say_nothing_are_asked_for_when_there_are_no_others(query: str) -> None:
    assert spoken(query) == list(dict.fromkeys(analyse(query)))


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
def test_what_is_no_date_is_words(query: str) -> None:
    [*_, whole] = parse(query).wanted

    assert whole.spellings == (tuple(analyse(query)),)


def test_a_beginning_is_no_wider_than_it_has_to_be() -> None:
    [term] = parse("migr*").wanted

    assert term.spellings == (("migr",),)


def test_only_a_single_plain_word_may_be_mistyped() -> None:
    query = parse('Migartion user-service "a phrase" pre* 快取 2025-03-04 getUserName')

    assert [term.surface for term in single_words(query)] == ["migartion", "user", "service", "getusername"]


def test_a_text_asks_for_its_most_frequent_words() -> None:
    query = parse_similarity(
        "The cache, the cache, THE CACHE is cold 7 x " + " ".join(f"w{n}" for n in range(100))
    )

    assert [(term.spellings, term.weight) for term in query.wanted[:2]] == [
        ((("cach",),), 1.75),
        ((("cold",),), 1.25),
    ]
    assert len(query.wanted) == 2 * MAX_TERMS


def test_of_an_endless_query_the_beginning_is_read() -> None:
    assert len(parse(" ".join(f"w{n}" for n in range(5_000))).wanted) == MAX_CHUNKS
