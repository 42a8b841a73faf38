"""Reads the relationships of an object: its neighbourhood, and memories that may be related to it."""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Annotated, Any

# Pydantic builds schemas of it and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.hub.refs import ObjectKey, RefObject, find_objects, get_objects
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.kit.listing import Listing
from ctxhub.core.search.similarity import COMPARED_CHARACTERS, jaccard, long_words
from ctxhub.toolbox.argument_types import About, one_of
from memory.memories.queries import Score
from memory.memories.rows import LISTED, MEMORIES
from memory.memories.similar import CANDIDATES, KIND, find_likely, read_texts
from memory.relationships.models import Relation
from memory.relationships.rows import Edge, read_edges, read_edges_of, read_related

TITLE, CONTENT = 0.3, 0.7
INCLUDES, REFERENCES = 0.7, 0.5


@frozen
class WordSets:
    """The words of a title and of the content below it."""

    title: Set[str]
    content: Set[str]

    @classmethod
    def of(cls, title: str, content: str) -> "WordSets":
        return cls(long_words(title), long_words(content))


def similarity(one: WordSets, other: WordSets) -> float:
    """0..1: the Jaccard index of the titles, weighted TITLE, plus that of the contents, weighted CONTENT."""
    return TITLE * jaccard(one.title, other.title) + CONTENT * jaccard(one.content, other.content)


def relation_of(score: float) -> Relation:
    """The relation for a score. `depends_on` and `blocks` cannot be derived from words."""
    if score >= INCLUDES:
        return Relation.INCLUDES
    return Relation.REFERENCES if score >= REFERENCES else Relation.RELATED


def strength_of(score: float) -> int:
    return round(100 * score)


Name = int | str
"""The id of a memory, the ref of any other object."""

NODE_COLUMNS = ("id", "title", "type")
EDGE_COLUMNS = ("source", "target", "relation", "strength")
SUGGESTED_COLUMNS = ("target", "title", "relation", "strength", "score")

MAX_DEPTH = 5
# Most nodes and edges of an answer.
NODES = 200
EDGES = 1_000

RelationLabel = Annotated[str, one_of(*Relation.labels)]


class Relationship(TypedDict):
    source: Name
    target: Name
    relation: RelationLabel
    strength: int


class RelatedObject(TypedDict):
    id: Name
    title: str
    type: Annotated[str, About("A memory's type, or what kind of thing it is.")]


class SuggestedRelationship(TypedDict):
    target: int
    title: str
    relation: RelationLabel
    strength: int
    score: Score


@frozen
class Node:
    """An object of a neighbourhood. `type`: the type of a memory, the kind of any other object."""

    name: Name
    title: str
    type: str


@frozen
class Neighbourhood:
    """Objects by kind and id, the nearest first, and every relationship between them once.

    `is_cut`: there are more than NODES objects or EDGES relationships.
    """

    nodes: Mapping[ObjectKey, Node]
    edges: Sequence[Edge]
    is_cut: bool


@frozen
class Suggestion:
    """A memory that may be related to an object; `score` 0..1."""

    target: int
    title: str
    score: float

    @property
    def relation(self) -> Relation:
        return relation_of(self.score)

    @property
    def strength(self) -> int:
        return strength_of(self.score)


def get_ends(project_id: int, *refs: int | str) -> list[RefObject]:
    """The objects of refs or memory ids. Raises NotFound for an unknown one."""
    return get_objects(project_id, [ref_of(ref) for ref in refs])


def ref_of(value: int | str) -> str:
    """The ref of a memory id (a number or digits); other text is a ref already."""
    text = str(value).strip()
    return f"{KIND}:{text}" if text.isdecimal() else text


def name_of(obj: RefObject) -> Name:
    return obj.id if obj.kind == KIND else obj.ref


def find_relationships_of(project_id: int, keys: Sequence[ObjectKey], at_most: int) -> list[Edge]:
    """The relationships that begin or end at these objects, the strongest first."""
    return read_edges_of(project_id, keys, at_most)


# -- Neighbourhood ---------------------------------------------------------------------------------


