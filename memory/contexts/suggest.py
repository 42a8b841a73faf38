"""Suggests the context that a text belongs to."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cache
from typing import Annotated, NotRequired

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_query
from ctxhub.core.search.analyser import analyse, fold, pieces
from ctxhub.core.search.similarity import Vector, count_words
from ctxhub.core.search.stop_words import SURFACE
from ctxhub.core.text.lazy_patterns import lazy_pattern
from ctxhub.toolbox.argument_types import About
from memory.contexts.rows import CONTEXTS, ContextRow, ids_of_names
from memory.memories.queries import Score
from memory.memories.similar import (
    FRENCH_AND_GERMAN,
    Keyword,
    Likely,
    MemoryText,
    find_ids,
    find_keywords,
    find_likely,
)

# What a later phrase, a second word, and a name written with capitals count.
LATER, SECOND, CAPITALS = -0.3, 0.5, 0.2
ALONE = -0.5
# A subject is named at the beginning of a text: characters and phrases that are read.
READ, PHRASES = 4_000, 12

_WEAK = """
absolute accept actually add affect agree aim allow already also always answer antes appear appeler apply ask
assume avoid bad become before begin better big bind blanche block break bricht bring bug buy call came
cancel cap catch cause change check choose chose clean clear close come compile complete configure confirm
consider contain convert crash create cut day decide declare delete deny depend deshalb destroy differ direkt
disable disappear discover document doit done doppelten double drop duplicate each eight empty enable end
ensure enter enthält erreur even every everybody eviter exceed except exist expect expire explain fact fail
fall fast fault faut find findet first five fix fixed flaky forget found four frozen full funktioniert garde
gehalten geleert get give go going gone good gotcha great grow handle hang happen hard hint hit hold hour
however hung hängen ignore il important include increase init inside instead issue jamais keep kill know
known lack lancer larger last late lead learn leave less lesson let listen live look lose lost lot low lower
made make many match may mean meant mend merge migrieren minute miss missing month multiple must nach ne need
never new next nie niemals nightly nine note noted nothing number off old once one only open otherwise out
outside own partner pas pass penser per pick plain plant point prefer prevent print problem probleme publish
pull push put quick quiet raise raw reach read real reason rebuild refuse reject rely remember remove rename
replace reproduce require reset resolve restart reste retry return rewrite root rotate round run rust save
say schlagt second see send serve set settle seven several shall share ship should show silent silently since
six skip slow small smaller solution solve somebody someone something sometimes sort stable stale start statt
still stop store strict strip sure swap switch take taken tell ten thing three throw time tip today too took
toujours trick tried trigger trust truth try turn turned twice two type undefined unless until untyped unused
upgrade ursache use used useful utiliser valid various venait vider vor wait want warn way week whenever
whether whole wipe without work workaround works worth write wrong year yes yesterday
"""
# They name something only beside another word.
_GENERIC = """
build cache column comment config copy count data default deploy entry environment environments error export
feature field file flag folder import install instance key leak level limit line list load lock log machine
method mode module name object option order page part path place plugin process project property query record
report request result row script seconds section service setting size split state step string system table
task test text update upload usage user value variable variables version
"""
# What only a program reads: a path, an address, an option, a call, an identifier.
_CODE = lazy_pattern(
    r"```.*?```|https?://\S+|(?<!\S)[^\s/\\_=(){}<>@$%*]*+[/\\_=(){}<>@$%*]\S*|(?<![\w-])--?[a-z][\w-]*+"
    r"|(?<![\w.])\w++(?:\.\w++)+",
    re.DOTALL,
)
# Nouns of two parts, which are also written as two words; in a name they get a hyphen.
_TWO_PARTS = lazy_pattern(
    r"\b(?:back[ -](?:off|up)|cut[ -]over|fail[ -]over|feed[ -]back|hand[ -](?:off|over)|lay[ -]out"
    r"|log[ -](?:in|out)|opt[ -](?:in|out)|plug[ -]in|pop[ -]up|push[ -]back|roll[ -](?:back|out)"
    r"|scale[ -](?:up|out)|shut[ -]down|sign[ -](?:in|out|up)|spin[ -]up|tear[ -]down|trade[ -]off"
    r"|warm[ -]up|work[ -]around)\b",
    re.IGNORECASE,
)
_LABEL = lazy_pattern(r"^\W*[^\W\d_]{2,20}(?: [^\W\d_]{2,20})?[*_]{0,2}\s?[:\uff1a]", re.MULTILINE)
_BREAK = lazy_pattern(
    r"[.,:;!?\"\u201c\u201d\u3000-\u303f\uff00-\uff0f\uff1a-\uff1f\n]+(?=\s|$|\")|\s[-\u2013\u2014]\s"
)
# Chinese, Japanese and Korean have no blanks between words.
_DENSE = lazy_pattern(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_WORD = lazy_pattern(r"[^\W_](?:[\w'\u2019#+-]*[\w#+])?")


def find_name(text: str, keywords: Sequence[Keyword]) -> list[str]:
    """The words of the name, one or two; the best keyword if no phrase has any. `keywords`: best first."""
    weights = {fold(keyword.written): keyword.weight / keywords[0].weight for keyword in keywords}
    phrases = [phrase for phrase in _phrases(text, weights) if phrase][:PHRASES]
    scored = [(_score(phrase, weights) + LATER * n, -n, phrase) for n, phrase in enumerate(phrases)]
    if scored:
        return max(scored)[2]
    latin = (
        keyword.written for keyword in keywords if keyword.written.isascii() and not _is_weak(keyword.written)
    )
    return [next(latin, keywords[0].written)]


def _phrases(text: str, weights: Mapping[str, float]) -> Iterator[list[str]]:
    """Yield the first two neighbours of each run of words that can be part of a name."""
    plain = _DENSE.sub(" . ", _LABEL.sub(" . ", _CODE.sub(" . ", text[:READ].replace("`", " "))))
    plain = _TWO_PARTS.sub(lambda noun: noun[0].replace(" ", "-"), plain)
    longest = 2 if _is_english(plain) else 1
    for sentence in _BREAK.split(plain):
        phrase: list[str] = []
        for word in [*_words(sentence), ""]:
            if word and _weight(word, weights) and not _is_weak(word):
                phrase.append(word)
            else:
                yield phrase[:longest]
                phrase = []


def _is_english(text: str) -> bool:
    """Whether two neighbours may be one name, as in English: in French and German they seldom are."""
    words = [fold(word) for word in _words(text)]
    return sum(word in SURFACE for word in words) >= sum(word in FRENCH_AND_GERMAN for word in words)


def _words(sentence: str) -> Iterable[str]:
    """The words between blanks, without a possessive."""
    return (re.sub(r"['\u2019]s?$", "", word) for word in _WORD.findall(sentence))


def _score(phrase: Sequence[str], weights: Mapping[str, float]) -> float:
    first, *second = (_weight(word, weights) for word in phrase)
    has_capitals = any(not word[1:].islower() or word[:1].isupper() for word in phrase)
    is_alone = not second and _stem(phrase[0]) in _stems(_GENERIC)
    return first + SECOND * sum(second) + CAPITALS * has_capitals + ALONE * is_alone


def _weight(word: str, weights: Mapping[str, float]) -> float:
    """The weight of a word; of a noun of two parts that of the first."""
    known = word.partition("-")[0] if _TWO_PARTS.fullmatch(word) else word
    return weights.get(fold(known), 0.0)


def _is_weak(word: str) -> bool:
    return not any(c.isupper() for c in word[1:]) and _stem(word) in _stems(_WEAK)


@cache
def _stems(words: str) -> frozenset[str]:
    return frozenset(map(_stem, words.split()))


def _stem(word: str) -> str:
    return next((stem for piece in pieces(word) for stem in piece.words), "")


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
