"""Reads what is next to a snapshot: its causes and effects, up to three steps away."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from ctxhub.core.kit.frozen import frozen
from memory.snapshots.models.snapshot import ActionType
from memory.snapshots.rules.causes import CAUSED_BY, DEPENDS_ON, Ways
from memory.snapshots.rules.trees import WIDTHS, Twig, grow, ids_of
from memory.snapshots.selectors.snapshots import unknown_snapshot
from memory.snapshots.sql.links import read_links
from memory.snapshots.sql.walks import Step, read_ancestors, read_descendants

# On each side; what is further away, or beside so many, is not drawn.
READ = 200
LISTED = 20
CROSSING = 30


@frozen
class Nearby:
    """A snapshot; `more`: how many of its neighbours on its side are not drawn."""

    id: int
    action: str
    summary: str
    at: datetime
    more: int = 0


@frozen
class Surroundings:
    """`nearby`: all that is drawn or listed, by id. `causes`, `effects`: what is drawn on each side.

    `crossing`: further links between what is drawn: an effect, its cause, and the kind. `dependents`: the
    first 20 of `dependent_count`.
    """

    nearby: Mapping[int, Nearby]
    causes: Sequence[Twig]
    effects: Sequence[Twig]
    crossing: Sequence[tuple[int, int, str]]
    cause: int | None
    dependencies: Sequence[int]
    dependents: Sequence[int]
    dependent_count: int

    @property
    def left_out(self) -> int:
        """How many direct neighbours are listed, or only counted, and not drawn."""
        direct = self.dependent_count + len({self.cause, *self.dependencies} - {None})
        return direct - len(self.causes) - len(self.effects)


def read_surroundings(project_id: int, snapshot_id: int) -> Surroundings:
    """What is around a snapshot, by three statements. Raises NotFound."""
    back = {step.id: step for step in read_ancestors(project_id, snapshot_id, READ, len(WIDTHS) + 1)}
    ahead = {step.id: step for step in read_descendants(project_id, snapshot_id, READ)}
    if snapshot_id not in back or snapshot_id not in ahead:
        raise unknown_snapshot(snapshot_id)
    steps, own = {**ahead, **back}, back[snapshot_id]
    causes = grow(snapshot_id, _backwards(back))
    effects = grow(snapshot_id, _forwards(ahead), [*ids_of(causes)])
    drawn = {snapshot_id: own} | {one: steps[one] for one in (*ids_of(causes), *ids_of(effects))}
    counts = {one: links.dependents for one, links in read_links([snapshot_id, *ids_of(effects)]).items()}
    more = {one: len(_rests_on(drawn[one]) - drawn.keys()) for one in ids_of(causes)}
    more |= {one: counts[one] - _named(one, drawn.values()) for one in ids_of(effects)}
    in_trees = {*_pairs(snapshot_id, causes), *_pairs(snapshot_id, effects)}
    return Surroundings(
        nearby={step.id: _nearby(step, more.get(step.id, 0)) for step in steps.values()},
        causes=causes,
        effects=effects,
        crossing=[link for link in _links(drawn) if frozenset(link[:2]) not in in_trees][:CROSSING],
        cause=own.caused_by_id if own.caused_by_id in steps else None,
        dependencies=[one for one in own.dependencies if one in steps],
        dependents=[one for one in ahead if snapshot_id in _rests_on(ahead[one])][:LISTED],
        dependent_count=counts[snapshot_id],
    )


def _backwards(steps: Mapping[int, Step]) -> Ways:
    """From each snapshot to what it rests on."""
    ways: dict[tuple[int, str], list[int]] = {}
    for step in steps.values():
        ways[step.id, CAUSED_BY] = [one for one in [step.caused_by_id] if one in steps and one]
        ways[step.id, DEPENDS_ON] = [one for one in step.dependencies if one in steps]
    return ways


def _forwards(steps: Mapping[int, Step]) -> Ways:
    """From each snapshot to what rests on it."""
    ways: dict[tuple[int, str], list[int]] = defaultdict(list)
    for step in steps.values():
        for cause, kind in _causes(step):
            ways[cause, kind].append(step.id)
    return ways


def _causes(step: Step) -> Iterator[tuple[int, str]]:
    """What a snapshot rests on, each once, with the kind of the link."""
    if step.caused_by_id:
        yield step.caused_by_id, CAUSED_BY
    yield from ((one, DEPENDS_ON) for one in step.dependencies if one != step.caused_by_id)


def _rests_on(step: Step) -> set[int]:
    return {cause for cause, _ in _causes(step)}


def _named(snapshot_id: int, steps: Iterable[Step]) -> int:
    """How many of the steps rest on a snapshot."""
    return sum(snapshot_id in _rests_on(step) for step in steps)


def _links(drawn: Mapping[int, Step]) -> list[tuple[int, int, str]]:
    """The links between what is drawn: effect, cause, kind; those to causes first."""
    found = [(step.id, cause, kind) for step in drawn.values() for cause, kind in _causes(step)]
    return sorted((link for link in found if link[1] in drawn), key=lambda link: link[2])


def _pairs(parent: int, twigs: Sequence[Twig]) -> Iterator[frozenset[int]]:
    for twig in twigs:
        yield frozenset((parent, twig.id))
        yield from _pairs(twig.id, twig.children)


def _nearby(step: Step, more: int) -> Nearby:
    return Nearby(step.id, str(ActionType(step.action_type).label), step.summary, step.at, more)
