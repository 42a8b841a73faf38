"""Computes how decisions grow and change over time, in total or by layer, tag, agent or status."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, NamedTuple
from zoneinfo import ZoneInfo

# Pydantic builds the answer's schema and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.accounts.selectors.config import config_of
from ctxhub.core.events.selectors.events import moment_of
from ctxhub.core.kit import clock
from ctxhub.core.kit.buckets import BUCKETS, start_of
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import clean_limit, clean_moment, clean_one_of
from ctxhub.core.kit.listing import Listing, Row, page_in_memory
from ctxhub.core.toolbox.argument_types import About, Time
from memory.decisions.sql.trends import GROUPINGS, Step, read_steps

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


def list_trends(
    project_id: int,
    *,
    since: str | None = None,
    until: str | None = None,
    bucket: str = "day",
    by: str | None = None,
    limit: int = 20,
    cursor: str | None = None,
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
    return page_in_memory(COLUMNS, shown, _row, limit=limit, cursor=cursor)


def trends(steps: Iterable[Step], bucket: str, zone: ZoneInfo) -> list[Trend]:
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
