"""Hits of wanted words in a text, and the excerpts that an answer shows."""

import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxhub.core.search import ordinary_words
from ctxhub.core.search.analyser import analyse
from ctxhub.core.search.excerpts import Wanted, counted_excerpt, excerpt, find_hits, merged
from ctxhub.core.text import token_count
from ctxhub.core.text.graphemes import breaks, is_tail, sentences
from ctxhub.core.text.token_count import count_tokens, use_exact_counts
from tests.core.test_search_analyser import combining_texts, texts

CORPUS = {
    path.stem: path.read_text("utf-8") for path in (Path(__file__).parent.parent / "corpus").glob("*.txt")
}
LEFT_OUT = "…"
FAMILY, FLAG, THUMB = "👨‍👩‍👧", "🇩🇪", "👍🏽"
# Graphemes that must not be cut, and what may stand between them.
unbreakable_parts = st.lists(
    st.sampled_from(
        [FAMILY, FLAG, THUMB, "e\u0301", "ที่", "か\u3099", "快", "取", "lease", " ", "。", "\n", ", "]
    ),
    min_size=20,
    max_size=80,
)

every_kind = pytest.mark.parametrize("kind", sorted(CORPUS))


def wanted(*words: str, **prefixes: float) -> Wanted:
    return Wanted(dict.fromkeys(words, 1.0), prefixes)


def found_hits(text: str, wanted_words: Wanted) -> list[tuple[str, str]]:
    return [(text[hit.start : hit.end], hit.word) for hit in find_hits(text, wanted_words)]


def collapse_blanks(text: str) -> str:
    return " ".join(text.split())


def without_paragraphs(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if line.strip())


def hit_words(text: str, wanted_words: Wanted) -> set[str]:
    return {hit.word for hit in find_hits(text, wanted_words)}


