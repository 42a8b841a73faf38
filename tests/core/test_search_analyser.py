"""The analyser: the words that a text is found by, and their spans in the text."""

import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.core.search.analyser import WORD_CHARACTERS, analyse, fold, pieces, runs, surface_words
from ctxhub.core.search.stems import stem
from ctxhub.core.search.stop_words import STOP_WORDS, SURFACE

anything = st.text(st.characters(codec=None, categories=None), max_size=60)
# Combining marks, joined emoji, scripts without blanks, letters that fold to several.
combining_texts = st.text(
    st.sampled_from(
        "aB z12_-.'’+#é\u0301\u0308ßİıſﬁ快取、ガｶﾞか\u3099ไทยที่ำ한글\u1112\u1161\u11ab"
        "\u0627\u064e\u200d👍🏽🇩🇪٣３½²Ⅷ㎏ﷺ\x00\ud800\nΩЙǅK"
    ),
    max_size=30,
)
texts = anything | combining_texts

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


def words_with_spans(text: str) -> Iterator[tuple[str, str]]:
    """Each word with the text of its span."""
    for run in runs(text):
        for piece in pieces(run.group()):
            for word, (start, end) in zip(piece.words, piece.spans, strict=True):
                yield word, text[run.start() + start : run.start() + end]


@pytest.mark.parametrize(("text", "words"), FOUND)
def test_analyse_gives_the_words_of_a_text(text: str, words: str) -> None:
    assert analyse(text) == words.split()


def test_a_long_word_is_cut() -> None:
    assert analyse("1" * 100) == ["1" * WORD_CHARACTERS]


@given(texts)
def test_a_word_contains_no_query_syntax(text: str) -> None:
    for word in analyse(text):
        assert 0 < len(word) <= WORD_CHARACTERS
        assert not re.search(r"[A-Z\s]", word)
        assert all(char.isalnum() for char in word if char.isascii())


@given(texts)
def test_the_span_of_a_word_gives_the_word(text: str) -> None:
    assert [(word, span) for word, span in words_with_spans(text) if word not in analyse(span)] == []


@given(texts, texts)
def test_words_do_not_depend_on_the_text_around_them(first: str, second: str) -> None:
    def words(text: str) -> list[str]:
        return [word for word, _ in words_with_spans(text)]

    assert words(f"{first} {second}") == words(first) + words(second)


def test_spans_refer_to_the_text_as_written() -> None:
    text = "Ｕｓｅｒ's 快取層 e\u0301t\u0301é-ok"

    assert list(words_with_spans(text)) == [
        ("user", "Ｕｓｅｒ's"), ("快取", "快取"), ("取層", "取層"), ("層", "層"),
        ("ete", "e\u0301t\u0301é"), ("ok", "ok"),
    ]  # fmt: skip


def test_a_word_spans_its_whole_run_when_folding_moves_characters() -> None:
    assert list(words_with_spans("é快取ﬁ".replace("é", "e\u0301"))) == [
        (word, "e\u0301快取ﬁ") for word in ("e", "快取", "取", "fi")
    ]


@pytest.mark.parametrize("text", ["快取層失效と", "ガイドライン", "한국어 검색", "東京タワー"])
def test_words_of_two_characters_are_folded(text: str) -> None:
    assert all(fold(word) == word for word in analyse(text))


def test_surface_words_are_as_written_and_of_letters_only() -> None:
    text = "Deciding users' naïve Straße getUserName sha256 the 快取層失效 миграция " + "x" * 31

    assert surface_words(text) == {"deciding", "users", "naive", "strasse", "getusername", "миграция"}


@given(st.text("abdeginsty", min_size=2, max_size=12))
def test_a_stem_begins_like_its_word(word: str) -> None:
    """Excerpts skip words that begin differently from the wanted ones."""
    stemmed = stem(word)

    assert word.startswith(stemmed[:2]) or word[:2] == f"{stemmed[0]}y"


def test_stems_of_stop_words_are_stop_words() -> None:
    assert {stem(word) for word in SURFACE} | {"does", "doe", "the", "was"} <= STOP_WORDS


def test_many_threads_find_the_same_stems() -> None:
    words = [
        f"{start}{end}"
        for start in ("decid", "migrat", "relat", "nation")
        for end in ("ing", "ions", "ality")
    ]
    words = [f"{letter}{word}" for letter in "abcdefghijklmnopqrstuvwxyz" for word in words]
    alone = [stem(word) for word in words]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda n: [stem(word) for word in words[n:] + words[:n]], range(8)))
    finally:
        sys.setswitchinterval(interval)

    assert all(stems == alone[n:] + alone[:n] for n, stems in enumerate(found))


def test_plural_acronyms_are_stemmed_to_the_singular() -> None:
    assert analyse("JWTs and VMs") == ["jwt", "and", "vm"]
    assert analyse("Os") == ["os"]
