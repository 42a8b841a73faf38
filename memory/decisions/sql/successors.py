"""Reads which decisions were superseded by which, as links: the new one caused the end of the old one."""

from ctxhub.core.kit import sql
from ctxhub.core.links import Asked, Link, LinkSource, Words

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