def some_words(text: str, count: int) -> Wanted:
    """Words from all parts of a text, the rarest first."""
    words = analyse(text)
    rarest = sorted(dict.fromkeys(words), key=lambda word: (words.count(word), word))
    return Wanted(dict.fromkeys(rarest[:: len(rarest) // count][:count], 1.0))


# -- Hits ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted_words", "places"),
    [
        ("We decided; deciding is DECISION.", wanted("decid"), [("decided", "decid"), ("deciding", "decid")]),
        ("Dying dies, lying lies.", wanted("die"), [("Dying", "die"), ("dies", "die")]),
        (
            "call getUserName()",
            wanted("name", "getusernam"),
            [("getUserName", "getusernam"), ("getUserName", "name")],
        ),
        ("user_name", wanted("name"), [("name", "name")]),
        ("ＣＡＦÉ cafe\u0301", wanted("cafe"), [("ＣＡＦÉ", "cafe"), ("cafe\u0301", "cafe")]),
        ("a user’s C++", wanted("user", "cplusplus"), [("user’s", "user"), ("C++", "cplusplus")]),
        ("全文快取層", wanted("快取", "取層"), [("快取", "快取"), ("取層", "取層")]),
        ("全文快取", wanted(快=1.0), [("快取", "快")]),
        ("快取", wanted(取=1.0), [("取", "取")]),
        (
            "migrations migrate a migrant",
            wanted(migrat=1.0),
            [("migrations", "migrat"), ("migrate", "migrat")],
        ),
        ("parseUser x", wanted(use=1.0, u=1.0), [("parseUser", "use"), ("parseUser", "u")]),
        ("go 🚀!", wanted("u1f680"), [("🚀", "u1f680")]),
        ("nothing here", wanted("cach"), []),
        ("", wanted("cach"), []),
    ],
)
def test_hits_are_spans_of_the_text_as_written(
    text: str, wanted_words: Wanted, places: list[tuple[str, str]]
) -> None:
    assert found_hits(text, wanted_words) == places


@pytest.mark.parametrize("ending", ["", "s", "y", "ies", "ing", "ying", "ation", "bility", "iveness", "ally"])
def test_a_word_is_found_by_its_stem_in_every_form(ending: str) -> None:
    """The search for hits skips words that begin differently from the wanted ones."""
    words = Path(ordinary_words.__file__).with_suffix(".txt").read_text("utf-8").split()
    plain = [word for word in words[::20] if word.isalpha() and len(word) > 1]
    forms = {f"{word[:-1] if ending else word}{ending}" for word in plain} | {"dying", "ugly", "skies"}

    assert {form for form in forms if not found_hits(form, wanted(*analyse(form)))} == set()


def test_a_hit_has_the_weight_of_its_word() -> None:
    hits = find_hits("cache lease releases", Wanted({"cach": 2.5, "leas": 0.5}, {"rele": 0.25}))

    assert [hit.worth for hit in hits] == [2.5, 0.5, 0.25]


@given(texts)
def test_every_word_of_a_text_is_hit_in_order(text: str) -> None:
    words = analyse(text)
    hits = find_hits(text, wanted(*words))

    assert {hit.word for hit in hits} == set(words)
    assert [hit.start for hit in hits] == sorted(hit.start for hit in hits)
    assert all(hit.word in analyse(text[hit.start : hit.end]) for hit in hits)


@given(texts)
def test_every_prefix_of_a_word_is_hit(text: str) -> None:
    beginnings = {word[:2] for word in analyse(text)}

    assert hit_words(text, Wanted({}, dict.fromkeys(beginnings, 1.0))) == beginnings


def test_hits_that_overlap_or_touch_are_merged() -> None:
    text = "全文快取層gen, cache the cache"

    spans = merged(find_hits(text, wanted("快取", "取層", "gen", "cach")))

    assert [text[start:end] for start, end in spans] == ["快取層gen", "cache", "cache"]


# -- Excerpts --------------------------------------------------------------------------------------


def test_a_text_that_fits_is_shown_whole_in_one_line() -> None:
    assert excerpt("  One\n\ttwo\u3000three. ", wanted("two"), 20) == "One two three."


def test_paragraphs_are_separated() -> None:
    text = "Sessions for a day\n \nnot tokens.\n\n\nThe end\n\n"

    assert excerpt(text, wanted("token"), 20) == "Sessions for a day · not tokens. The end"


def test_a_text_without_hits_is_shown_from_its_beginning() -> None:
    shown = excerpt("The first. " + "And so on and on. " * 50, wanted("cach"), 20)

    assert shown.startswith("The first. And so on")
    assert shown.endswith(" …")


def test_the_sentence_with_a_wanted_word_is_shown() -> None:
    text = "Nothing to see. " * 30 + "The lease ends after an hour. " + "Nothing more. " * 30

    shown = excerpt(text, wanted("leas"), 30)

    assert "The lease ends after an hour." in shown
    assert shown.startswith("… ")
    assert shown.endswith(" …")


def test_passages_are_in_the_order_of_the_text_with_ellipses_between() -> None:
    filler = "Nothing to see at all. " * 20
    text = f"Leases are short. {filler}Caches are cold. {filler}Queues are long."

    assert excerpt(text, wanted("queue", "leas", "cach"), 20) == (
        "Leases are short. … Caches are cold. … Queues are long."
    )


def test_different_words_are_shown_before_repeated_ones() -> None:
    filler = "Nothing to see at all. " * 20
    text = f"A lease is a lease. {filler}The cache is cold. {filler}A cache and a queue."

    shown = excerpt(text, wanted("queue", "leas", "cach"), 15)

    assert shown == "A lease is a lease. … A cache and a queue."


def test_the_word_of_higher_weight_is_shown() -> None:
    filler = "Nothing to see at all. " * 20
    text = f"The cache is cold. {filler}The queue is long. {filler}"

    assert excerpt(text, Wanted({"cach": 0.5, "queue": 3.0}), 8) == "… The queue is long. …"
    assert excerpt(text, Wanted({"cach": 3.0, "queue": 0.5}), 8) == "The cache is cold. …"


def test_versions_and_file_names_end_no_sentence() -> None:
    text = "See v1.2.3 of app.py! Then go."

    assert [text[start:end] for start, end in sentences(text)] == ["See v1.2.3 of app.py!", " Then go."]


@given(texts)
def test_sentences_join_to_the_text(text: str) -> None:
    assert "".join(text[start:end] for start, end in sentences(text)) == text


def test_chinese_sentences_end_without_blanks() -> None:
    text = "「快取失效了！」他說。為什麼？沒有人知道；真的。"

    assert [text[start:end] for start, end in sentences(text)] == [
        "「快取失效了！」", "他說。", "為什麼？", "沒有人知道；", "真的。",
    ]  # fmt: skip


def test_a_too_long_sentence_is_cut_at_words_around_the_hit() -> None:
    words = [f"word{'abcdefghij'[n % 10]}" for n in range(400)]
    words[200] = "lease"

    shown = excerpt(" ".join(words), wanted("leas"), 30).split()

    assert shown[0] == shown[-1] == LEFT_OUT
    assert set(shown[1:-1]) <= set(words)
    assert 5 < shown.index("lease") < len(shown) - 5


def test_a_script_without_blanks_is_cut_between_characters() -> None:
    text = "甲乙丙丁戊己庚辛" * 100 + "快取" + "甲乙丙丁戊己庚辛" * 100

    shown = excerpt(text, wanted("快取"), 40)

    assert "快取" in shown
    assert shown.strip(" …") in text
    assert count_tokens(shown) >= 30


def test_korean_is_cut_at_blanks() -> None:
    words = ["검색", "기능을", "오늘", "개선했습니다"] * 60
    words[120] = "임대"

    shown = excerpt(" ".join(words), wanted("임대"), 40).split()

    assert "임대" in shown
    assert set(shown) <= {*words, LEFT_OUT}


def test_a_too_long_word_is_truncated() -> None:
    key = "ab12" * 400

    assert excerpt(f"see {key}", wanted(key[:64]), 20).startswith("… ab12ab12")
    assert excerpt(key, wanted("cach"), 20).startswith("ab12ab12")


def test_a_path_is_cut_at_its_separators() -> None:
    path = "/".join(["alpha", "beta", "gamma", "delta"] * 40 + ["lease"] + ["alpha", "beta", "gamma"] * 40)

    shown = excerpt(path, wanted("leas"), 40)

    assert set(shown.strip("… /").split("/")) <= {"alpha", "beta", "gamma", "delta", "lease"}
    assert "lease" in shown


@every_kind
@pytest.mark.parametrize(("max_tokens", "words"), [(30, 1), (70, 2), (150, 3)])
def test_an_excerpt_shows_wanted_words_and_uses_its_budget(kind: str, max_tokens: int, words: int) -> None:
    wanted_words = some_words(CORPUS[kind], 6)

    shown = excerpt(CORPUS[kind], wanted_words, max_tokens)

    assert 0.75 * max_tokens <= count_tokens(shown) <= max_tokens
    # A few words of rare letters cost as much as a sentence.
    assert len(hit_words(shown, wanted_words)) >= (words if kind != "rare_letters" else 1)


@every_kind
@pytest.mark.parametrize("budget", [1, 5, 20, 60, 250])
def test_the_tokens_of_an_excerpt_are_those_of_its_text(kind: str, budget: int) -> None:
    text, tokens = counted_excerpt(CORPUS[kind], some_words(CORPUS[kind], 5), budget)
    assert tokens == count_tokens(text)


@pytest.mark.parametrize(
    "parts",
    [
        ["One.", " Two"],
        ['He said "no!"', " Then (yes.)", " he left"],
        ["Wait...", " what?!", " Yes"],
        ["v1.2.3 is x.)y\n", "so"],
        ["First\n", "second.", "\n", "Third"],
        ["一。」", "二！？", "三！」」", "四"],
        ["Mixed.。", "!。", "end"],
    ],
    ids=" ".join,
)
def test_a_sentence_ends_behind_its_signs(parts: Sequence[str]) -> None:
    text = "".join(parts)
    assert [text[start:end] for start, end in sentences(text)] == parts


@every_kind
def test_an_excerpt_consists_of_parts_of_the_text(kind: str) -> None:
    text = without_paragraphs(CORPUS[kind].replace(LEFT_OUT, ""))
    whole = collapse_blanks(text)

    at = 0
    for span in filter(None, map(str.strip, excerpt(text, some_words(text, 6), 100).split(LEFT_OUT))):
        at = whole.index(span, at) + len(span)


@given(texts, st.integers(0, 80), st.integers(1, 4))
@example("👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧", 8, 4)
def test_an_excerpt_is_within_its_budget(text: str, max_tokens: int, step: int) -> None:
    wanted_words = wanted(*analyse(text)[::step])

    assert count_tokens(excerpt(text * 5, wanted_words, max_tokens)) <= max_tokens


@given(texts, st.integers(0, 80))
def test_a_text_is_shown_whole_if_it_fits(text: str, max_tokens: int) -> None:
    text = without_paragraphs(text)

    is_whole = excerpt(text, wanted(*analyse(text)), max_tokens) == collapse_blanks(text)

    assert is_whole == (count_tokens(collapse_blanks(text)) <= max_tokens)


@pytest.mark.parametrize("kind", ["english_notes", "chinese_simplified", "python_code", "emoji"])
def test_an_excerpt_is_within_its_budget_when_counted_exactly(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_count, "_count", token_count._count)
    use_exact_counts()

    for max_tokens in (10, 40, 200):
        assert count_tokens(excerpt(CORPUS[kind], some_words(CORPUS[kind], 6), max_tokens)) <= max_tokens


@given(unbreakable_parts, st.integers(20, 60))
def test_no_grapheme_is_cut_in_an_excerpt(parts: Sequence[str], max_tokens: int) -> None:
    text = "".join(parts) * 4

    shown = excerpt(text, wanted("u1f467", "u1f1ea", "快取", "leas", "่"), max_tokens)

    assert all(is_uncut(span) for span in shown.split(LEFT_OUT))


def is_uncut(span: str) -> bool:
    """Whether the span neither begins nor ends within a grapheme."""
    span = span.strip()
    rest = span
    for whole in (FAMILY, FLAG, THUMB):
        rest = rest.replace(whole, "")
    is_begun = bool(span) and unicodedata.category(span[0])[0] == "M"
    return not is_begun and not set(rest) & set(FAMILY + FLAG + THUMB)


@given(combining_texts)
def test_a_text_is_never_cut_before_a_combining_mark(text: str) -> None:
    assert not [at for at in breaks(text, 0, len(text)) if unicodedata.category(text[at])[0] == "M"]


@pytest.mark.parametrize(
    "text", ["e\u0301", THUMB, "👨‍👩", FLAG, "☎\ufe0f", "ที", "ทำ", "\u1112\u1161", "か\u3099", "\ud83d\ude00"]
)
def test_no_grapheme_is_cut(text: str) -> None:
    assert is_tail(f"a{text}", 2)


def test_two_flags_are_two_characters() -> None:
    assert [at for at in range(1, 6) if is_tail(FLAG * 3, at)] == [1, 3, 5]


def test_an_excerpt_of_thousands_of_hits_counts_few_tokens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted: list[int] = []
    text = "A lease of line\n" * 4_000

    def count(piece: str) -> int:
        counted.append(len(piece))
        return len(piece) // 4

    monkeypatch.setattr(token_count, "_count", count)

    excerpt(text, wanted("leas", "line"), 60)

    assert sum(counted) < 2 * len(text)


@pytest.mark.parametrize(
    ("text", "word", "shown"),
    [
        (f"Our {FAMILY} plan", "👩", FAMILY),
        (f"Our {FAMILY} plan", "👨", FAMILY),
        (f"a{FLAG}b", "🇪", FLAG),
        (f"Good {THUMB}!", "👍", THUMB),
        ("I ❤\ufe0f it", "❤", "❤\ufe0f"),
        ("Press 1\ufe0f\u20e3 now", "1", "1\ufe0f\u20e3"),
    ],
)
def test_a_hit_splits_no_grapheme(text: str, word: str, shown: str) -> None:
    spans = merged(find_hits(text, wanted(*analyse(word))))
    assert [text[start:end] for start, end in spans] == [shown]


@given(unbreakable_parts)
def test_no_hit_begins_or_ends_within_a_grapheme(parts: list[str]) -> None:
    text = "".join(parts)
    for hit in find_hits(text, wanted(*analyse("👩👍🇩快取e lease か"))):
        assert not is_tail(text, hit.start)
        assert not is_tail(text, hit.end)
