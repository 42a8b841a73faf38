"""Which words a text is found by, and where in it they lie."""

import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.core.search.analyser import WORD_CHARACTERS, analyse, fold, pieces, runs, surface_words
from ctxhub.core.search.stems import stem
from ctxhub.core.search.stop_words import STOP_WORDS

anything = st.text(st.characters(codec=None, categories=None), max_size=60)
# What hangs together: marks, joined emoji, scripts without blanks, letters that fold to several.
odd = st.text(
    st.sampled_from(
        "aB z12_-.'’+#é\u0301\u0308ßİıſﬁ快取、ガｶﾞか\u3099ไทยที่ำ한글\u1112\u1161\u11ab"
        "\u0627\u064e\u200d👍🏽🇩🇪٣３½²Ⅷ㎏ﷺ\x00\ud800\nΩЙǅK"
    ),
    max_size=30,
)
texts = anything | odd

FOUND = [
    ("The migrations were deciding", "the migrat were decid"),
    ("快", "快"),
    ("快取", "快取 取"),
    ("快取層", "快取 取層 層"),
    ("快取層失效", "快取 取層 層失 失效 效"),
    ("快取，失效", "快取 取 失效 效"),
    ("重跑gen-itgc后", "重跑 跑 gen itgc 后"),
    ("ＡＰＩ　ｖ２ ｶﾞｲﾄﾞ", "api v2 ガイ イド ド"),
    ("getUserName", "getusernam get user name"),
    ("HTTPServer parseJSON v2Api", "httpserver parsejson v2api http server pars json api"),
    ("user_name user-name user.name", "user name user name user name"),
    ("src/api/auth.py:42", "src api auth py 42"),
    ("v1.2.3", "v1 2 3"),
    ("C++ c# F# .NET", "cplusplus csharp fsharp dotnet"),
    ("abc++ .network C#9", "abc network c 9"),
    ("café CAFÉ cafe\u0301 naïve Straße", "cafe cafe cafe naiv strass"),
    ("the user's users' user’s don't", "the user user user dont"),
    ("🚀 launched 🚀", "u1f680 launch u1f680"),
    ("ไทย", "ไท ทย ย"),
    ("한국어 검색", "한국 국어 어 검색 색"),
    ("йод Ёлка", "иод елка"),
    ("हिन्दी", "हिन्दी"),
    ("a\x00b\ud800c", "a b c"),
    ("½ ² ① Ⅷ", "1 2 2 1 viii"),
    ("--- !? …", ""),
    ("", ""),
]


def places(text: str) -> Iterator[tuple[str, str]]:
    """Each word, and the stretch of the text that it is said to lie in."""
    for run in runs(text):
        for piece in pieces(run.group()):
            for word, (start, end) in zip(piece.words, piece.spans, strict=True):
                yield word, text[run.start() + start : run.start() + end]


@pytest.mark.parametrize(("text", "words"), FOUND)
def test_a_text_gives_its_words(text: str, words: str) -> None:
    assert analyse(text) == words.split()


def test_a_long_word_is_cut() -> None:
    assert analyse("1" * 100) == ["1" * WORD_CHARACTERS]


@given(texts)
def test_a_word_holds_nothing_that_an_engine_could_read_as_syntax(text: str) -> None:
    for word in analyse(text):
        assert 0 < len(word) <= WORD_CHARACTERS
        assert not re.search(r"[A-Z\s]", word)
        assert all(char.isalnum() for char in word if char.isascii())


@given(texts)
def test_a_word_is_also_the_word_of_the_stretch_it_lies_in(text: str) -> None:
    assert [(word, span) for word, span in places(text) if word not in analyse(span)] == []


@given(texts, texts)
def test_words_do_not_depend_on_what_stands_around_them(one: str, other: str) -> None:
    def words(text: str) -> list[str]:
        return [word for word, _ in places(text)]

    assert words(f"{one} {other}") == words(one) + words(other)


def test_the_places_of_words_are_those_of_the_text_as_written() -> None:
    text = "Ｕｓｅｒ's 快取層 e\u0301t\u0301é-ok"

    assert list(places(text)) == [
        ("user", "Ｕｓｅｒ's"), ("快取", "快取"), ("取層", "取層"), ("層", "層"),
        ("ete", "e\u0301t\u0301é"), ("ok", "ok"),
    ]  # fmt: skip


def test_where_folding_moves_characters_a_word_lies_in_the_whole_run() -> None:
    assert list(places("é快取ﬁ".replace("é", "e\u0301"))) == [
        (word, "e\u0301快取ﬁ") for word in ("e", "快取", "取", "fi")
    ]


@pytest.mark.parametrize("text", ["快取層失效と", "ガイドライン", "한국어 검색", "東京タワー"])
def test_pairs_that_are_not_folded_one_by_one_are_as_if_they_were(text: str) -> None:
    assert all(fold(word) == word for word in analyse(text))


def test_words_to_be_put_right_are_as_written_and_of_letters_only() -> None:
    text = "Deciding users' naïve Straße getUserName sha256 the 快取層失效 миграция " + "x" * 31

    assert surface_words(text) == {"deciding", "users", "naive", "strasse", "getusername", "миграция"}


@given(st.text("abdeginsty", min_size=2, max_size=12))
def test_a_stem_begins_as_its_word_does(word: str) -> None:
    """Excerpts pass over words that begin otherwise than what is wanted."""
    found = stem(word)

    assert word.startswith(found[:2]) or word[:2] == f"{found[0]}y"


def test_a_stop_word_is_one_by_its_stem_too() -> None:
    assert {"does", "doe", "the", "was"} <= STOP_WORDS


def test_many_threads_find_the_same_stems() -> None:
    words = [
        f"{start}{end}"
        for start in ("decid", "migrat", "relat", "nation")
        for end in ("ing", "ions", "ality")
    ]
    words = [f"{letter}{word}" for letter in "abcdefghijklmnopqrstuvwxyz" for word in words]
    alone = [stem(word) for word in words]
    stem.cache_clear()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            found = list(
                threads.map(lambda n: [stem.__wrapped__(word) for word in words[n:] + words[:n]], range(8))
            )
    finally:
        sys.setswitchinterval(interval)

    assert all(stems == alone[n:] + alone[:n] for n, stems in enumerate(found))


def test_acronyms_in_the_plural_are_found_by_one_of_them() -> None:
    assert analyse("JWTs and VMs") == ["jwt", "and", "vm"]
    assert analyse("Os") == ["os"]
