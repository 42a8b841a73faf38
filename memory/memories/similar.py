"""Finds the memories that are similar to a text."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.events.counters import Stats
from ctxhub.core.kit import sql
from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_limit, clean_query
from ctxhub.core.kit.listing import Listing
from ctxhub.core.search.abbreviations import written_forms
from ctxhub.core.search.analyser import Piece, fold, pieces, runs
from ctxhub.core.search.documents import kind_word
from ctxhub.core.search.engines import Narrowing, Scope
from ctxhub.core.search.matches import found_object_ids
from ctxhub.core.search.queries import DENSE_WORD, Query, Term
from ctxhub.core.search.similarity import (
    COMPARED_CHARACTERS,
    Rarity,
    Vector,
    count_words,
    read_spread,
    vector,
)
from ctxhub.core.search.stop_words import STOP_WORDS, SURFACE
from memory.memories.queries import get_memory

KEYWORDS = 10
# A longer run of letters is an id or a hash, not a word.
LONGEST, SHORTEST = 40, 3

_FRENCH = """
afin ainsi alors apres aucun aussi autre autres aux avant avec avoir bien car cela celle celui ces cet cette
ceux chaque chez comme dans depuis des deux dire doit donc dont elle elles encore entre est etait etant ete
etre eux faire fait faut ici ils les leur leurs lors mais meme memes mes mieux moins mon nos notre nous ont ou
par parce pas pendant peu peut plus plusieurs pour pourquoi quand que quel quelle quelles quels qui quoi sans
selon ses son sont sous sur tous tout toute toutes tres trop une vers voici voila vos votre vous
"""
_GERMAN = """
aber alle allem allen aller alles als also andere anderen auch auf aus bei beim bin bis bist das dass dein dem
den denn der des dich die dies diese diesem diesen dieser dieses dir doch dort durch ein eine einem einen
einer eines einige euch euer fur gegen gibt hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen
ihr ihre ihrem ihren ihrer immer ins ist jede jedem jeden jeder jedes jene kann kein keine keinem keinen
keiner konnen konnte machen mal man manche mehr mein meine mich mir mit muss mussen nach nicht nichts noch nun
nur oder ohne schon sehr sein seine seinem seinen seiner seit sich sie sind soll sollen sonst uber und uns
unser unsere unter viel vom von vor war waren warum was weil welche welcher wenn wer werden wie wieder will
wir wird wirst wollen wurde wurden zum zur zwar zwischen
"""
FRENCH_AND_GERMAN = frozenset((_FRENCH + _GERMAN).split())
_STOP_WORDS = SURFACE | FRENCH_AND_GERMAN


@frozen
class Keyword:
    """`written`: its first spelling in the text; `stem`: the analyser's word; `weight`: its TF-IDF."""

    written: str
    stem: str
    weight: float


def find_keywords(text: str, rarity: Rarity, at_most: int = KEYWORDS) -> list[Keyword]:
    """The words of the highest TF-IDF, best first: (0.5 + 0.5 * f / max f) times the rarity of the word."""
    counts: dict[str, int] = {}
    written: dict[str, str] = {}
    for run in runs(text[:COMPARED_CHARACTERS]):
        for piece in pieces(run.group()):
            for stem, word in _words(run.group(), piece):
                counts[stem] = counts.get(stem, 0) + 1
                written.setdefault(stem, word)
    most = max(counts.values(), default=1)
    found = [
        Keyword(written[stem], stem, (0.5 + 0.5 * count / most) * rarity.of(stem))
        for stem, count in counts.items()
    ]
    # The sort is stable: words of equal weight keep the order of the text.
    return sorted(found, key=lambda one: -one.weight)[:at_most]


def _words(run: str, piece: Piece) -> Sequence[tuple[str, str]]:
    """Stem and spelling of each word. In scripts without spaces: a short run, else each pair."""
    if piece.is_dense:
        pairs = piece.words[:-1]
        if 1 < len(piece.words) <= DENSE_WORD:
            return [(pairs[0], piece.surface)]
        return [(pair, pair) for pair in pairs]
    is_word = SHORTEST <= len(piece.surface) <= LONGEST and not piece.surface.isdigit()
    if not is_word or not piece.words or piece.words[0] in STOP_WORDS or piece.surface in _STOP_WORDS:
        return []
    return [(piece.words[0], _without_s(run, piece))]


def _without_s(run: str, piece: Piece) -> str:
    """The spelling in the text without a possessive: `Redis's` gives Redis."""
    written = run[: len(piece.surface)]
    return written if fold(written) == piece.surface else piece.surface


def read_best_ids(scope: Scope, weights: Mapping[str, float], at_most: int) -> list[int]:
    """Ids of objects of one kind, best first, newest first among equals. Abbreviations of a word match, too.

    Sums one index query for each word: FTS5's bm25 reads the whole project to compute the rarity of the
    project's term, which took ten times as long.
    """
    if not weights:
        return []
    branches: list[str] = []
    values: list[Any] = []
    for word, weight in weights.items():
        found, arguments = found_object_ids(Narrowing(scope), Query((Term(written_forms(word)),)))
        # A word may occur in several passages of an object.
        branches.append(f"SELECT DISTINCT f.id, CAST(%s AS float) AS worth FROM ({found}) f")
        values += [weight, *arguments]
    rows = sql.rows(
        f"SELECT id FROM ({' UNION ALL '.join(branches)}) a"
        " GROUP BY id ORDER BY sum(worth) DESC, id DESC LIMIT %s",
        [*values, at_most],
    )
    return [row_id for (row_id,) in rows]


