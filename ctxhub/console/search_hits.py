"""Prepares search hits for the search page: highlights the matches and explains the score."""

from collections.abc import Callable, Container, Mapping, Sequence
from datetime import datetime

from django.contrib import admin
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from ctxhub.console import refs
from ctxhub.core import registry
from ctxhub.core.accounts.agents import agent_names
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.search.documents import Document
from ctxhub.core.search.excerpts import Wanted, find_hits, merged
from ctxhub.core.search.queries import Term, parse
from ctxhub.core.search.questions import Search
from ctxhub.core.search.ranking import Ranked, occurrences
from ctxhub.core.search.search import Hit, wanted_of

# From which percentage on a hit is called so.
MATCHES = ((75, "strong match"), (50, "good match"), (25, "fair match"), (0, "weak match"))


@frozen
class TermScore:
    """What a term of the query adds to the score of a hit, in percent of the best score: at most `weight`.

    `times`: occurrences in the hit. `passages`: passages of the project that have the term. `alternatives`:
    other words and spellings that count as the term. `is_corrected`: the person typed it differently.
    """

    word: str
    alternatives: Sequence[str]
    is_corrected: bool
    times: int
    passages: int
    weight: float
    adds: float


@frozen
class Explanation:
    """The terms that make up the score of a hit, highest first. `adds`, their sum, may exceed 100.

    `lent`: what a neighbouring passage adds. `prior`: the factor for the kind of the hit, applied to the sum
    of both. `is_reranked`: semantic similarity, if the hub uses it, has changed the score.
    """

    terms: Sequence[TermScore]
    missing: Sequence[TermScore]
    adds: float
    lent: float
    prior: float
    is_reranked: bool


# Of kinds whose documents have a title that does not tell one from another. Each app adds its own.
own_titles: dict[str, Callable[[Document], str]] = {}


@frozen
class Card:
    """A hit as the page shows it. `percent` is its score from 0 to 100; `about`: a title in place of which
    `title` stands, for what it says besides.
    """

    ref: str
    kind: str
    icon: str
    url: str | None
    title: SafeString
    about: SafeString | str
    excerpt: SafeString
    mark: str
    tags: Sequence[str]
    agent_id: int | None
    agent: str
    at: datetime
    percent: int
    explanation: Explanation

    @property
    def match(self) -> str:
        """The score in words."""
        return next(word for least, word in MATCHES if self.percent >= least)


@frozen
class KindDisplay:
    """The admin's names for a kind and its icon in the sidebar."""

    name: str
    plural: str
    icon: str


def display_of(kind: str) -> KindDisplay:
    noun = registry.find_noun(registry.standing_kind(kind))
    if noun is None:
        return KindDisplay(kind, f"{kind}s", "")
    opts, menu = noun.model._meta, getattr(admin.site._registry.get(noun.model), "menu", None)
    return KindDisplay(str(opts.verbose_name), str(opts.verbose_name_plural), menu.icon if menu else "")


def cards(project_id: int, query: str, hits: Sequence[Hit], search: Search) -> list[Card]:
    """A card for each hit, with one query for the names of all agents."""
    wanted, typed = wanted_of(search.weights), set(parse(query).wanted)
    agents = agent_names(project_id, (hit.document.agent_id for hit in hits))
    return [_card(hit, wanted, agents, _explain(hit.ranked, search, typed)) for hit in hits]


def highlight(text: str, wanted: Wanted) -> SafeString:
    """The text, escaped, with the matches in <mark>."""
    pieces, last_end = [], 0
    for start, end in merged(find_hits(text, wanted)):
        pieces.append((text[last_end:start], text[start:end]))
        last_end = end
    return format_html("{}{}", format_html_join("", "{}<mark>{}</mark>", pieces), text[last_end:])


def term_label(term: Term) -> str:
    """The term in query syntax: word, "a phrase", prefix*."""
    if term.surface:
        return term.surface
    words = _joined(term.spellings[0])
    return f"{words}*" if term.prefix else f'"{words}"' if " " in words else words


def _card(hit: Hit, wanted: Wanted, agents: Mapping[int, str], explanation: Explanation) -> Card:
    document, candidate = hit.document, hit.ranked.candidate
    display = display_of(candidate.kind)
    title = highlight(hit.title.removesuffix(f" ({document.shown_mark})"), wanted)
    own = own_titles.get(candidate.kind)
    return Card(
        ref=hit.ref,
        kind=display.name,
        icon=display.icon,
        url=refs.page_of_row(registry.standing_kind(candidate.kind), document.owner_id or document.object_id),
        title=highlight(own(document), wanted) if own else title,
        about=title if own else "",
        excerpt=highlight(hit.excerpt, wanted),
        mark=document.shown_mark,
        tags=document.tags,
        agent_id=document.agent_id,
        agent=agents.get(document.agent_id or 0, ""),
        at=candidate.updated_at,
        percent=round(100 * hit.ranked.score),
        explanation=explanation,
    )


def _explain(ranked: Ranked, search: Search, typed: Container[Term]) -> Explanation:
    best_score = sum(search.weights.values()) or 1
    terms = [
        TermScore(
            word=term_label(term),
            alternatives=[_joined(spelling) for spelling in term.spellings[1:]],
            is_corrected=bool(term.surface) and search.method == "corrected" and term not in typed,
            times=occurrences(ranked.candidate.words, term),
            passages=search.counts[term],
            weight=100 * weight / best_score,
            adds=100 * ranked.parts.get(term, 0) / best_score,
        )
        for term, weight in search.weights.items()
    ]
    found = sorted((term for term in terms if term.times), key=lambda term: -term.adds)
    missing = [term for term in terms if not term.times]
    adds, lent = sum(term.adds for term in found), 100 * ranked.lent
    is_reranked = abs((adds + lent) * ranked.prior - 100 * ranked.strength) > 0.1
    return Explanation(found, missing, adds, lent, ranked.prior, is_reranked)


def _joined(words: Sequence[str]) -> str:
    """Join index words to a text. Pairs of CJK characters overlap, so each adds only its last character."""
    text = words[0]
    for word in words[1:]:
        is_pair = not word.isascii() and len(word) == 2 and text[-1] == word[0]
        text += word[1:] if is_pair else f" {word}"
    return text