def find_neighbourhood(project_id: int, start: ObjectKey, depth: int) -> Neighbourhood:
    """The objects at most `depth` relationships away, in either direction, by one query for each step."""
    seen = {start: None}
    edges: dict[int, Edge] = {}
    frontier, is_cut = [start], False
    for _ in range(depth):
        found = read_edges_of(project_id, frontier, EDGES + 1) if frontier else []
        is_cut |= len(found) > EDGES
        frontier = []
        for edge in found[:EDGES]:
            for key in (edge.source, edge.target):
                if key not in seen and len(seen) < NODES:
                    seen[key] = None
                    frontier.append(key)
            if edge.source in seen and edge.target in seen and len(edges) < EDGES:
                edges[edge.id] = edge
            else:
                is_cut |= edge.id not in edges
    nodes = read_nodes(project_id, seen)
    kept = [edge for edge in edges.values() if edge.source in nodes and edge.target in nodes]
    return Neighbourhood(nodes, kept, is_cut)


def read_nodes(project_id: int, keys: Iterable[ObjectKey]) -> dict[ObjectKey, Node]:
    """The nodes of existing objects, in the order of `keys`; memories are read without their content."""
    keys = list(keys)
    ids = [row_id for kind, row_id in keys if kind == KIND]
    memories = MEMORIES.read(project_id, ids, LISTED)
    nodes = {(KIND, row.id): Node(row.id, row.title, row.type_label) for row in memories.values()}
    for key, obj in find_objects(project_id, (key for key in keys if key[0] != KIND)).items():
        nodes[key] = Node(obj.ref, obj.title, obj.kind)
    return {key: nodes[key] for key in keys if key in nodes}


def node_listing(found: Neighbourhood) -> Listing:
    return Listing(NODE_COLUMNS, [[node.name, node.title, node.type] for node in found.nodes.values()])


def edge_listing(found: Neighbourhood) -> Listing:
    return Listing(EDGE_COLUMNS, [list(_relationship(edge, found.nodes).values()) for edge in found.edges])


def open_relationships(project_id: int, names: Sequence[str], full: bool) -> dict[str, dict[str, Any]]:
    """The items of refs as events name them (`relationship:7`); `full` makes no difference."""
    ids = {row_id: name for name in names if (row_id := read_id(name))}
    edges = read_edges(project_id, list(ids)) if ids else []
    nodes = read_nodes(project_id, {key for edge in edges for key in (edge.source, edge.target)})
    return {
        ids[edge.id]: dict(_relationship(edge, nodes))
        for edge in edges
        if edge.source in nodes and edge.target in nodes
    }


def _relationship(edge: Edge, nodes: Mapping[ObjectKey, Node]) -> Relationship:
    return Relationship(
        source=nodes[edge.source].name,
        target=nodes[edge.target].name,
        relation=edge.relation_label,
        strength=edge.strength,
    )


# -- Suggestions -----------------------------------------------------------------------------------


def suggest_relationships(
    project_id: int, obj: RefObject, *, threshold: float = 0.3, limit: int = 10
) -> list[Suggestion]:
    """Memories that are like an object and not related to it yet, best first."""
    title, content = _texts(project_id, obj)
    likely = find_likely(project_id, f"{title}\n{content}", max(CANDIDATES, 2 * limit) + 1)
    texts = [text for text in likely.texts if (KIND, text.id) != obj.place]
    related = read_related(project_id, obj.place, KIND, [text.id for text in texts])
    own = WordSets.of(title, content)
    found = [
        Suggestion(text.id, text.title, score)
        for text in texts
        if text.id not in related
        and (score := round(similarity(own, WordSets.of(text.title, text.content)), 4))
        and score >= threshold
    ]
    return sorted(found, key=lambda one: (-one.score, -one.target))[:limit]


def suggestion_listing(found: Sequence[Suggestion]) -> Listing:
    rows = [[s.target, s.title, str(s.relation.label), s.strength, round(s.score, 2)] for s in found]
    return Listing(SUGGESTED_COLUMNS, rows)


def _texts(project_id: int, obj: RefObject) -> tuple[str, str]:
    """Title and content."""
    if obj.kind == KIND:
        # The body of a memory's document has more than its content.
        for text in read_texts(project_id, [obj.id], COMPARED_CHARACTERS):
            return text.title, text.content
    return obj.document.title, obj.document.body