KIND = "memory"


@frozen
class MemoryText:
    """Title, beginning of the content, and context of a memory."""

    id: int
    title: str
    content: str
    context_id: int

    @property
    def full_text(self) -> str:
        return f"{self.title}\n{self.content}"


def read_texts(project_id: int, ids: Sequence[int], characters: int) -> list[MemoryText]:
    """The memories of these ids, with at most `characters` of their contents."""
    if not ids:
        return []
    return _texts(*sql.by_ids("d", project_id, ids), characters)


def read_texts_since(project_id: int, since: datetime, at_most: int, characters: int) -> list[MemoryText]:
    """The memories updated since `since`, the newest first."""
    return _texts(
        "d.project_id = %s AND d.updated_at >= %s ORDER BY d.updated_at DESC, d.id DESC LIMIT %s",
        [project_id, sql.stored_time(since), at_most],
        characters,
    )


def _texts(which: str, values: Sequence[Any], characters: int) -> list[MemoryText]:
    rows = sql.rows(
        f"SELECT d.id, d.title, substr(d.content, 1, %s), d.context_id FROM memory_memory d WHERE {which}",
        [characters, *values],
    )
    return [MemoryText(*row) for row in rows]


COLUMNS = ("id", "title", "score")
# Candidates that are compared; for a longer list twice its length.
CANDIDATES = 24
# Sample of memories that the rarity of words is computed from: all, if there are no more.
SPREAD = 200
# Candidates are looked up by LEAST_WORDS to MAX_WORDS words, expected in about LOOKED_THROUGH memories.
MAX_WORDS = 12
LEAST_WORDS = 3
LOOKED_THROUGH = 2_000


@frozen
class Similar:
    """A memory that is similar to a text; `score` 0..1."""

    id: int
    title: str
    score: float


@frozen
class Likely:
    """Candidates for a text: memories that have the words of its highest TF-IDF weights."""

    rarity: Rarity
    query: Vector
    texts: Sequence[MemoryText]


def find_similar(
    project_id: int, text: str, *, threshold: float = 0.3, limit: int = 10, except_id: int | None = None
) -> list[Similar]:
    """The memories most similar to a text, best first: the cosine of the TF-IDF of title and content.

    1.0: the same words with the same frequencies; memories without a significant word in common are left out.
    Never scans the table: the index gives candidates by the words of the highest weight.
    """
    likely = find_likely(project_id, text, max(CANDIDATES, 2 * limit) + 1)
    found = [one for one in compare(likely) if one.id != except_id and one.score >= threshold]
    return found[:limit]


def find_likely(project_id: int, text: str, at_most: int = CANDIDATES + 1) -> Likely:
    """At most `at_most` candidates; one of them may be the text itself."""
    rarity = Rarity.of_texts(read_spread(project_id, KIND, SPREAD))
    query = vector(count_words(text), rarity)
    ids = find_ids(project_id, KIND, query, rarity, at_most) if rarity.total else []
    return Likely(rarity, query, read_texts(project_id, ids, COMPARED_CHARACTERS))


def compare(likely: Likely) -> list[Similar]:
    """The candidates that have words in common with the text, best first."""
    found = [
        Similar(text.id, text.title, score)
        for text in likely.texts
        if (score := likely.query.cosine(vector(count_words(text.full_text), likely.rarity)))
    ]
    return sorted(found, key=lambda one: (-round(one.score, 6), -one.id))


def list_similar(
    project_id: int,
    *,
    memory_id: int | None = None,
    text: str | None = None,
    threshold: float = 0.3,
    limit: int = 10,
) -> Listing:
    """Rows id, title and score of the memories similar to a memory or a text, best first.

    Raises InvalidInput unless exactly one of the two is given, NotFound for an unknown memory.
    """
    threshold, limit = clean_threshold(threshold), clean_limit(limit)
    if (memory_id is None) == (text is None):
        raise InvalidInput("similar needs id or text, and not both.", missing=["id", "text"])
    if memory_id is not None:
        row = get_memory(project_id, memory_id)
        given = f"{row.title}\n{row.content}"
    else:
        given = clean_query(text or "", "text")
    found = find_similar(project_id, given, threshold=threshold, limit=limit, except_id=memory_id)
    return Listing(COLUMNS, [[one.id, one.title, round(one.score, 2)] for one in found])


def clean_threshold(value: float) -> float:
    if not 0 <= value <= 1:
        raise InvalidInput(f"threshold is {shown(value)}; it must be between 0 and 1.")
    return value


def find_ids(project_id: int, kind: str, query: Vector, rarity: Rarity, at_most: int) -> list[int]:
    """The ids of the objects of a kind with the highest total weight of the text's words.

    Frequent words are left out once the words before them are expected in LOOKED_THROUGH objects.
    """
    total = Stats(project_id).of(kind) if rarity.total >= SPREAD else rarity.total
    weights: dict[str, float] = {}
    expected = 0.0
    for word in sorted(query.weights, key=lambda word: (-query.weights[word], word))[:MAX_WORDS]:
        expected += total * rarity.counts.get(word, 0) / max(rarity.total, 1)
        if len(weights) >= LEAST_WORDS and expected > LOOKED_THROUGH:
            break
        weights[word] = query.weights[word] * rarity.of(word)
    return read_best_ids([[f"P{project_id}"], [kind_word(kind)]], weights, at_most)
