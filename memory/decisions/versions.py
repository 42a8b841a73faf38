"""Versions of decisions: the next one, the stored ones, their values, and what superseded what."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from django.db.models.functions import Left

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.links import Asked, Link, LinkSource, Words
from ctxhub.core.text.sentences import in_one_line, shortened
from memory.decisions.inputs import VERSION_LENGTH
from memory.decisions.models import Decision, DecisionRevision, DecisionStatus
from memory.decisions.rows import DecisionRow

FIRST_VERSION = "1.0.0"

_LAST_NUMBER = re.compile(r"(\d+)(\D*)$", re.ASCII)


def bump(version: str) -> str:
    """Increment the last number of a version; append `.1` to a version without a number."""
    number = _LAST_NUMBER.search(version)
    head = version[: number.start()] if number else version
    tail = f"{int(number[1]) + 1}{number[2]}" if number else ".1"
    # At the maximum length the head is truncated: a truncated number would repeat a version.
    return f"{head[: max(VERSION_LENGTH - len(tail), 0)]}{tail}"[:VERSION_LENGTH]


# The fields with text besides the value; a revision stores them in `data`.
TEXTS = ("rationale", "alternatives", "tradeoffs", "metadata", "reason")

States = Mapping[int, tuple[DecisionRow, DecisionRow, str]]
"""By revision id: the decision before the change, the same row with its texts after it, what holds now."""
# The beginning of the value that holds now.
NOW_CHARACTERS = 60


def revisions_of(project_id: int, ids: Sequence[int]) -> sql.Reading[States]:
    """Read revisions; the texts after a change come from the next revision, or from the decision itself."""
    where, values = sql.by_ids("r", project_id, ids)
    statement = f"""
        SELECT r.id, d.id, d.key, r.value, r.value_type, r.version, r.status, r.agent_id, r.at, r.data,
            n.value, n.data, d.value, {", ".join(f"d.{name}" for name in TEXTS)}, d.status
        FROM memory_decisionrevision r JOIN memory_decision d ON d.id = r.decision_id
        LEFT JOIN memory_decisionrevision n ON n.id = (
            SELECT x.id FROM memory_decisionrevision x
            WHERE x.decision_id = r.decision_id AND x.id > r.id ORDER BY x.id LIMIT 1)
        WHERE {where}"""
    return sql.Reading(
        statement,
        values,
        14 + len(TEXTS),
        lambda rows: {revision: _states(*columns) for revision, *columns in rows},
    )


def revision_ids(project_id: int, decision_ids: Sequence[int]) -> list[int]:
    among, values = sql.among("decision_id", decision_ids)
    statement = f"SELECT id FROM memory_decisionrevision WHERE project_id = %s AND {among}"
    return [row_id for (row_id,) in sql.rows(statement, [project_id, *values])]


def _states(
    row_id: int, key: str, value: str, value_type: int, version: str, status: int, agent_id: int, *rest: Any
) -> tuple[DecisionRow, DecisionRow, str]:
    at, data, next_value, next_data, now_value, *now_texts, now_status = rest
    written_at = sql.read_time(at)
    was = DecisionRow(
        id=row_id,
        key=key,
        value=value,
        value_type=value_type,
        version=version,
        status=status,
        agent="",
        agent_id=agent_id,
        created_at=written_at,
        updated_at=written_at,
    )
    named = dict(zip(TEXTS, now_texts, strict=True))
    texts = {name: sql.read_json(named[name]) for name in ("alternatives", "tradeoffs", "metadata")}
    now = {"value": now_value, **named, **texts}
    if next_value is not None:
        now = {"value": next_value, **_kept(next_data)}
    return replace(was, **_kept(data)), replace(was, **now), _holding(now_value, now_status)


def _holding(value: str, status: int) -> str:
    if status != DecisionStatus.ACTIVE:
        return str(DecisionStatus(status).label)
    line = in_one_line(value)
    return shortened(line, NOW_CHARACTERS) if len(line) > NOW_CHARACTERS else line


def _kept(data: Any) -> dict[str, Any]:
    """Return the fields that a revision keeps in `data`; absent ones were empty."""
    fields = sql.read_json(data)
    return {name: fields[name] for name in (*TEXTS, "tags", "layer") if name in fields}


Version = tuple[int, str]


def values_at(project_id: int, versions: Sequence[Version], characters: int) -> dict[Version, str]:
    """The first `characters` of values, by id and version; the newest if several have this name."""
    ids = {decision_id for decision_id, _ in versions}
    past = DecisionRevision.objects.in_project(project_id).filter(
        decision_id__in=ids, version__in={version for _, version in versions}
    )
    now = Decision.objects.in_project(project_id).filter(pk__in=ids)
    beginning = Left("value", characters)
    found = [
        *past.order_by("pk").values_list("decision_id", "version", beginning),
        *now.values_list("pk", "version", beginning),
    ]
    texts = {(decision_id, version): text for decision_id, version, text in found}
    return {key: texts[key] for key in versions if key in texts}


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
