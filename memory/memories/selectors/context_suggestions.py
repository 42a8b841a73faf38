"""Suggests the context that a text belongs to."""

from collections.abc import Mapping, Sequence, Set
from typing import Annotated, NotRequired

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_query
from ctxhub.core.search.analyser import analyse
from ctxhub.core.search.similarity import Vector, count_words
from ctxhub.core.toolbox.argument_types import About
from memory.memories.rows.contexts import CONTEXTS, ContextRow, ids_of_names
from memory.memories.search.context_names import find_name
from memory.memories.search.keywords import Keyword, find_keywords
from memory.memories.selectors.memories import Score
from memory.memories.selectors.similar import Likely, find_ids, find_likely
from memory.memories.sql.texts import MemoryText

MOST_CONTEXTS = 20
# Memories of a context that count for its score: those that match best.
BEST_MEMORIES = 3
MENTIONED, FITTING = 0.2, 0.5
OTHERS = 3
TAGS = 5


class FoundContext(TypedDict):
    context: str
    score: Score


class NewContext(TypedDict):
    name: str
    description: str
    tags: list[str]


class ContextSuggestion(TypedDict):
    existing: NotRequired[Annotated[FoundContext, About("It covers half of the keywords, or more.")]]
    new: NotRequired[Annotated[NewContext, About("One to make, where none does.")]]
    similar: NotRequired[Annotated[list[FoundContext], About("Others that come near.")]]
    keywords: list[str]


@frozen
class Scored:
    context: ContextRow
    score: float

    @property
    def answer(self) -> FoundContext:
        return {"context": self.context.name, "score": round(self.score, 2)}


def suggest_context(project_id: int, text: str) -> ContextSuggestion:
    """The context that fits a text with a score of at least FITTING, else a new one; and similar contexts.

    A score is the share of the text's keywords that a context covers. A keyword in its name, description,
    stack or tags is covered; any other by the share of its BEST_MEMORIES that have it: by a third if one of
    three does.
    """
    text = clean_query(text, "text")
    likely = find_likely(project_id, text)
    keywords = find_keywords(text, likely.rarity)
    found = [one for one in score_contexts(project_id, keywords, likely) if one.score > MENTIONED]
    answer = ContextSuggestion(keywords=[keyword.written for keyword in keywords])
    if found and found[0].score >= FITTING:
        answer["existing"] = found.pop(0).answer
    elif keywords:
        answer["new"] = _new_context(project_id, text, keywords)
    if found:
        answer["similar"] = [one.answer for one in found[:OTHERS]]
    return answer


def find_fitting_context(project_id: int, text: str, likely: Likely) -> str | None:
    """The name of the best context with a score of at least FITTING, or None."""
    found = score_contexts(project_id, find_keywords(text, likely.rarity), likely)
    return found[0].context.name if found and found[0].score >= FITTING else None


def propose_context(project_id: int, text: str, likely: Likely) -> NewContext | None:
    """The context that `suggest_context` would make for a text; None for a text without keywords."""
    keywords = find_keywords(text, likely.rarity)
    return _new_context(project_id, text, keywords) if keywords else None


def score_contexts(project_id: int, keywords: Sequence[Keyword], likely: Likely) -> list[Scored]:
    """The contexts that cover some of the keywords, best first."""
    if not keywords:
        return []
    query = Vector({keyword.stem: keyword.weight for keyword in keywords})
    memories = _stems_by_context(likely.texts, query)
    named = find_ids(project_id, "context", query, likely.rarity, MOST_CONTEXTS)
    ids = dict.fromkeys([*memories, *named])
    scored = [
        Scored(row, _coverage(query, _own_stems(row), memories.get(row.id, ())))
        for row in CONTEXTS.read(project_id, list(ids)).values()
    ]
    return sorted(
        (one for one in scored if one.score), key=lambda one: (-round(one.score, 6), -one.context.id)
    )


# -- Pieces ----------------------------------------------------------------------------------------


def _coverage(query: Vector, own: Set[str], memories: Sequence[set[str]]) -> float:
    covered = own & query.weights.keys()
    added = sorted((len(stems - covered) for stems in memories), reverse=True)[:BEST_MEMORIES]
    return (len(covered) + sum(added) / max(len(added), 1)) / len(query.weights)


def _stems_by_context(texts: Sequence[MemoryText], query: Vector) -> Mapping[int, list[set[str]]]:
    """The keywords that each of these memories has, by context id."""
    found: dict[int, list[set[str]]] = {}
    for text in texts:
        if stems := count_words(text.full_text).keys() & query.weights.keys():
            found.setdefault(text.context_id, []).append(set(stems))
    return found


def _own_stems(row: ContextRow) -> set[str]:
    return set(analyse("\n".join((row.name, row.description, row.stack, *row.tags))))


def _new_context(project_id: int, text: str, keywords: Sequence[Keyword]) -> NewContext:
    written = [keyword.written for keyword in keywords]
    return {
        "name": _free_name(project_id, find_name(text, keywords), written),
        "description": f"About {_listed(written[:TAGS])}.",
        "tags": list(dict.fromkeys(word.casefold() for word in written[:TAGS])),
    }


def _free_name(project_id: int, name: Sequence[str], keywords: Sequence[str]) -> str:
    """The name, with as many keywords behind it as make it one that no context has yet."""
    others = [word for word in keywords if word not in name]
    names = [" ".join(map(_capitalised, [*name, *others[:n]])) for n in range(len(others) + 1)]
    taken = ids_of_names(project_id, [name.casefold() for name in names])
    return next((name for name in names if name.casefold() not in taken), f"{names[-1]} 2")


def _capitalised(word: str) -> str:
    return word[:1].upper() + word[1:]


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
