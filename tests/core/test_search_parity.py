"""For any query the engine finds what plain Python finds; so SQLite and PostgreSQL find the same."""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxhub.core.models import Project
from ctxhub.core.search.candidates import find_candidates
from ctxhub.core.search.documents import Document, kind_word, passages, tag_word
from ctxhub.core.search.engines import Narrowing
from ctxhub.core.search.index import index_documents
from ctxhub.core.search.matches import count_by_kind, frequencies
from ctxhub.core.search.queries import MAX_TERMS, Query, Term, parse
from tests.properties import SHARED_FIXTURES

KINDS = ("decision", "message", "change")
TAGS = ("api", "資料", "v1.2")
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
EVERYTHING = 10**6

PLAIN = (
    *("decide", "decided", "deciding", "the", "cache", "cached", "migration", "tokens", "a", "is", "not"),
    *("user", "service", "name", "get", "api", "auth", "log", "logs", "error", "x", "21", "november"),
)
CODE = (
    *(
        "getUserName",
        "user_name",
        "user-service",
        "HTTPServer2",
        "XMLHttpRequest",
        "v1.2.3",
        "src/api/auth.py",
    ),
    *(
        "c++",
        "C#",
        ".NET",
        "f#",
        "--no-verify",
        "2026-11-21",
        "a1b2",
        "isn't",
        "user's",
        "O'Neill",
        "__init__",
    ),
)
CHINESE = (
    "快取",
    "快",
    "資料庫",
    "資料",
    "重跑",
    "后",
    "决策",
    "用户服务",
    "資料庫快取的東西",
    "的",
    "取快",
    "快取快取",
)
FOREIGN = (
    *(
        "重跑gen-itgc后",
        "ＡＰＩ",
        "ｇｅｎ－ｉｔｇｃ",
        "１２３",
        "café",
        "CAFE\u0301",
        "naïve",
        "Straße",
        "ﬁle",
        "Ⅳ",
    ),
    *(
        "สวัสดีครับ",
        "สวัส",
        "한국어",
        "한국",
        "ありがとう",
        "カタカナ",
        "ｶﾀｶﾅ",
        "नमस्ते",
        "العَرَبية",
        "😀",
        "🚀",
        "👩\u200d💻",
        "é",
    ),
)
HOSTILE = (
    *("AND", "OR", "NOT", "NEAR", "NEAR(user name, 2)", "user AND", 'foo AND "bar', "(", ")", "()", "[", "]"),
    *(
        "{words} : user",
        "words:user",
        "scope : P1",
        "P1",
        "KDECISION",
        "core_searchfts",
        "*",
        "**",
        "^user",
        "+",
    ),
    *(
        "<->",
        "<2>",
        ":*",
        "user:*",
        "user:A",
        "&",
        "|",
        "!",
        "!user",
        "a & !b | (c)",
        "'",
        "''",
        '"',
        '""',
        "\\",
    ),
    *(
        "\\'",
        "\\\\",
        "%",
        "%s",
        "%%",
        "_",
        "--",
        "/* x */",
        ";",
        "'); DROP TABLE core_searchtext; --",
        "$$",
        "\x01",
    ),
    *(
        "\x1f",
        "\x7f",
        "\u200b",
        "\ufeff",
        "\u0301",
        "x" * 64,
        "x" * 65,
        "y" * 300,
        "快" * 70,
        "-",
        "- user",
        "-user",
    ),
)
POOL = (*PLAIN, *CODE, *CHINESE, *FOREIGN, *HOSTILE)


@dataclass(frozen=True)
class RefObject:
    """A document and the words of its passages."""

    kind: str
    document: Document
    texts: Sequence[str]


def make_objects() -> list[RefObject]:
    """Three hundred objects, short and long; some have several passages."""
    chance = random.Random(2026)
    return [make_object(chance, number) for number in range(300)]


def make_object(chance: random.Random, number: int) -> RefObject:
    size = 2_000 if number % 100 == 0 else chance.choice((0, 1, 3, 12, 40))
    document = Document(
        object_id=number,
        ref=f"{number}",
        title=write(chance, chance.randrange(4)),
        body=write(chance, size),
        at=NOON - timedelta(days=number),
        tags=chance.sample(TAGS, chance.randrange(3)),
    )
    return RefObject(chance.choice(KINDS), document, [f" {p.words} " for p in passages(document)])


def write(chance: random.Random, size: int) -> str:
    pools = chance.choices((PLAIN, CODE, CHINESE, FOREIGN, HOSTILE), (6, 3, 3, 2, 1), k=size)
    return "".join(
        chance.choice(pool) + chance.choice((" ", " ", ", ", ". ", "\n", "", "-")) for pool in pools
    )


OBJECTS = make_objects()


@pytest.fixture
def library(apollo: Project, hermes: Project) -> Project:
    """The objects in apollo, and copies with other ids in another project."""
    for kind in KINDS:
        documents = [ref_object.document for ref_object in OBJECTS if ref_object.kind == kind]
        index_documents(apollo.pk, kind, documents)
        index_documents(
            hermes.pk, kind, [Document(d.object_id + 5_000, "", d.title, d.body, d.at) for d in documents]
        )
    return apollo


# -- What plain Python finds -----------------------------------------------------------------------


def has(text: str, term: Term) -> bool:
    """Whether the text has the words of the term side by side."""
    end = "" if term.prefix else " "
    return any(f" {' '.join(words)}{end}" in text for words in term.spellings)


def answers(ref_object: RefObject, query: Query) -> bool:
    """The object has any (or all) of the wanted terms, in any passages, and no excluded term."""
    wanted = [any(has(text, term) for text in ref_object.texts) for term in query.wanted]
    excluded = any(has(text, term) for text in ref_object.texts for term in query.excluded)
    return (all(wanted) if query.needs_all else any(wanted)) and not excluded


