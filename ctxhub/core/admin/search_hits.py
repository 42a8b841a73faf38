"""What the search page shows of a hit: its words marked in it, and why it stands where it does."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib import admin
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from ctxhub.core import registry
from ctxhub.core.admin import refs
from ctxhub.core.models import Agent
from ctxhub.core.search.excerpts import Wanted, find_hits, merged
from ctxhub.core.search.queries import Term, parse
from ctxhub.core.search.ranking import Ranked, occurrences
from ctxhub.core.search.selectors.questions import Search
from ctxhub.core.search.selectors.search import Hit, wanted_of


@dataclass(frozen=True, slots=True)
class Part:
    """A term of the question in a hit, in hundredths of the score: what it can add, and what it `adds`.

    `times`: how often it is in the hit; `things`: in how many it is at all. `also` stands for it as well, and
    `is_put_right`: it was typed otherwise.
    """

    word: str
    also: Sequence[str]
    is_put_right: bool
    times: int
    things: int
    weight: float
    adds: float


@dataclass(frozen=True, slots=True)
class Why:
    """What adds up to the score of a hit, the most telling term first. `adds`, the sum, may exceed 100.

    `lent` is what a neighbour has added, and `prior` what both are multiplied by for the kind of the hit.
    `is_moved`: likeness of meaning, where the hub looks at it, has made another score of that.
    """

    parts: Sequence[Part]
    missing: Sequence[Part]
    adds: float
    lent: float
    prior: float
    is_moved: bool


@dataclass(frozen=True, slots=True)
class Card:
    """A hit as it is shown. `percent` is its score of a hundred."""

    ref: str
    kind: str
    icon: str
    url: str | None
    title: SafeString
    excerpt: SafeString
    mark: str
    tags: Sequence[str]
    agent: str
    at: datetime
    percent: int
    why: Why


@dataclass(frozen=True, slots=True)
class Look:
    """What the admin calls the things of a kind, and their icon in the sidebar."""

    name: str
    plural: str
    icon: str


def look_of(kind: str) -> Look:
    noun = registry.find_noun(registry.standing_kind(kind))
    if noun is None:
        return Look(kind, f"{kind}s", "")
    opts, menu = noun.model._meta, getattr(admin.site._registry.get(noun.model), "menu", None)
    return Look(str(opts.verbose_name), str(opts.verbose_name_plural), menu.icon if menu else "")


def cards(project_id: int, query: str, hits: Sequence[Hit], search: Search) -> list[Card]:
    """The hits as they are shown, in one query for all their agents."""
    wanted, typed = wanted_of(search.weights), set(parse(query).wanted)
    agents = _agents(project_id, (hit.document.agent_id for hit in hits))
    return [_card(hit, wanted, agents, _why(hit.ranked, search, typed)) for hit in hits]


def marked(text: str, wanted: Wanted) -> SafeString:
    """A text, whatever it holds, with what was looked for marked in it."""
    pieces, at = [], 0
    for start, end in merged(find_hits(text, wanted)):
        pieces.append((text[at:start], text[start:end]))
        at = end
    return format_html("{}{}", format_html_join("", "{}<mark>{}</mark>", pieces), text[at:])


def spoken(term: Term) -> str:
    """A term as a person would write it: word, "a phrase", prefix*."""
    if term.surface:
        return term.surface
    words = _joined(term.spellings[0])
    return f"{words}*" if term.prefix else f'"{words}"' if " " in words else words


# -- Pieces ----------------------------------------------------------------------------------------


def _card(hit: Hit, wanted: Wanted, agents: Mapping[int, str], why: Why) -> Card:
    document, candidate = hit.document, hit.ranked.candidate
    look = look_of(candidate.kind)
    return Card(
        ref=hit.ref,
        kind=look.name,
        icon=look.icon,
        url=refs.page_of_row(registry.standing_kind(candidate.kind), document.owner_id or document.object_id),
        title=marked(hit.title.removesuffix(f" ({document.mark})"), wanted),
        excerpt=marked(hit.excerpt, wanted),
        mark=document.mark,
        tags=document.tags,
        agent=agents.get(document.agent_id or 0, ""),
        at=candidate.updated_at,
        percent=round(100 * hit.ranked.score),
        why=why,
    )


def _why(ranked: Ranked, search: Search, typed: Container[Term]) -> Why:
    most = sum(search.weights.values()) or 1
    parts = [
        Part(
            word=spoken(term),
            also=[_joined(spelling) for spelling in term.spellings[1:]],
            is_put_right=bool(term.surface) and search.method == "corrected" and term not in typed,
            times=occurrences(ranked.candidate.words, term),
            things=search.counts[term],
            weight=100 * weight / most,
            adds=100 * ranked.parts.get(term, 0) / most,
        )
        for term, weight in search.weights.items()
    ]
    found = sorted((part for part in parts if part.times), key=lambda part: -part.adds)
    missing = [part for part in parts if not part.times]
    adds, lent = sum(part.adds for part in found), 100 * ranked.lent
    is_moved = abs((adds + lent) * ranked.prior - 100 * ranked.strength) > 0.1
    return Why(found, missing, adds, lent, ranked.prior, is_moved)


def _agents(project_id: int, ids: Iterable[int | None]) -> dict[int, str]:
    wanted = {agent_id for agent_id in ids if agent_id}
    rows = Agent.objects.in_project(project_id).filter(pk__in=wanted) if wanted else Agent.unscoped.none()
    return dict(rows.values_list("pk", "name"))


def _joined(words: Sequence[str]) -> str:
    """Words side by side; pairs of characters overlap, so each adds its last one."""
    text = words[0]
    for word in words[1:]:
        is_pair = not word.isascii() and len(word) == 2 and text[-1] == word[0]
        text += word[1:] if is_pair else f" {word}"
    return text
