"""Reads what led up to a decision and what came after it: the line along `superseded_by`, both ways."""

from typing import NamedTuple

from ctxhub.core.kit import sql

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
