"""Finds the name that a new context for a text may have: what the text is about, in one or two words.

A name is made of neighbours in the text ("search index"), not of its best keywords, which may be far apart.
What is done, how and how often (`_WEAK`) ends a phrase; a word such as "mode" says little by itself.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from ctxhub.core.search.analyser import fold, pieces
from ctxhub.core.search.stop_words import SURFACE
from ctxhub.core.text.lazy_patterns import lazy_pattern
from memory.memories.search.keywords import FRENCH_AND_GERMAN, Keyword

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
