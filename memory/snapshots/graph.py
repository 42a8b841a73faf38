"""Reads what is next to a snapshot, or the newest ones of a project, as a graph, also as a flowchart."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, NotRequired

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.hub.links import ROWS, find_chain, find_impact
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.answers import MAX_TOKENS, size, truncate_text
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_limit
from ctxhub.core.kit.listing import Fitting, Listing, Show
from ctxhub.core.text.sentences import in_one_line
from ctxhub.toolbox.argument_types import About, RowsOf, one_of
from memory.snapshots.causes import (
    CAUSED_BY,
    DEPENDS_ON,
    KIND,
    WalkedSnapshot,
    Ways,
    read_ancestors,
    read_dependencies_among,
    read_descendants,
    read_links_of,
)
from memory.snapshots.models import ActionType
from memory.snapshots.queries import ActionLabel, TierLabel, unknown_snapshot
from memory.snapshots.rows import LISTED, SNAPSHOTS, SnapshotRow
from memory.snapshots.tiers import tier_of

# How many neighbours of one snapshot are drawn, by the steps that they are away.
WIDTHS = (8, 4, 3)
MOST_DRAWN = 20


@frozen
class Twig:
    """A snapshot, the kind of its link to its parent, and its children."""

    id: int
    link: str
    children: Sequence["Twig"]


def grow(start: int, ways: Ways, placed: Collection[int] = ()) -> list[Twig]:
    """The tree of at most 20 snapshots around one, up to 3 steps away, causes before dependencies.

    Each is drawn once, by the fewest steps; none that is `placed` elsewhere.
    """
    drawn, below = {start, *placed}, _Children()
    level = [start]
    for width in WIDTHS:
        following: list[int] = []
        for here in level:
            room = min(width, MOST_DRAWN - below.count)
            new = [pair for pair in _next(here, ways) if pair[0] not in drawn][:room]
            below.add(here, new)
            drawn.update(other for other, _ in new)
            following += [other for other, _ in new]
        level = following
    return below.twigs(start)


def ids_of(twigs: Sequence[Twig]) -> Iterator[int]:
    """The ids of a tree."""
    for twig in twigs:
        yield twig.id
        yield from ids_of(twig.children)


class _Children:
    def __init__(self) -> None:
        self.count = 0
        self.of: dict[int, list[tuple[int, str]]] = {}

    def add(self, parent: int, children: list[tuple[int, str]]) -> None:
        self.of[parent] = children
        self.count += len(children)

    def twigs(self, parent: int) -> list[Twig]:
        return [Twig(child, link, self.twigs(child)) for child, link in self.of.get(parent, ())]


def _next(here: int, ways: Ways) -> list[tuple[int, str]]:
    """The neighbours of a snapshot, each once, with the kind of the link."""
    found: dict[int, str] = {}
    for kind in (CAUSED_BY, DEPENDS_ON):
        for other in ways.get((here, kind), ()):
            found.setdefault(other, kind)
    return list(found.items())


PLAIN = frozenset(" .,-!?")
# No emphasis within a word; no class (:::) and no icon (fa:fa-ban).
HARMLESS = re.compile(r"(?<=[^\W_])_(?=[^\W_])|(?<!:):(?!:|fa-)")
ARROWS = {CAUSED_BY: "-->"}


@frozen
class DrawnNode:
    id: int
    action_type: str
    summary: str

    @property
    def text(self) -> str:
        return f"{self.action_type}: {self.summary}"


Edge = tuple[int, int, str]
"""The id of a snapshot, that of its cause or dependency, and the kind of the link."""


def flowchart(nodes: Iterable[DrawnNode], edges: Sequence[Edge]) -> str:
    """Arrows lead from a cause to its effects; those of dependencies are dotted."""
    boxes = [f'  s{node.id}["{node.id} {escaped(node.text)}"]' for node in nodes]
    arrows = [f"  s{target} {ARROWS.get(link, '-.->')} s{source}" for source, target, link in edges]
    return "\n".join(["flowchart TD", *boxes, *arrows])


def escaped(text: str) -> str:
    """A label on one line without syntax: all ASCII but letters, digits, PLAIN and HARMLESS are entities."""
    shown = "".join(character for character in in_one_line(text) if character.isprintable())
    harmless = {found.start() for found in HARMLESS.finditer(shown)}
    return "".join(
        character if place in harmless else _escaped(character) for place, character in enumerate(shown)
    )


def _escaped(character: str) -> str:
    if character.isalnum() or character in PLAIN:
        return character
    return f"#{ord(character)};" if character.isascii() else character


LinkLabel = Annotated[str, one_of(CAUSED_BY, DEPENDS_ON)]


def list_chain(project_id: int, snapshot_id: int, *, limit: int = ROWS, cursor: str | None = None) -> Listing:
    """What led to a snapshot, up to its root, which comes first at depth 0; itself last."""
    if found := find_chain(project_id, (KIND, _storable(snapshot_id)), limit, cursor):
        return found
    raise unknown_snapshot(snapshot_id)


def list_impact(
    project_id: int, snapshot_id: int, *, limit: int = ROWS, cursor: str | None = None
) -> Listing:
    """What rests on a snapshot, directly or through others; the nearest first."""
    if found := find_impact(project_id, (KIND, _storable(snapshot_id)), limit, cursor):
        return found
    raise unknown_snapshot(snapshot_id)


def _storable(snapshot_id: int) -> int:
    """The id; 0, which no row has, for a number too large for the database."""
    return snapshot_id if 0 < snapshot_id < 2**63 else 0


# On each side; what is further away, or beside so many, is not drawn.
READ = 200
DEPENDENTS_LISTED = 20
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
    counts = {one: links.dependents for one, links in read_links_of([snapshot_id, *ids_of(effects)]).items()}
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
        dependents=[one for one in ahead if snapshot_id in _rests_on(ahead[one])][:DEPENDENTS_LISTED],
        dependent_count=counts[snapshot_id],
    )


def _backwards(steps: Mapping[int, WalkedSnapshot]) -> Ways:
    """From each snapshot to what it rests on."""
    ways: dict[tuple[int, str], list[int]] = {}
    for step in steps.values():
        ways[step.id, CAUSED_BY] = [one for one in [step.caused_by_id] if one in steps and one]
        ways[step.id, DEPENDS_ON] = [one for one in step.dependencies if one in steps]
    return ways


def _forwards(steps: Mapping[int, WalkedSnapshot]) -> Ways:
    """From each snapshot to what rests on it."""
    ways: dict[tuple[int, str], list[int]] = defaultdict(list)
    for step in steps.values():
        for cause, kind in _causes(step):
            ways[cause, kind].append(step.id)
    return ways


def _causes(step: WalkedSnapshot) -> Iterator[tuple[int, str]]:
    """What a snapshot rests on, each once, with the kind of the link."""
    if step.caused_by_id:
        yield step.caused_by_id, CAUSED_BY
    yield from ((one, DEPENDS_ON) for one in step.dependencies if one != step.caused_by_id)


def _rests_on(step: WalkedSnapshot) -> set[int]:
    return {cause for cause, _ in _causes(step)}


def _named(snapshot_id: int, steps: Iterable[WalkedSnapshot]) -> int:
    """How many of the steps rest on a snapshot."""
    return sum(snapshot_id in _rests_on(step) for step in steps)


def _links(drawn: Mapping[int, WalkedSnapshot]) -> list[tuple[int, int, str]]:
    """The links between what is drawn: effect, cause, kind; those to causes first."""
    found = [(step.id, cause, kind) for step in drawn.values() for cause, kind in _causes(step)]
    return sorted((link for link in found if link[1] in drawn), key=lambda link: link[2])


def _pairs(parent: int, twigs: Sequence[Twig]) -> Iterator[frozenset[int]]:
    for twig in twigs:
        yield frozenset((parent, twig.id))
        yield from _pairs(twig.id, twig.children)


def _nearby(step: WalkedSnapshot, more: int) -> Nearby:
    return Nearby(step.id, str(ActionType(step.action_type).label), step.summary, step.at, more)


NODE_COLUMNS = ("id", "action_type", "tier", "summary")
EDGE_COLUMNS = ("source", "target", "link")
MOST_NODES = 1_000
SUMMARY_CHARACTERS = 60
# Room for what stands around the graph.
ROOM = MAX_TOKENS - 100


class GraphNode(TypedDict):
    id: int
    action_type: ActionLabel
    tier: TierLabel
    summary: Annotated[str, About("Cut to 60 characters.")]


class GraphEdge(TypedDict):
    source: Annotated[int, About("What was caused, or depends.")]
    target: Annotated[int, About("Its cause, or what it depends on.")]
    link: LinkLabel


class GraphAnswer(TypedDict):
    nodes: NotRequired[Annotated[Listing, RowsOf(GraphNode), About("The newest first; without mermaid.")]]
    edges: NotRequired[
        Annotated[Listing, RowsOf(GraphEdge), About("Those among the nodes; without mermaid.")]
    ]
    mermaid: NotRequired[Annotated[str, About("A flowchart.")]]
    more: NotRequired[Annotated[bool, About("There are older ones.")]]


@frozen
class Graph:
    """The newest snapshots, and the links between them. `is_cut`: there are more snapshots."""

    rows: Sequence[SnapshotRow]
    edges: Sequence[Edge]
    is_cut: bool

    def first(self, count: int) -> "Graph":
        """The graph of the newest `count` snapshots."""
        rows = self.rows[:count]
        kept = {row.id for row in rows}
        edges = [edge for edge in self.edges if edge[0] in kept and edge[1] in kept]
        return Graph(rows, edges, self.is_cut or count < len(self.rows))

    def answer(self, *, mermaid: bool) -> Fitting[GraphAnswer]:
        """As much of the graph as an answer has room for."""

        def build(show: Show) -> Any:
            graphs = (self.first(count) for count in _halved(len(self.rows)))
            answers = (show(graph._answer(mermaid)) for graph in graphs)
            return next(answer for answer in answers if size(answer) <= ROOM)

        return Fitting(build)

    def _answer(self, mermaid: bool) -> GraphAnswer:
        more: GraphAnswer = {"more": True} if self.is_cut else {}
        if mermaid:
            return {"mermaid": flowchart(self._drawn, self.edges), **more}
        return {"nodes": self._nodes, "edges": Listing(EDGE_COLUMNS, self.edges), **more}

    @property
    def _drawn(self) -> list[DrawnNode]:
        return [DrawnNode(row.id, row.action_label, _short(row.summary)) for row in self.rows]

    @property
    def _nodes(self) -> Listing:
        now = clock.now()
        rows = [
            [row.id, row.action_label, str(tier_of(row.touched_at, now).label), _short(row.summary)]
            for row in self.rows
        ]
        return Listing(NODE_COLUMNS, rows)


def find_graph(project_id: int, limit: int = 200) -> Graph:
    """The newest snapshots, at most `limit`, and the causes and dependencies among them."""
    limit = clean_limit(limit, at_most=MOST_NODES)
    statement = (
        f"SELECT {SNAPSHOTS.selected(LISTED)} WHERE d.project_id = %s"
        " ORDER BY d.created_at DESC, d.id DESC LIMIT %s"
    )
    found = SNAPSHOTS.as_rows(sql.rows(statement, [project_id, limit + 1]), LISTED)
    rows = found[:limit]
    kept = {row.id for row in rows}
    causes = [(row.id, row.caused_by_id, CAUSED_BY) for row in rows if row.caused_by_id in kept]
    others = [(*pair, DEPENDS_ON) for pair in read_dependencies_among(sorted(kept))]
    return Graph(rows, [*causes, *others], len(found) > limit)


def _halved(count: int) -> list[int]:
    """The count, and smaller and smaller ones, each nine tenths of the one before."""
    counts = [count]
    while counts[-1]:
        counts.append(counts[-1] * 9 // 10)
    return counts


def _short(summary: str) -> str:
    return truncate_text(" ".join(summary.split()), SUMMARY_CHARACTERS)
