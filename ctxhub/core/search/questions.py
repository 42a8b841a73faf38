"""Prepares a search: parses and corrects the query, weighs its terms, and resolves the filters."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Unpack

from typing_extensions import TypedDict

from ctxhub.core import registry
from ctxhub.core.events.log import moment_of
from ctxhub.core.kit import sql
from ctxhub.core.kit.errors import NotFound, shown
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_moment, clean_name, clean_one_of, clean_query, clean_words
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.search.alternatives import all_with_meanings, with_beginnings, with_meanings
from ctxhub.core.search.corrections import Corrected, correct, widen
from ctxhub.core.search.counts import Counts, look_up_first, sizes_of
from ctxhub.core.search.documents import kind_word, layer_word, tag_word
from ctxhub.core.search.engines import Narrowing, Scope
from ctxhub.core.search.queries import MAX_TERMS, Query, Term, parse, parse_similarity
from ctxhub.core.search.ranking import worth
from ctxhub.core.vocabulary.names import find_vocabulary
from ctxhub.core.vocabulary.tag_filters import read_tag_filters

MATCHES = ("auto", "any", "all", "fuzzy", "similar")


class SearchFilters(TypedDict, total=False):
    """The filters of a search, as callers pass them.

    `within`: a noun's own filter of scope words; one of each inner sequence must match.
    `earlier`: whether kinds include earlier states of their objects; the default is True.
    """

    kinds: Sequence[str] | None
    tags: Sequence[str] | None
    layer: str | None
    context: str | None
    by: str | None
    since: str | None
    within: Scope
    earlier: bool


@frozen
class Search:
    """A prepared search: the resolved filters, the query, and the weight of each term.

    `counts`: how many passages of the project have each term; `entries`: how many objects of each kind are
    searchable; `by_row`: as `holds_most` says.
    """

    narrowing: Narrowing
    query: Query
    weights: Mapping[Term, float]
    method: str
    did_you_mean: str | None = None
    counts: Mapping[Term, int] = field(default_factory=dict)
    entries: Mapping[str, int] = field(default_factory=dict)
    by_row: bool = False


def prepare(
    project_id: int,
    query: str,
    *,
    match: str = "auto",
    keeps_names: bool = False,
    **filters: Unpack[SearchFilters],
) -> Search | None:
    """Prepare a search; None if a filter names something that does not exist, so nothing can match.

    `keeps_names`: the query is a text that may name what the project has not, and no name is put right.
    """
    match = clean_one_of({"and": "all", "or": "any"}.get(match.strip().lower(), match), MATCHES, "match")
    text = clean_query(query, "query")
    narrowing = narrow(project_id, filters)
    if narrowing is None:
        return None
    if match == "similar":
        return _similarity(project_id, narrowing, parse_similarity(text))
    parsed = parse(text, needs_all=match == "all")
    parsed = parsed.with_wanted(all_with_meanings(parsed.wanted[:MAX_TERMS]))
    parsed = widen(project_id, parsed) if match == "fuzzy" else parsed
    entries, counts = look_up_first(project_id, parsed.wanted)
    total = sum(entries.values())
    typed = {*parsed.wanted}
    parsed = parsed.with_wanted(_with_prefixes_for_lost(project_id, parsed.wanted, counts))
    lost = frozenset(term for term in parsed.wanted if not counts.found(term))
    faint = frozenset(parsed.wanted) - typed - lost
    corrected = Corrected(parsed)
    if (lost or faint) and match != "fuzzy":
        corrected = correct(project_id, text, parsed, lost, faint, keeps_names=keeps_names)
        counts.look_up(corrected.query.wanted)
        replacements = [term for term in corrected.query.wanted if term not in parsed.wanted]
        if not any(map(counts.found, replacements)):
            corrected = Corrected(parsed)
    if match in ("any", "all"):
        corrected = Corrected(parsed, corrected.did_you_mean)
    weights = dict(_weighed(term, counts, total) for term in corrected.query.wanted)
    method = match if match != "auto" else "corrected" if corrected.did_you_mean else "any"
    looked_up = corrected.query.with_wanted(weights)
    known = counts.of_all(weights)
    return Search(
        narrowing, looked_up, weights, method, corrected.did_you_mean, known, entries, counts.by_row
    )


def narrow(project_id: int, filters: SearchFilters) -> Narrowing | None:
    """Resolve the filters into scope words; None if one names something that does not exist."""
    kinds = [_kind(kind) for kind in clean_words(filters.get("kinds"), "kinds")]
    if filters.get("earlier", True):
        kinds += [noun.kind for noun in map(registry.earlier_states, kinds) if noun]
    tags = read_tag_filters(filters.get("tags"), "tags")
    by = clean_name(agent, "by") if (agent := filters.get("by")) else ""
    layer, context = filters.get("layer"), filters.get("context")
    vocabulary = find_vocabulary(project_id, agent=by, tag_filters=tags, layers=bool(layer))
    scope = [[f"P{project_id}"], *filters.get("within", ())]
    if kinds:
        scope.append([kind_word(kind) for kind in kinds])
    if tags:
        # Names as they are, too: an earlier state may have a tag that the project has no more.
        named = {name for each in tags for name in each.names}
        found = {tag for found in vocabulary.found_by(tags) for tag in found}
        scope.append([tag_word(tag) for tag in sorted(named | found)])
    if layer:
        layer_id, layer_name = vocabulary.layer(clean_name(layer, "layer"))
        scope.append([f"L{layer_id}", layer_word(layer_name)])
    if by:
        scope.append([f"A{vocabulary.agent_id}"])
    if context:
        scope.append([f"C{_context_id(project_id, context)}"])
    since = moment_of(project_id, clean_moment(filters.get("since"), "since"))
    names_nothing = (by and vocabulary.agent_id is None) or not all(scope)
    return None if names_nothing else Narrowing(scope, since)


def count_entries(project_id: int) -> dict[str, int]:
    """Return about how many objects of each kind are searchable, from the stored counters."""
    statement, values = sizes_of(project_id)
    return {kind: int(count) for kind, count in sql.rows(statement, values)}


# -- Pieces ----------------------------------------------------------------------------------------


def _with_prefixes_for_lost(project_id: int, wanted: Sequence[Term], counts: Counts) -> list[Term]:
    """Return the terms; those that no passage has get prefix alternatives."""
    lost = [term for term in wanted if not counts.found(term)]
    extended = dict(zip(lost, with_beginnings(project_id, lost), strict=True)) if lost else {}
    counts.look_up(extended.values())
    return [extended.get(term, term) for term in wanted]


def _weighed(term: Term, counts: Counts, total: int) -> tuple[Term, float]:
    """Return the term with the alternatives that occur, and its weight.

    A term that no passage has itself gets the weight of its rarest alternative.
    """
    others = [(other, worth(total, counts.of(other))) for other in term.also if counts.of(other)]
    own = worth(total, counts.of(term)) if counts.of(term) or not others else max(w for _, w in others)
    also = (replace(other, weight=other.weight * min(each / own, 1.0)) for other, each in others)
    return replace(term, also=tuple(also)), term.weight * own


def _similarity(project_id: int, narrowing: Narrowing, query: Query) -> Search:
    """Prepare a search by similarity: with the words of a text that have the highest weights (TF-IDF)."""
    terms = [with_meanings(term) for term in query.wanted]
    entries, counts = look_up_first(project_id, terms)
    total = sum(entries.values())
    weights = dict(_weighed(term, counts, total) for term in terms if counts.found(term))
    heaviest = sorted(weights, key=lambda term: weights[term], reverse=True)[:MAX_TERMS]
    best = {term: weights[term] for term in heaviest}
    return Search(narrowing, Query(tuple(heaviest)), best, "similar", counts=counts.of_all(best))


def _kind(name: str) -> str:
    """Return the kind of a singular or plural name."""
    kinds = {form: noun.kind for noun in registry.searched_nouns() for form in (noun.kind, noun.plural)}
    word = name.strip().lower()
    return kinds[word] if word in kinds else clean_one_of(name, list(dict.fromkeys(kinds.values())), "kinds")


def _context_id(project_id: int, context: str) -> int:
    name = clean_name(registry.name_of_ref(context, "context"), "context")
    noun = registry.find_noun("context")
    found = noun.ids_of(project_id, [name]) if noun and noun.ids_of else {}
    if name not in found:
        raise NotFound(
            f"There is no context {shown(name)}.",
            hint=f"{operation('memory contexts')} lists those there are.",
        )
    return found[name]
