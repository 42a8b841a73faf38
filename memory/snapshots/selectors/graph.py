"""Reads the newest snapshots and the links between them as a graph."""

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.answers import MAX_TOKENS, size, truncate_text
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_limit
from ctxhub.core.kit.listing import Fitting, Listing, Show
from ctxhub.core.toolbox.argument_types import About, RowsOf
from memory.snapshots.rows import LISTED, SNAPSHOTS, SnapshotRow
from memory.snapshots.rules.causes import CAUSED_BY, DEPENDS_ON
from memory.snapshots.rules.mermaid import DrawnNode, Edge, flowchart
from memory.snapshots.rules.tiers import tier_of
from memory.snapshots.selectors.causes import LinkLabel
from memory.snapshots.selectors.snapshots import ActionLabel, TierLabel
from memory.snapshots.sql.links import read_dependencies_among

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
