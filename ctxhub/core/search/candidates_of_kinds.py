"""Finds the passages of each of several kinds that match best, in one statement.

Most of the time goes into finding the passages of each term, and that is the same for all kinds.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.search.candidates import (
    COLUMNS,
    ENOUGH,
    LENGTH_COST,
    WEIGHT_UNITS,
    Candidate,
    candidate_of,
)
from ctxhub.core.search.documents import PARTS, kind_word
from ctxhub.core.search.engines import Narrowing, clauses_of, engine
from ctxhub.core.search.queries import Query, Term

# In the words of so many times the limit of passages of a kind the common terms are looked for.
READ = 4
# Kinds with so few objects are searched by all terms where the rarest find too little. In larger ones, what
# has none of the rarest is no good match, and the lists of common terms are long.
FEW_OBJECTS = 5_000


def find_candidates_of_kinds(
    narrowing: Narrowing,
    query: Query,
    weights: Mapping[Term, float],
    kinds: Sequence[str],
    limit: int,
    counts: Mapping[Term, int],
    entries: Mapping[str, int],
    *,
    by_row: bool = False,
) -> list[Candidate]:
    """Return the best passages of these kinds, at most `limit` of each.

    The rarest terms select them if they are in enough passages; the others only order what those found.
    `counts`: how many passages of the project have each term, and each alternative alone; `entries`: how
    many objects are of each kind; `by_row`: as `holds_most` says.
    """
    passages = ENOUGH * limit * len(kinds)
    if not query.needs_all:
        query, weights, counts = _common_apart(query, weights, counts, passages)
    leading = _rarest_terms(query, weights, counts, passages)
    found = _find_best(narrowing, query, weights, kinds, limit, leading, by_row=by_row)
    numbers = Counter(candidate.kind for candidate in found)
    short = [kind for kind in kinds if numbers[kind] < limit and 0 < entries.get(kind, 0) <= FEW_OBJECTS]
    if len(leading) == len(query.wanted) or not short:
        return found
    of_short = replace(narrowing, scope=[*narrowing.scope, [kind_word(kind) for kind in short]])
    enough = [candidate for candidate in found if candidate.kind not in short]
    return enough + _find_best(of_short, query, weights, short, limit, query.wanted, by_row=by_row)


def _common_apart(
    query: Query, weights: Mapping[Term, float], counts: Mapping[Term, int], passages: int
) -> tuple[Query, Mapping[Term, float], Mapping[Term, int]]:
    """Make terms of the alternatives that more passages have than are needed, where others are found.

    Else a rare word would lead with the long list of its common alternative.
    """
    split_weights, split_counts = dict[Term, float](), dict[Term, int]()
    for term in query.wanted:
        common = [other for other in term.also if counts.get(other.alone, 0) > passages]
        rare = [one for one in (term, *term.also) if one not in common]
        own = sum(counts.get(one.alone, 0) for one in rare)
        if not common or not own:
            split_weights[term], split_counts[term] = weights[term], counts[term]
            continue
        kept = replace(term, also=tuple(rare[1:]))
        split_weights[kept], split_counts[kept] = weights[term], own
        for other in common:
            split_weights.setdefault(other, weights[term] * other.weight)
            split_counts.setdefault(other, counts[other.alone])
    return query.with_wanted(split_weights), split_weights, split_counts


def _rarest_terms(
    query: Query, weights: Mapping[Term, float], counts: Mapping[Term, int], passages: int
) -> Sequence[Term]:
    """Return the terms of greatest weight that so many passages have; all if there are not so many."""
    found, number = [], 0
    for term in sorted(query.wanted, key=lambda term: weights[term], reverse=True):
        found.append(term)
        number += counts[term]
        if number >= passages and not query.needs_all:
            break
    return found


def _find_best(
    narrowing: Narrowing,
    query: Query,
    weights: Mapping[Term, float],
    kinds: Sequence[str],
    limit: int,
    leading: Sequence[Term],
    *,
    by_row: bool,
) -> list[Candidate]:
    """Return the passages of each kind with the highest sums of term weights, normalised by length.

    Those with the highest sums of leading terms are read, and the other terms are looked for in their words.
    """
    dialect = engine()
    clauses, clause_values = clauses_of(narrowing, query, "u.id")
    units = {term: round(weights[term] * WEIGHT_UNITS) for term in query.wanted}
    of_projects, scope = dialect.by_row(narrowing.scope) if by_row else ("", narrowing.scope)
    branches = " UNION ALL ".join([f"{dialect.branch_with_kind}{of_projects}"] * len(leading))
    branch_values = [value for term in leading for value in (units[term], dialect.expression(scope, [term]))]
    others = [(term, units[term]) for term in query.wanted if term not in leading]
    worth, worth_values = _worth_of_others(others)
    rows = sql.rows(
        f"""
        SELECT {COLUMNS}
        FROM (
            SELECT b.id, row_number() OVER (
                PARTITION BY b.kind
                ORDER BY CAST(b.worth AS double precision) / ({LENGTH_COST} + b.size) DESC, b.id DESC
            ) AS place
            FROM (
                SELECT m.id, m.kind, t.size, m.worth{worth} AS worth
                FROM ({dialect.most_of_kinds(f"{branches}) u WHERE TRUE{clauses}", sql.marks(kinds))}) m
                CROSS JOIN core_searchtext t WHERE m.place <= %s AND t.id = m.id) b
        ) best CROSS JOIN core_searchtext t CROSS JOIN {dialect.entry_of(f"best.id / {PARTS}")}
        WHERE best.place <= %s AND t.id = best.id AND e.id = best.id / {PARTS}""",
        [
            *worth_values,
            *branch_values,
            *clause_values,
            *map(dialect.name_of_kind, kinds),
            READ * limit,
            limit,
        ],
    )
    return [candidate_of(*columns) for columns in rows]


def _worth_of_others(others: Sequence[tuple[Term, int]]) -> tuple[str, list[Any]]:
    """Return SQL that adds the worth of the terms that the words of a passage have, and its values."""
    function = engine().position
    worth, values = "", []
    for term, units in others:
        texts = list(_texts_of(term))
        has = " OR ".join([f"{function}(' ' || t.words || ' ', %s) > 0"] * len(texts))
        worth += f" + CASE WHEN {has} THEN {units} ELSE 0 END"
        values += texts
    return worth, values


def _texts_of(term: Term) -> Iterator[str]:
    """The texts by which the words of a passage, each between blanks, show that it has the term."""
    end = "" if term.prefix else " "
    yield from (f" {' '.join(words)}{end}" for words in term.spellings)
    for other in term.also:
        yield from _texts_of(other)
