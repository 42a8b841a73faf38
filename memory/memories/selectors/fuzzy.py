"""Memories whose words are near those asked for, letter by letter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ctxhub.core.kit.inputs import clean_from_to, clean_limit, clean_query
from ctxhub.core.kit.listing import Listing
from ctxhub.core.search.documents import PASSAGE_CHARACTERS, kind_word
from ctxhub.core.search.engines import Candidate, Narrowing, Scope, find_candidates, frequencies
from ctxhub.core.search.excerpts import Wanted, excerpt
from ctxhub.core.search.queries import Query, Term
from ctxhub.core.search.ranking import worth
from ctxhub.core.search.selectors.questions import count_entries
from ctxhub.core.search.selectors.search import CANDIDATES, DETAILS
from ctxhub.core.search.spelling import find_words_within
from ctxhub.core.search.stems import stem
from memory.memories.rows.memories import MEMORIES, MemoryRow
from memory.memories.search.fuzzy import asked_words, nearest, own_words
from memory.memories.search.memories import memory_document
from memory.memories.selectors.search import scope_of

COLUMNS = ("id", "title", "excerpt", "distance", "score")
MOST_TOLERANCE = 10
# So many of the project's words are looked up for each that is asked for.
NEAR_WORDS = 40


@dataclass(frozen=True, slots=True)
class Near:
    """A memory by how far the words asked for are from its own. `words`: those of its own that are meant.

    `start`: where the first of its passages begins that were looked at.
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
    """Memories that hold at least half of the words, each up to `tolerance` edits away; the nearest first.

    An edit is a letter more, less or other, or two that changed places; 0 asks for the words as they are.
    `distance` sums the edits of the words that are there. Score: of all letters asked for the share that
    needs no edit, times the share of the words that are there.
    """
    tolerance = clean_from_to(tolerance, "tolerance", 0, MOST_TOLERANCE)
    asked = asked_words(clean_query(query, "query"), tolerance)
    limit = clean_limit(limit)
    scope = [[f"P{project_id}"], [kind_word("memory")], *scope_of(project_id, context=context, type=type)]
    candidates = _candidates(project_id, asked, scope, max(CANDIDATES, 2 * limit)) if asked else []
    best = sorted(_measured(project_id, asked, candidates), key=_order)[:limit]
    return Listing(COLUMNS, [[one.row.id, *_shown(one), one.distance, round(one.score, 2)] for one in best])


def _candidates(project_id: int, asked: Mapping[str, int], scope: Scope, limit: int) -> list[Candidate]:
    """What the index finds for the words, and for those of the project that are near them."""
    movable = {word: reach for word, reach in asked.items() if reach}
    near = find_words_within(project_id, movable, NEAR_WORDS) if movable else {}
    terms = [_term(word, near.get(word, ())) for word in asked]
    counts = dict(zip(terms, frequencies([[f"P{project_id}"]], terms), strict=True))
    total = count_entries(project_id)
    weights = {term: worth(total, count) for term, count in counts.items() if count}
    if not weights:
        return []
    found, _ = find_candidates(Narrowing(scope), Query(tuple(weights)), weights, limit, 1)
    return found


def _term(word: str, near: Sequence[str]) -> Term:
    stems = dict.fromkeys((stem(spelling),) for spelling in (word, *near))
    return Term(tuple(stems), word, prefix=len(word) == 1 and not near)


def _measured(project_id: int, asked: Mapping[str, int], candidates: Sequence[Candidate]) -> list[Near]:
    starts: dict[int, list[int]] = {}
    for candidate in candidates:
        starts.setdefault(candidate.object_id, []).append(candidate.start)
    rows = MEMORIES.read(project_id, list(starts))
    near = (_near(asked, row, sorted(starts[row.id])) for row in rows.values())
    return [one for one in near if one]


def _near(asked: Mapping[str, int], row: MemoryRow, starts: Sequence[int]) -> Near | None:
    """How far the words are from title, tags and the passages that were found; None: too few are there."""
    passages = [row.content[start : start + PASSAGE_CHARACTERS] for start in starts]
    found = nearest(asked, own_words("\n".join([row.title, *row.tags, *passages])))
    if 2 * len(found) < len(asked):
        return None
    distance = sum(away for _, away in found.values())
    score = (1 - distance / sum(map(len, asked))) * len(found) / len(asked)
    return Near(row, starts[0], distance, score, [word for word, _ in found.values()])


def _shown(one: Near) -> tuple[str, str]:
    wanted = Wanted({stem(word): 1.0 for word in one.words})
    budget = DETAILS["compact"]
    passage = memory_document(one.row).body[one.start : one.start + PASSAGE_CHARACTERS]
    return excerpt(one.row.title, wanted, budget // 2), excerpt(passage, wanted, budget)


def _order(one: Near) -> tuple[float, float, int]:
    return -one.score, -one.row.updated_at.timestamp(), -one.row.id
