"""What a thing has to do with others: what is around it, and what may belong there."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctxhub.core.hub.selectors.refs import ObjectKey, RefObject, find_objects, get_objects
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.kit.listing import Listing
from memory.memories.models.relationship import Relation
from memory.memories.rows.memories import LISTED, MEMORIES
from memory.memories.rows.relationships import Edge, read_edges, read_edges_of, read_related
from memory.memories.search.relations import Said, relation_of, similarity, strength_of
from memory.memories.search.similarity import COMPARED_CHARACTERS
from memory.memories.selectors.similar import CANDIDATES, find_likely
from memory.memories.sql.texts import KIND, read_texts

Name = int | str
"""A memory by its id, everything else by its ref."""

NODE_COLUMNS = ("id", "title", "type")
EDGE_COLUMNS = ("source", "target", "relation", "strength")
SUGGESTED_COLUMNS = ("target", "title", "relation", "strength", "score")

MAX_DEPTH = 5
# What an answer shows of what is around a thing.
NODES = 200
EDGES = 1_000


@dataclass(frozen=True, slots=True)
class Node:
    """A thing as a walk names it. `type`: what kind of memory, or of thing, it is."""

    name: Name
    title: str
    type: str


@dataclass(frozen=True, slots=True)
class Walk:
    """Things by their place, the nearest first, and every relationship between them once.

    `is_cut`: there are more of them than NODES, or EDGES.
    """

    nodes: Mapping[ObjectKey, Node]
    edges: Sequence[Edge]
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A memory that a thing may have to do with; `score` 0..1."""

    target: int
    title: str
    score: float

    @property
    def relation(self) -> Relation:
        return relation_of(self.score)

    @property
    def strength(self) -> int:
        return strength_of(self.score)


def get_ends(project_id: int, *said: int | str) -> list[RefObject]:
    """The things of refs or of memories' ids, or NotFound."""
    return get_objects(project_id, [ref_of(each) for each in said])


def ref_of(said: int | str) -> str:
    """A number, however it is written, is a memory's id."""
    text = str(said).strip()
    return f"{KIND}:{text}" if text.isdecimal() else text


def name_of(thing: RefObject) -> Name:
    return thing.id if thing.kind == KIND else thing.ref


def find_relationships_of(project_id: int, places: Sequence[ObjectKey], at_most: int) -> list[Edge]:
    """Those that begin or end at these things, the strongest first."""
    return read_edges_of(project_id, places, at_most)


# -- What is around a thing ------------------------------------------------------------------------


def walk(project_id: int, start: ObjectKey, depth: int) -> Walk:
    """What is at most `depth` relationships away, in either direction: one reading for each step."""
    seen = {start: None}
    edges: dict[int, Edge] = {}
    frontier, is_cut = [start], False
    for _ in range(depth):
        found = read_edges_of(project_id, frontier, EDGES + 1) if frontier else []
        is_cut |= len(found) > EDGES
        frontier = []
        for edge in found[:EDGES]:
            for place in (edge.source, edge.target):
                if place not in seen and len(seen) < NODES:
                    seen[place] = None
                    frontier.append(place)
            if edge.source in seen and edge.target in seen and len(edges) < EDGES:
                edges[edge.id] = edge
            else:
                is_cut |= edge.id not in edges
    nodes = read_nodes(project_id, seen)
    kept = [edge for edge in edges.values() if edge.source in nodes and edge.target in nodes]
    return Walk(nodes, kept, is_cut)


def read_nodes(project_id: int, places: Iterable[ObjectKey]) -> dict[ObjectKey, Node]:
    """In the order of their places; of memories without their content."""
    places = list(places)
    ids = [row_id for kind, row_id in places if kind == KIND]
    memories = MEMORIES.read(project_id, ids, LISTED)
    nodes = {(KIND, row.id): Node(row.id, row.title, row.type_label) for row in memories.values()}
    for place, thing in find_objects(project_id, (p for p in places if p[0] != KIND)).items():
        nodes[place] = Node(thing.ref, thing.title, thing.kind)
    return {place: nodes[place] for place in places if place in nodes}


def node_listing(walk: Walk) -> Listing:
    rows = [[node.name, node.title, node.type] for node in walk.nodes.values()]
    return Listing(NODE_COLUMNS, rows, extra={"more": True} if walk.is_cut else {})


def edge_listing(walk: Walk) -> Listing:
    rows = [
        [walk.nodes[e.source].name, walk.nodes[e.target].name, e.relation_label, e.strength]
        for e in walk.edges
    ]
    return Listing(EDGE_COLUMNS, rows)


def open_relationships(project_id: int, names: Sequence[str], full: bool) -> dict[str, dict[str, Any]]:
    """The items behind refs (`relationship:7`), as events name them; there is no shorter form."""
    ids = {row_id: name for name in names if (row_id := read_id(name))}
    edges = read_edges(project_id, list(ids)) if ids else []
    nodes = read_nodes(project_id, {place for edge in edges for place in (edge.source, edge.target)})
    return {
        ids[edge.id]: {
            "source": nodes[edge.source].name,
            "target": nodes[edge.target].name,
            "relation": edge.relation_label,
            "strength": edge.strength,
        }
        for edge in edges
        if edge.source in nodes and edge.target in nodes
    }


# -- What may belong there -------------------------------------------------------------------------


def suggest_relationships(
    project_id: int, thing: RefObject, *, threshold: float = 0.3, limit: int = 10
) -> list[Suggestion]:
    """Memories that have much in common with a thing and nothing to do with it yet, best first."""
    title, content = _texts(project_id, thing)
    likely = find_likely(project_id, f"{title}\n{content}", max(CANDIDATES, 2 * limit) + 1)
    texts = [text for text in likely.texts if (KIND, text.id) != thing.place]
    related = read_related(project_id, thing.place, KIND, [text.id for text in texts])
    own = Said.of(title, content)
    found = [
        Suggestion(text.id, text.title, score)
        for text in texts
        if text.id not in related
        and (score := round(similarity(own, Said.of(text.title, text.content)), 4))
        and score >= threshold
    ]
    return sorted(found, key=lambda one: (-one.score, -one.target))[:limit]


def suggestion_listing(found: Sequence[Suggestion]) -> Listing:
    rows = [[s.target, s.title, str(s.relation.label), s.strength, round(s.score, 2)] for s in found]
    return Listing(SUGGESTED_COLUMNS, rows)


def _texts(project_id: int, thing: RefObject) -> tuple[str, str]:
    if thing.kind == KIND:
        # The body of its document has more than its content.
        for text in read_texts(project_id, [thing.id], COMPARED_CHARACTERS):
            return text.title, text.content
    return thing.document.title, thing.document.body
