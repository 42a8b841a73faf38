"""SQL of how the number of decisions changes: created, changed, deprecated, in force, by hour."""

from datetime import UTC, datetime
from typing import NamedTuple

from ctxhub.core.kit import sql
from memory.decisions.models.decision import DecisionStatus

HOUR = len("2026-11-24 10")
# Sorts the current state after all earlier ones.
_CURRENT_PLACE = 2**63 - 1
_ACTIVE, _DEPRECATED = DecisionStatus.ACTIVE.value, DecisionStatus.DEPRECATED.value
_STATUS_NAME = " ".join(["CASE {}", *(f"WHEN {s.value} THEN '{s.label}'" for s in DecisionStatus), "END"])


class Step(NamedTuple):
    """What changed within an hour, of a layer, tag, agent or status. `delta`: how many more are in force."""

    hour: datetime
    of: str
    created: int
    changed: int
    deprecated: int
    delta: int


class _Grouping(NamedTuple):
    """Whose a state is, and whose the one before it was; the joins that these need."""

    of: str
    was_of: str
    joins: str = ""
    counts: str = f"(CASE WHEN s.status = {_ACTIVE} THEN 1 ELSE 0 END)"
    was_counted: str = f"s.was = {_ACTIVE}"


_LAYER = "JOIN memory_decision d ON d.id = s.decision_id LEFT JOIN core_layer l ON l.id = d.layer_id"
_TAG = "JOIN memory_decisiontag t ON t.decision_id = s.decision_id JOIN core_tag g ON g.id = t.tag_id"
_AGENTS = "LEFT JOIN core_agent a ON a.id = s.agent_id LEFT JOIN core_agent b ON b.id = s.was_agent_id"
GROUPINGS = {
    "": _Grouping("''", "''"),
    "layer": _Grouping("coalesce(l.name, '')", "coalesce(l.name, '')", _LAYER),
    "tag": _Grouping("g.name", "g.name", _TAG),
    "agent": _Grouping("coalesce(a.name, 'system')", "coalesce(b.name, 'system')", _AGENTS),
    "status": _Grouping(
        _STATUS_NAME.format("s.status"),
        _STATUS_NAME.format("s.was"),
        "",
        "1",
        "s.was IS NOT NULL",
    ),
}


def read_steps(project_id: int, by: str, until: datetime) -> list[Step]:
    """All steps before a time, oldest first. By layer and tag: as the decisions have them now."""
    of, was_of, joins, counts, was_counted = GROUPINGS[by]
    hour = f"substr(CAST(s.at AS varchar(40)), 1, {HOUR})"
    rows = sql.rows(
        f"""
        WITH states AS (
            SELECT r.decision_id, r.id AS place, r.status, r.agent_id, r.at
            FROM memory_decisionrevision r WHERE r.project_id = %s
            UNION ALL
            SELECT d.id, {_CURRENT_PLACE}, d.status, d.agent_id, d.updated_at
            FROM memory_decision d WHERE d.project_id = %s),
        steps AS (
            SELECT s.*, lag(s.status) OVER each AS was, lag(s.agent_id) OVER each AS was_agent_id
            FROM states s WINDOW each AS (PARTITION BY s.decision_id ORDER BY s.place))
        SELECT hour, grouped, sum(created), sum(changed), sum(deprecated), sum(delta) FROM (
            SELECT {hour} AS hour, {of} AS grouped,
                CASE WHEN s.was IS NULL THEN 1 ELSE 0 END AS created,
                CASE WHEN s.was IS NOT NULL AND (s.status <> {_DEPRECATED} OR s.was = {_DEPRECATED})
                    THEN 1 ELSE 0 END AS changed,
                CASE WHEN s.status = {_DEPRECATED} AND s.was <> {_DEPRECATED} THEN 1 ELSE 0 END AS deprecated,
                {counts} AS delta
            FROM steps s {joins} WHERE s.at < %s
            UNION ALL
            SELECT {hour}, {was_of}, 0, 0, 0, -1 FROM steps s {joins} WHERE s.at < %s AND {was_counted}
        ) moves GROUP BY hour, grouped ORDER BY hour, grouped""",
        [project_id, project_id, *[sql.stored_time(until)] * 2],
    )
    return [Step(_moment(hour), of, *map(int, counts)) for hour, of, *counts in rows]


def _moment(hour: str) -> datetime:
    return datetime.fromisoformat(f"{hour}:00").replace(tzinfo=UTC)
