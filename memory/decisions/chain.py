"""What a decision superseded and what superseded it, step by step, as links, and with the reasons."""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.links import Asked, Link, LinkSource, Words
from memory.decisions.models import DecisionStatus

DEPTH = 20
VALUE_CHARACTERS = 120


class ChainLink(NamedTuple):
    """A decision of the chain. `distance`: steps from the middle, negative for what came before it."""

    distance: int
    id: int
    key: str
    value: str


def read_chain(project_id: int, decision_id: int, at_most: int) -> list[ChainLink]:
    """The nearest predecessors and successors within DEPTH steps, the oldest first, without the decision."""
    found = sql.rows(
        f"""
        WITH RECURSIVE later(id, distance) AS (
            SELECT d.superseded_by_id, 1 FROM memory_decision d
            WHERE d.id = %s AND d.superseded_by_id IS NOT NULL
            UNION
            SELECT d.superseded_by_id, l.distance + 1 FROM later l JOIN memory_decision d ON d.id = l.id
            WHERE d.superseded_by_id IS NOT NULL AND l.distance < {DEPTH}),
        earlier(id, distance) AS (
            SELECT d.id, -1 FROM memory_decision d WHERE d.superseded_by_id = %s
            UNION
            SELECT d.id, e.distance - 1 FROM earlier e JOIN memory_decision d ON d.superseded_by_id = e.id
            WHERE e.distance > -{DEPTH}),
        nearest(id, distance) AS (
            SELECT id, distance FROM later UNION ALL SELECT id, distance FROM earlier)
        SELECT n.distance, d.id, d.key, substr(d.value, 1, {VALUE_CHARACTERS})
        FROM nearest n JOIN memory_decision d ON d.id = n.id
        WHERE d.project_id = %s AND d.id <> %s
        ORDER BY abs(n.distance), n.distance, d.updated_at DESC, d.id LIMIT %s""",
        [decision_id, decision_id, project_id, decision_id, at_most],
    )
    links: dict[int, ChainLink] = {}
    for row in found:
        links.setdefault(row[1], ChainLink(*row))
    return sorted(links.values(), key=lambda link: (link.distance, link.key))


SHOWN = 50


@frozen
class Chain:
    """`earlier`, `later`: each step with its decisions, the oldest first; several may share a successor."""

    earlier: Sequence[Sequence[ChainLink]]
    later: Sequence[Sequence[ChainLink]]
    has_more: bool


def chain_of(project_id: int, decision_id: int) -> Chain | None:
    """None for a decision that neither superseded another nor was superseded. Runs one query."""
    found = read_chain(project_id, decision_id, SHOWN + 1)
    shown = sorted(found, key=lambda link: abs(link.distance))[:SHOWN]
    ordered = sorted(shown, key=attrgetter("distance", "key"))
    steps = [list(links) for _, links in groupby(ordered, key=attrgetter("distance"))]
    earlier = [step for step in steps if step[0].distance < 0]
    return Chain(earlier, steps[len(earlier) :], len(found) > SHOWN) if found else None


KIND, SUPERSEDED_BY = "decision", "superseded_by"


def read_links(asked: Asked) -> list[Link]:
    """The links of decisions with what superseded them, or with what they superseded."""
    if not (ids := asked.ids(KIND)):
        return []
    here, there = ("d.id", "d.superseded_by_id") if asked.to_causes else ("d.superseded_by_id", "d.id")
    where, values = sql.among(here, ids)
    rows = sql.rows(
        f"SELECT {here}, {there} FROM memory_decision d"
        f" WHERE {where} AND +d.project_id = %s AND d.superseded_by_id IS NOT NULL ORDER BY 1, 2 LIMIT %s",
        [*values, asked.project_id, asked.at_most],
    )
    return [Link((KIND, one), (KIND, other), SUPERSEDED_BY) for one, other in rows]


LINKS = LinkSource(read_links, words={SUPERSEDED_BY: Words("is superseded by", "supersedes")})


# The alias `d` is the decision. A paragraph each.
WHY = f"""CASE WHEN d.status = {DecisionStatus.DEPRECATED.value} AND d.reason <> ''
    THEN 'Deprecated: ' || d.reason || CASE WHEN d.rationale <> '' THEN '\n\n' || d.rationale ELSE '' END
    ELSE d.rationale END"""