@dataclass(frozen=True)
class Filters:
    """The filters of a search."""

    kinds: Sequence[str] = ()
    tag: str = ""
    days: int = 0

    def as_narrowing(self, project: Project) -> Narrowing:
        scope = [
            [f"P{project.pk}"],
            [kind_word(kind) for kind in self.kinds],
            [tag_word(self.tag)] * bool(self.tag),
        ]
        return Narrowing(
            [words for words in scope if words], NOON - timedelta(days=self.days) if self.days else None
        )

    def accepts(self, ref_object: RefObject) -> bool:
        return (
            (not self.kinds or ref_object.kind in self.kinds)
            and (not self.tag or self.tag in ref_object.document.tags)
            and (not self.days or ref_object.document.at >= NOON - timedelta(days=self.days))
        )


def found_by_engine(project: Project, query: Query, filters: Filters) -> list[int]:
    """The ids that the engine finds; its counts must agree."""
    narrowing = filters.as_narrowing(project)
    weights = dict.fromkeys(query.wanted, 1.0)
    candidates, counted = find_candidates(narrowing, query, weights, EVERYTHING, EVERYTHING)
    found = sorted({candidate.object_id for candidate in candidates})
    assert counted == len(found) == sum(count_by_kind(narrowing, query).values())
    return found


def check_engine_finds_what_python_finds(
    project: Project, text: str, *, needs_all: bool, filters: Filters = Filters()
) -> None:
    query = parse(text, needs_all=needs_all)
    query = query.with_wanted(query.wanted[:MAX_TERMS])
    if query.wanted:  # A query without wanted terms finds nothing.
        expected = [t.document.object_id for t in OBJECTS if filters.accepts(t) and answers(t, query)]
        assert found_by_engine(project, query, filters) == expected


# -- Queries ---------------------------------------------------------------------------------------

atoms = st.sampled_from(POOL) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
glue = st.sampled_from((" ", " ", " ", "", '"', ' "', '" ', " -", ' -"', "* ", "\n", "-", "/"))
query_texts = st.lists(st.tuples(atoms, glue), min_size=1, max_size=6).map(
    lambda parts: "".join(atom + joint for atom, joint in parts)
)
filter_sets = st.builds(
    Filters,
    st.lists(st.sampled_from(KINDS), max_size=2, unique=True),
    st.sampled_from(("", "", *TAGS)),
    st.sampled_from((0, 0, 100)),
)


@settings(SHARED_FIXTURES, max_examples=500, derandomize=True)
@given(text=query_texts, needs_all=st.booleans(), filters=filter_sets)
def test_the_engine_finds_what_python_finds_for_any_query(
    library: Project, text: str, needs_all: bool, filters: Filters
) -> None:
    check_engine_finds_what_python_finds(library, text, needs_all=needs_all, filters=filters)


def hostile_queries() -> Iterator[str]:
    """Queries with each piece alone, beside a word, in a phrase and excluded."""
    for atom in POOL:
        yield from (atom, f"user {atom}", f'"{atom}"', f'"user {atom}" name', f'api -{atom} -"{atom} name"')


def test_the_engine_finds_what_python_finds_for_hostile_queries(library: Project) -> None:
    for number, text in enumerate(hostile_queries()):
        check_engine_finds_what_python_finds(library, text, needs_all=number % 2 == 0)


def test_terms_are_counted_as_often_as_they_occur(library: Project) -> None:
    terms = [term for text in POOL for term in parse(text, needs_all=True).wanted]
    counted = frequencies([[f"P{library.pk}"]], terms)
    assert counted == [
        sum(has(text, term) for ref_object in OBJECTS for text in ref_object.texts) for term in terms
    ]


# -- Chinese ---------------------------------------------------------------------------------------

CHARACTERS = "快取資料庫重跑后决策用户服务的東西"


@pytest.fixture(scope="module")
def chinese_texts() -> dict[int, str]:
    """Texts of few different characters, in which the same pieces recur, with breaks between the runs."""
    chance = random.Random(7)
    breaks = (
        *("",) * 80,
        *("，", "。", " ", "\n", "API", "v2", "！", "「"),
    )
    sizes = (9_000 if number == 0 else chance.choice((5, 60)) for number in range(300))
    return {
        number: "".join(chance.choice(CHARACTERS) + chance.choice(breaks) for _ in range(size))
        for number, size in enumerate(sizes)
    }


def test_a_chinese_query_finds_exactly_the_texts_that_contain_it(
    apollo: Project, chinese_texts: dict[int, str]
) -> None:
    index_documents(
        apollo.pk, "message", [Document(n, f"{n}", "", text, NOON) for n, text in chinese_texts.items()]
    )
    chance, lengths = random.Random(8), Counter[int]()
    for number in range(400):
        piece = random_piece(chance, (1, 2, 3, 12)[number % 4], chinese_texts)
        query = parse(piece if len(piece) <= 3 else f'"{piece}"')
        expected = [n for n, text in chinese_texts.items() if piece in text]
        assert found_by_engine(apollo, query, Filters()) == expected, piece
        lengths[min(len(piece), 4)] += bool(expected)
    assert min(lengths[length] for length in (1, 2, 3, 4)) > 50


def random_piece(chance: random.Random, at_most: int, chinese_texts: dict[int, str]) -> str:
    """A piece of a run; now and then reversed, so that it occurs only by chance."""
    run = chance.choice(re.findall(f"[{CHARACTERS}]+", chance.choice(list(chinese_texts.values()))))
    start = chance.randrange(max(1, len(run) - at_most + 1))
    piece: str = run[start : start + at_most]
    return piece if chance.random() < 0.8 else piece[::-1]
