"""Reads what snapshots rest on, what rests on them, and the graph of both."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.listing import Listing, preview
from ctxhub.core.toolbox.argument_types import About, Time, one_of
from memory.snapshots.models.snapshot import ActionType
from memory.snapshots.rules.causes import CAUSED_BY, DEPENDS_ON, DEPTH, Ways, distances
from memory.snapshots.selectors.snapshots import ActionLabel, unknown_snapshot
from memory.snapshots.sql.walks import Step, read_ancestors, read_descendants

COLUMNS = ("id", "depth", "action_type", "summary", "link", "at")
ROWS = 1_000
LinkLabel = Annotated[str, one_of(CAUSED_BY, DEPENDS_ON)]


class WalkedSnapshot(TypedDict):
    id: int
    depth: int
    action_type: ActionLabel
    summary: str
    link: Annotated[LinkLabel | None, About("How it, or what rests on it, is linked; null: itself.")]
    at: Time


@dataclass(frozen=True, slots=True)
class _Walked:
    """A snapshot on a walk, the steps from the start to it, and the kind of the last link."""

    step: Step
    distance: int
    link: str | None


def list_chain(project_id: int, snapshot_id: int) -> Listing:
    """What led to a snapshot, up to its root, which comes first at depth 0; itself last."""
    steps = _known(read_ancestors(project_id, _storable(snapshot_id), ROWS + 1, DEPTH + 2), snapshot_id)
    ways: dict[tuple[int, str], list[int]] = {}
    for step in steps.values():
        ways[step.id, CAUSED_BY] = [other for other in [step.caused_by_id] if other and other in steps]
        ways[step.id, DEPENDS_ON] = [other for other in step.dependencies if other in steps]
    walked = [_Walked(steps[snapshot_id], 0, None), *_walked(snapshot_id, steps, ways)]
    shown = _nearest(walked)
    deepest = shown[-1].distance
    ordered = sorted(shown, key=lambda one: (-one.distance, one.step.at, one.step.id))
    rows = [_row(one, deepest - one.distance) for one in ordered]
    return Listing(COLUMNS, rows, extra=_more(len(shown) < len(steps)))


def list_impact(project_id: int, snapshot_id: int) -> Listing:
    """What rests on a snapshot, directly or through others; the nearest first."""
    steps = _known(read_descendants(project_id, _storable(snapshot_id), ROWS + 2), snapshot_id)
    ways: dict[tuple[int, str], list[int]] = defaultdict(list)
    for step in steps.values():
        if step.caused_by_id and step.caused_by_id in steps:
            ways[step.caused_by_id, CAUSED_BY].append(step.id)
        for other in step.dependencies:
            ways[other, DEPENDS_ON].append(step.id)
    shown = _nearest(_walked(snapshot_id, steps, ways))
    rows = [_row(one, one.distance) for one in shown]
    return Listing(COLUMNS, rows, extra=_more(len(shown) < len(steps) - 1))


def _storable(snapshot_id: int) -> int:
    """The id; 0, which no row has, for a number too large for the database."""
    return snapshot_id if 0 < snapshot_id < 2**63 else 0


def _known(steps: Sequence[Step], snapshot_id: int) -> Mapping[int, Step]:
    if not steps:
        raise unknown_snapshot(snapshot_id)
    return {step.id: step for step in steps}


def _walked(start: int, steps: Mapping[int, Step], ways: Ways) -> list[_Walked]:
    return [
        _Walked(steps[other], distance, link) for other, (distance, link) in distances(start, ways).items()
    ]


def _nearest(walked: Sequence[_Walked]) -> list[_Walked]:
    """Those within DEPTH steps, at most ROWS, the nearest first, the older first among equals."""
    near = [one for one in walked if one.distance <= DEPTH]
    return sorted(near, key=lambda one: (one.distance, one.step.at, one.step.id))[:ROWS]


def _row(one: _Walked, depth: int) -> list[object]:
    step = one.step
    action = str(ActionType(step.action_type).label)
    return [step.id, depth, action, preview(step.summary), one.link, format_time(step.at)]


def _more(is_cut: bool) -> Mapping[str, bool]:
    return {"more": True} if is_cut else {}
