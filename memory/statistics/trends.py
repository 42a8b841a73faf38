"""How decisions grow and change over time, in total or by group, and which change most often."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from typing import Annotated, NamedTuple
from zoneinfo import ZoneInfo

# Pydantic builds the answer's schema and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.accounts.config import config_of
from ctxhub.core.events.log import moment_of
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.buckets import BUCKETS, start_of
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import clean_limit, clean_moment, clean_one_of
from ctxhub.core.kit.listing import Listing, Row, page_in_memory
from ctxhub.core.kit.ordering import Ordering, sorted_by
from ctxhub.toolbox.argument_types import About, Time
from memory.decisions.models import DecisionStatus

HOUR = len("2026-11-24 10")
# Sorts the current state after all earlier ones.
_CURRENT_PLACE = 2**63 - 1
_ACTIVE, _DEPRECATED = DecisionStatus.ACTIVE.value, DecisionStatus.DEPRECATED.value
_STATUS_NAME = " ".join(["CASE {}", *(f"WHEN {s.value} THEN '{s.label}'" for s in DecisionStatus), "END"])


class HourlyChange(NamedTuple):
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


def read_steps(project_id: int, by: str, until: datetime) -> list[HourlyChange]:
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
    return [HourlyChange(_moment(hour), of, *map(int, counts)) for hour, of, *counts in rows]


def _moment(hour: str) -> datetime:
    return datetime.fromisoformat(f"{hour}:00").replace(tzinfo=UTC)


COLUMNS = ("at", "of", "created", "changed", "deprecated", "in_force")


class TrendRow(TypedDict):
    at: Annotated[Time, About("When the bucket begins, in the project's time zone.")]
    of: Annotated[str | None, About("The layer, tag, agent or status; empty for none.")]
    created: int
    changed: Annotated[int, About("Changes that neither create nor deprecate.")]
    deprecated: int
    in_force: Annotated[int, About("How many were active at its end; by status: how many had that status.")]


class Trend(NamedTuple):
    """What changed within a bucket, and how many were in force at its end."""

    at: datetime
    of: str
    created: int
    changed: int
    deprecated: int
    in_force: int


ORDERS = {name: attrgetter(name) for name in ("at", "of", "created", "changed", "deprecated", "in_force")}


def list_trends(
    project_id: int,
    *,
    since: str | None = None,
    until: str | None = None,
    bucket: str = "day",
    by: str | None = None,
    limit: int = 20,
    cursor: str | None = None,
    ordering: Ordering = None,
) -> Listing:
    """A page of trends, newest bucket first; buckets in which nothing changed are left out.

    Decisions that were deleted are not counted. Raises InvalidInput.
    """
    limit = clean_limit(limit)
    first = moment_of(project_id, clean_moment(since, "since"))
    last = moment_of(project_id, clean_moment(until, "until")) or clock.now()
    if first and first >= last:
        raise InvalidInput("since is not before until.")
    kind = "" if by is None else clean_one_of(by, [name for name in GROUPINGS if name], "by")
    zone = ZoneInfo(config_of(project_id).time_zone)
    bucket = clean_one_of(bucket, BUCKETS, "bucket")
    found = trends(read_steps(project_id, kind, last), bucket, zone)
    shown = [one for one in found if first is None or one.at >= start_of(first, bucket, zone)]
    shown.sort(key=lambda one: (-one.at.timestamp(), one.of))
    shown = sorted_by(shown, ordering, ORDERS)
    return page_in_memory(COLUMNS, shown, _row, limit=limit, cursor=cursor, ordering=ordering)


def trends(steps: Iterable[HourlyChange], bucket: str, zone: ZoneInfo) -> list[Trend]:
    """The steps by bucket, oldest first; `steps` are all from the beginning, in that order."""
    in_force: dict[str, int] = defaultdict(int)
    sums: dict[tuple[datetime, str], Trend] = {}
    for step in steps:
        in_force[step.of] += step.delta
        at = start_of(step.hour, bucket, zone)
        old = sums.get((at, step.of), Trend(at, step.of, 0, 0, 0, 0))
        sums[at, step.of] = Trend(
            at,
            step.of,
            old.created + step.created,
            old.changed + step.changed,
            old.deprecated + step.deprecated,
            in_force[step.of],
        )
    return list(sums.values())


def _row(one: Trend) -> Row:
    return [format_time(one.at.astimezone(UTC)), one.of or None, *one[2:]]


class ChangedDecision(NamedTuple):
    """`changes`: versions after the first that were written in the period; `at`: of the last one of all."""

    id: int
    key: str
    version: str
    changes: int
    at: datetime


def read_most_changed(
    project_id: int, since: datetime, until: datetime, at_most: int
) -> list[ChangedDecision]:
    """Those with most changes first. Reads the decisions that have changed since the beginning.

    A revision has the time at which its state was written, so the first one is the creation.
    """
    begin, end = sql.stored_time(since), sql.stored_time(until)
    found = sql.rows(
        """
        SELECT id, key, version, changes, updated_at FROM (
            SELECT d.id, d.key, d.version, d.updated_at, count(r.id)
                + CASE WHEN d.updated_at < %s THEN 1 ELSE 0 END
                - CASE WHEN d.created_at >= %s AND d.created_at < %s THEN 1 ELSE 0 END AS changes
            FROM memory_decision d
            LEFT JOIN memory_decisionrevision r ON r.decision_id = d.id AND r.at >= %s AND r.at < %s
            WHERE d.project_id = %s AND d.updated_at >= %s GROUP BY d.id) counted
        WHERE changes > 0 ORDER BY changes DESC, updated_at DESC, id DESC LIMIT %s""",
        [end, begin, end, begin, end, project_id, begin, at_most],
    )
    return [
        ChangedDecision(row_id, key, version, changes, sql.read_time(at))
        for row_id, key, version, changes, at in found
    ]


def most_changed(project_id: int, since: datetime, until: datetime, limit: int) -> Sequence[ChangedDecision]:
    """Those with most new versions first; without those that were only created. Runs one query."""
    return read_most_changed(project_id, since, until, limit)
