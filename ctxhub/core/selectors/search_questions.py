"""What a search is for: the question read, and the filters as words of the index."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict, Unpack

from ctxhub.core import nouns, sql
from ctxhub.core.errors import NotFound, shown
from ctxhub.core.inputs import clean_moment, clean_name, clean_one_of, clean_query, clean_words
from ctxhub.core.search.corrections import Corrected, correct, widen
from ctxhub.core.search.documents import kind_word, tag_word
from ctxhub.core.search.engines import Narrowing, Scope, frequencies
from ctxhub.core.search.queries import MAX_TERMS, Query, Term, parse, parse_likeness
from ctxhub.core.search.ranking import worth
from ctxhub.core.selectors.events import moment_of
from ctxhub.core.selectors.words import find_words
from ctxhub.core.tool_names import operation

MATCHES = ("auto", "any", "all", "fuzzy", "similar")


class SearchFilters(TypedDict, total=False):
    """What narrows a search, as a caller says it.

    `within` is a noun's own: words of the scope, of each inner sequence one must be there.
    """

    kinds: Sequence[str] | None
    tags: Sequence[str] | None
    layer: str | None
    context: str | None
    by: str | None
    since: str | None
    within: Scope


@dataclass(frozen=True, slots=True)
class Search:
    """A search made ready: where it looks, for what, and what each term is worth.

    `counts`: in how many passages of the project each term is.
    """

    narrowing: Narrowing
    query: Query
    weights: Mapping[Term, float]
    method: str
    did_you_mean: str | None = None
    counts: Mapping[Term, int] = field(default_factory=dict)


def prepare(
    project_id: int, query: str, *, match: str = "auto", **filters: Unpack[SearchFilters]
) -> Search | None:
    """Read what is asked; None where a filter names what does not exist, so that nothing can be found."""
    match = clean_one_of({"and": "all", "or": "any"}.get(match.strip().lower(), match), MATCHES, "match")
    text = clean_query(query, "query")
    narrowing = narrow(project_id, filters)
    if narrowing is None:
        return None
    everywhere = [[f"P{project_id}"]]
    if match == "similar":
        return _likeness(project_id, narrowing, parse_likeness(text))
    asked = parse(text, needs_all=match == "all")
    asked = asked.with_wanted(asked.wanted[:MAX_TERMS])
    counts = dict(zip(asked.wanted, frequencies(everywhere, asked.wanted), strict=True))
    read = widen(project_id, asked, counts) if match == "fuzzy" else correct(project_id, text, asked, counts)
    if match in ("any", "all"):
        read = Corrected(asked, counts, read.did_you_mean)
    total = count_things(project_id)
    weights = {term: term.weight * worth(total, read.counts[term]) for term in read.query.wanted}
    method = match if match != "auto" else "corrected" if read.did_you_mean else "any"
    return Search(narrowing, read.query, weights, method, read.did_you_mean, read.counts)


def narrow(project_id: int, filters: SearchFilters) -> Narrowing | None:
    """The filters as words of the index; None where they name what does not exist."""
    kinds = [_kind(kind) for kind in clean_words(filters.get("kinds"), "kinds")]
    tags = clean_words(filters.get("tags"), "tags")
    by = clean_name(said, "by") if (said := filters.get("by")) else ""
    layer, context = filters.get("layer"), filters.get("context")
    words = find_words(project_id, agent=by, layers=bool(layer))
    scope = [[f"P{project_id}"], *filters.get("within", ())]
    if kinds:
        scope.append([kind_word(kind) for kind in kinds])
    if tags:
        scope.append([tag_word(tag) for tag in tags])
    if layer:
        scope.append([f"L{words.layer(clean_name(layer, 'layer'))[0]}"])
    if by:
        scope.append([f"A{words.agent_id}"])
    if context:
        scope.append([f"C{_context_id(project_id, context)}"])
    since = moment_of(project_id, clean_moment(filters.get("since"), "since"))
    return None if by and words.agent_id is None else Narrowing(scope, since)


def count_things(project_id: int) -> int:
    """About how many things can be found, from the figures that are kept."""
    kinds = [noun.kind for noun in nouns.searched_nouns()]
    among, values = sql.among("noun", kinds)
    [(count,)] = sql.rows(
        f"SELECT coalesce(sum(count), 0) FROM core_tally WHERE project_id = %s AND {among}",  # noqa: S608
        [project_id, *values],
    )
    return int(count)


# -- Pieces ----------------------------------------------------------------------------------------


def _likeness(project_id: int, narrowing: Narrowing, query: Query) -> Search:
    """Of a text's words the rarest and most frequent say best what it is about."""
    counts = dict(zip(query.wanted, frequencies([[f"P{project_id}"]], query.wanted), strict=True))
    total = count_things(project_id)
    weights = {term: term.weight * worth(total, count) for term, count in counts.items() if count}
    telling = sorted(weights, key=lambda term: weights[term], reverse=True)[:MAX_TERMS]
    best = {term: weights[term] for term in telling}
    return Search(narrowing, Query(tuple(telling)), best, "similar", counts=counts)


def _kind(said: str) -> str:
    """A kind, also as its plural is said."""
    known = {name: noun.kind for noun in nouns.searched_nouns() for name in (noun.kind, noun.plural)}
    word = said.strip().lower()
    return known[word] if word in known else clean_one_of(said, list(dict.fromkeys(known.values())), "kinds")


def _context_id(project_id: int, said: str) -> int:
    name = clean_name(nouns.name_of_ref(said, "context"), "context")
    noun = nouns.find_noun("context")
    found = noun.ids_of(project_id, [name]) if noun and noun.ids_of else {}
    if name not in found:
        raise NotFound(
            f"There is no context {shown(name)}.",
            hint=f"{operation('memory contexts')} lists those there are.",
        )
    return found[name]
