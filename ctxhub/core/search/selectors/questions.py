"""What a search is for: the question read, and the filters as words of the index."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypedDict, Unpack

from ctxhub.core import registry
from ctxhub.core.events.selectors.events import moment_of
from ctxhub.core.kit import sql
from ctxhub.core.kit.errors import NotFound, shown
from ctxhub.core.kit.inputs import clean_moment, clean_name, clean_one_of, clean_query, clean_words
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.search.alternatives import with_beginnings, with_meanings
from ctxhub.core.search.corrections import Corrected, correct, widen
from ctxhub.core.search.counts import Counts
from ctxhub.core.search.documents import kind_word, layer_word, tag_word
from ctxhub.core.search.engines import Narrowing, Scope
from ctxhub.core.search.queries import MAX_TERMS, Query, Term, parse, parse_similarity
from ctxhub.core.search.ranking import worth
from ctxhub.core.vocabulary.selectors.names import find_vocabulary

MATCHES = ("auto", "any", "all", "fuzzy", "similar")


class SearchFilters(TypedDict, total=False):
    """What narrows a search, as a caller says it.

    `within` is a noun's own: words of the scope, of each inner sequence one must be there.
    `earlier`: whether kinds take in what their things were; unless said, they do.
    """

    kinds: Sequence[str] | None
    tags: Sequence[str] | None
    layer: str | None
    context: str | None
    by: str | None
    since: str | None
    within: Scope
    earlier: bool


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
    if match == "similar":
        return _similarity(project_id, narrowing, parse_similarity(text))
    asked = parse(text, needs_all=match == "all")
    asked = asked.with_wanted(map(with_meanings, asked.wanted[:MAX_TERMS]))
    asked = widen(project_id, asked) if match == "fuzzy" else asked
    counts = Counts(project_id)
    asked = asked.with_wanted(_known_better(project_id, asked.wanted, counts))
    lost = frozenset(term for term in asked.wanted if not counts.found(term))
    read = Corrected(asked)
    if lost and match != "fuzzy":
        read = correct(project_id, text, asked, lost)
        counts.look_up(read.query.wanted)
    if match in ("any", "all"):
        read = Corrected(asked, read.did_you_mean)
    total = count_entries(project_id)
    weighed = dict(_weighed(term, counts, total) for term in read.query.wanted)
    method = match if match != "auto" else "corrected" if read.did_you_mean else "any"
    looked_up = read.query.with_wanted(weighed)
    return Search(narrowing, looked_up, weighed, method, read.did_you_mean, counts.of_all(weighed))


def narrow(project_id: int, filters: SearchFilters) -> Narrowing | None:
    """The filters as words of the index; None where they name what does not exist."""
    kinds = [_kind(kind) for kind in clean_words(filters.get("kinds"), "kinds")]
    if filters.get("earlier", True):
        kinds += [noun.kind for noun in map(registry.earlier_states, kinds) if noun]
    tags = clean_words(filters.get("tags"), "tags")
    by = clean_name(said, "by") if (said := filters.get("by")) else ""
    layer, context = filters.get("layer"), filters.get("context")
    words = find_vocabulary(project_id, agent=by, layers=bool(layer))
    scope = [[f"P{project_id}"], *filters.get("within", ())]
    if kinds:
        scope.append([kind_word(kind) for kind in kinds])
    if tags:
        scope.append([tag_word(tag) for tag in tags])
    if layer:
        layer_id, name = words.layer(clean_name(layer, "layer"))
        scope.append([f"L{layer_id}", layer_word(name)])
    if by:
        scope.append([f"A{words.agent_id}"])
    if context:
        scope.append([f"C{_context_id(project_id, context)}"])
    since = moment_of(project_id, clean_moment(filters.get("since"), "since"))
    return None if by and words.agent_id is None else Narrowing(scope, since)


def count_entries(project_id: int) -> int:
    """About how many things can be found, from the figures that are kept."""
    kinds = [noun.kind for noun in registry.searched_nouns()]
    among, values = sql.among("noun", kinds)
    [(count,)] = sql.rows(
        f"SELECT coalesce(sum(count), 0) FROM core_tally WHERE project_id = %s AND {among}",  # noqa: S608
        [project_id, *values],
    )
    return int(count)


# -- Pieces ----------------------------------------------------------------------------------------


def _known_better(project_id: int, wanted: Sequence[Term], counts: Counts) -> list[Term]:
    """The terms; those that are nowhere with the words that they begin, and that begin them."""
    counts.look_up(wanted)
    lost = [term for term in wanted if not counts.found(term)]
    better = dict(zip(lost, with_beginnings(project_id, lost), strict=True)) if lost else {}
    counts.look_up(better.values())
    return [better.get(term, term) for term in wanted]


def _weighed(term: Term, counts: Counts, total: int) -> tuple[Term, float]:
    """The term with those that stand for it and are there, and what it is worth.

    A term that is nowhere itself is worth as much as the rarest of those.
    """
    also = [(other, worth(total, counts.of(other))) for other in term.also if counts.of(other)]
    own = worth(total, counts.of(term)) if counts.of(term) or not also else max(worth for _, worth in also)
    there = (replace(other, weight=other.weight * min(each / own, 1.0)) for other, each in also)
    return replace(term, also=tuple(there)), term.weight * own


def _similarity(project_id: int, narrowing: Narrowing, query: Query) -> Search:
    """Of a text's words the rarest and most frequent say best what it is about."""
    counts, total = Counts(project_id), count_entries(project_id)
    asked = [with_meanings(term) for term in query.wanted]
    counts.look_up(asked)
    weights = dict(_weighed(term, counts, total) for term in asked if counts.found(term))
    telling = sorted(weights, key=lambda term: weights[term], reverse=True)[:MAX_TERMS]
    best = {term: weights[term] for term in telling}
    return Search(narrowing, Query(tuple(telling)), best, "similar", counts=counts.of_all(best))


def _kind(said: str) -> str:
    """A kind, also as its plural is said."""
    known = {name: noun.kind for noun in registry.searched_nouns() for name in (noun.kind, noun.plural)}
    word = said.strip().lower()
    return known[word] if word in known else clean_one_of(said, list(dict.fromkeys(known.values())), "kinds")


def _context_id(project_id: int, said: str) -> int:
    name = clean_name(registry.name_of_ref(said, "context"), "context")
    noun = registry.find_noun("context")
    found = noun.ids_of(project_id, [name]) if noun and noun.ids_of else {}
    if name not in found:
        raise NotFound(
            f"There is no context {shown(name)}.",
            hint=f"{operation('memory contexts')} lists those there are.",
        )
    return found[name]
