"""Mistyped words put right, from the words this project knows, and from no other's."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ctxhub.core.search.engines import frequencies
from ctxhub.core.search.queries import Query, Term, single_words
from ctxhub.core.search.spelling import find_near_words
from ctxhub.core.search.stems import stem

# What a near word counts beside one that is there as it was typed.
NEAR = 0.8


@dataclass(frozen=True, slots=True)
class Corrected:
    """The query as it is looked up, how frequent its terms are, and the question as it may be meant."""

    query: Query
    counts: Mapping[Term, int]
    did_you_mean: str | None = None


def correct(project_id: int, text: str, query: Query, counts: Mapping[Term, int]) -> Corrected:
    """Words that are nowhere become the nearest that are; a run of characters becomes its pairs."""
    lost = {term.surface for term in single_words(query) if not counts[term]}
    near = find_near_words(project_id, lost) if lost else {}
    instead = {term: _instead(term, near) for term in query.wanted if not counts[term]}
    wanted = [new for term in query.wanted for new in instead.get(term) or [term]]
    if wanted == list(query.wanted):
        return Corrected(query, counts)
    read = _counted(project_id, query.with_wanted(dict.fromkeys(wanted)), counts)
    meant = {word: words[0] for word, words in near.items() if words}
    return replace(read, did_you_mean=_said_again(text, meant) if meant else None)


def widen(project_id: int, query: Query, counts: Mapping[Term, int]) -> Corrected:
    """Every word stands for those near it, too."""
    near = find_near_words(project_id, {term.surface for term in single_words(query)})
    wanted = [
        replace(term, spellings=(*term.spellings, *_spellings(near.get(term.surface, ()), term)))
        for term in query.wanted
    ]
    return _counted(project_id, query.with_wanted(dict.fromkeys(wanted)), counts)


def _instead(term: Term, near: Mapping[str, list[str]]) -> list[Term]:
    if words := near.get(term.surface):
        return [Term(_spellings(words, term), words[0], weight=term.weight * NEAR)]
    [*spellings] = term.spellings
    if (
        len(spellings) == 1
        and not term.surface
        and not term.prefix
        and all(len(w) == 2 for w in spellings[0])
    ):
        return [replace(term, spellings=((pair,),)) for pair in spellings[0]]
    return []


def _spellings(words: list[str] | tuple[str, ...], term: Term) -> tuple[tuple[str, ...], ...]:
    stems = dict.fromkeys((stem(word),) for word in words)
    return tuple(spelling for spelling in stems if spelling not in term.spellings)


def _counted(project_id: int, query: Query, counts: Mapping[Term, int]) -> Corrected:
    new = [term for term in query.wanted if term not in counts]
    known = {**counts, **dict(zip(new, frequencies([[f"P{project_id}"]], new), strict=True))}
    return Corrected(query, known)


def _said_again(text: str, meant: Mapping[str, str]) -> str:
    """The question with the right words in it."""

    def right(match: re.Match[str]) -> str:
        return meant.get(match.group().casefold(), match.group())

    return re.sub(r"[^\W_]+", right, text)
