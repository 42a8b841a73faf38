"""Finds memories by words that may be misspelled, by edit distance."""

from collections.abc import Iterator, Mapping, Sequence

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_from_to, clean_limit, clean_query
from ctxhub.core.kit.listing import Listing
from ctxhub.core.search.analyser import Piece, pieces, runs
from ctxhub.core.search.candidates import Candidate, find_candidates
from ctxhub.core.search.documents import PASSAGE_CHARACTERS, kind_word
from ctxhub.core.search.engines import Narrowing, Scope
from ctxhub.core.search.excerpts import Wanted, excerpt
from ctxhub.core.search.matches import frequencies
from ctxhub.core.search.queries import MAX_TERMS, Query, Term
from ctxhub.core.search.questions import count_entries
from ctxhub.core.search.ranking import worth
from ctxhub.core.search.search import CANDIDATES, DETAILS
from ctxhub.core.search.spelling import find_words_within
from ctxhub.core.search.stems import stem
from ctxhub.core.search.stop_words import SURFACE
from memory.memories.history import memory_document
from memory.memories.rows import MEMORIES, MemoryRow
from memory.memories.search import scope_of


def asked_words(text: str, tolerance: int) -> dict[str, int]:
    """The distinct words of a query, each with the most edits that are allowed.

    At least one letter must match; character pairs of scripts without spaces allow no edits. Stop words are
    dropped unless there are no others.
    """
    found = {word: edits for piece in _pieces(text) for word, edits in _asked(piece, tolerance)}
    content_words = {word: edits for word, edits in found.items() if word not in SURFACE} or found
    return dict(list(content_words.items())[:MAX_TERMS])


def own_words(text: str) -> list[str]:
    """The distinct words of a text, sorted."""
    return sorted({word for piece in _pieces(text) for word in _own(piece)})


def nearest(wanted: Mapping[str, int], own: Sequence[str]) -> dict[str, tuple[str, int]]:
    """For each query word within its allowed edits: the nearest word of the text, and the distance."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    found = {}
    for word, max_edits in wanted.items():
        if best := process.extractOne(word, own, scorer=OSA.distance, score_cutoff=max_edits):
            found[word] = best[0], int(best[1])
    return found


def _asked(piece: Piece, tolerance: int) -> Iterator[tuple[str, int]]:
    if piece.is_dense:
        yield from ((pair, 0) for pair in piece.words[:-1] or piece.words)
    elif piece.surface:
        yield piece.surface, min(tolerance, len(piece.surface) - 1)


def _own(piece: Piece) -> Iterator[str]:
    if piece.is_dense:
        yield from piece.words
        yield from (pair[0] for pair in piece.words)
    elif piece.surface:
        yield piece.surface


def _pieces(text: str) -> Iterator[Piece]:
    return (piece for run in runs(text) for piece in pieces(run.group()))


COLUMNS = ("id", "title", "excerpt", "distance", "score")
MOST_TOLERANCE = 10
# Most words of the project that are looked up for each word of the query.
NEAR_WORDS = 40


@frozen
class Near:
    """A memory with its distance from the query. `words`: its words that matched.

    `start`: the offset of the first of its passages that were compared.
    """

    row: MemoryRow
    start: int
    distance: int
    score: float
    words: Sequence[str]


def find_fuzzy(
    project_id: int,
    query: str,
    *,
    context: str | int | None = None,
    type: str | int | None = None,
    limit: int = 20,
    tolerance: int = 2,
) -> Listing:
    """Memories that have at least half of the words, each within `tolerance` edits; the nearest first.

    An edit inserts, deletes or replaces a letter, or swaps two neighbours (OSA); 0 matches exact words only.
    `distance` sums the edits of the words found. Score: the share of the query's letters that need no edit,
    times the share of its words that are found.
    """
    tolerance = clean_from_to(tolerance, "tolerance", 0, MOST_TOLERANCE)
    words = asked_words(clean_query(query, "query"), tolerance)
    limit = clean_limit(limit)
    scope = [[f"P{project_id}"], [kind_word("memory")], *scope_of(project_id, context=context, type=type)]
    candidates = _candidates(project_id, words, scope, max(CANDIDATES, 2 * limit)) if words else []
    best = sorted(_measured(project_id, words, candidates), key=_order)[:limit]
    return Listing(COLUMNS, [[one.row.id, *_shown(one), one.distance, round(one.score, 2)] for one in best])


def _candidates(project_id: int, words: Mapping[str, int], scope: Scope, limit: int) -> list[Candidate]:
    """The passages that the index finds for the words and for similar words of the project."""
    editable = {word: edits for word, edits in words.items() if edits}
    similar = find_words_within(project_id, editable, NEAR_WORDS) if editable else {}
    terms = [_term(word, similar.get(word, ())) for word in words]
    counts = dict(zip(terms, frequencies([[f"P{project_id}"]], terms), strict=True))
    total = sum(count_entries(project_id).values())
    weights = {term: worth(total, count) for term, count in counts.items() if count}
    if not weights:
        return []
    found, _ = find_candidates(Narrowing(scope), Query(tuple(weights)), weights, limit, 1)
    return found


def _term(word: str, similar: Sequence[str]) -> Term:
    stems = dict.fromkeys((stem(spelling),) for spelling in (word, *similar))
    return Term(tuple(stems), word, prefix=len(word) == 1 and not similar)


def _measured(project_id: int, words: Mapping[str, int], candidates: Sequence[Candidate]) -> list[Near]:
    starts: dict[int, list[int]] = {}
    for candidate in candidates:
        starts.setdefault(candidate.object_id, []).append(candidate.start)
    rows = MEMORIES.read(project_id, list(starts))
    near = (_near(words, row, sorted(starts[row.id])) for row in rows.values())
    return [one for one in near if one]


def _near(words: Mapping[str, int], row: MemoryRow, starts: Sequence[int]) -> Near | None:
    """The distance from title, tags and the passages found; None if fewer than half of the words match."""
    passages = [row.content[start : start + PASSAGE_CHARACTERS] for start in starts]
    found = nearest(words, own_words("\n".join([row.title, *row.tags, *passages])))
    if 2 * len(found) < len(words):
        return None
    distance = sum(edits for _, edits in found.values())
    score = (1 - distance / sum(map(len, words))) * len(found) / len(words)
    return Near(row, starts[0], distance, score, [word for word, _ in found.values()])


def _shown(one: Near) -> tuple[str, str]:
    wanted = Wanted({stem(word): 1.0 for word in one.words})
    budget = DETAILS["compact"]
    passage = memory_document(one.row).body[one.start : one.start + PASSAGE_CHARACTERS]
    return excerpt(one.row.title, wanted, budget // 2), excerpt(passage, wanted, budget)


def _order(one: Near) -> tuple[float, float, int]:
    return -one.score, -one.row.updated_at.timestamp(), -one.row.id
