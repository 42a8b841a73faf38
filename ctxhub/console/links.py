"""The links of an object on its page: a drawing of what it is directly linked with, and a table."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ctxhub.console import refs
from ctxhub.console.graphs.layout import SPOKEN, Drawing, tall, wide
from ctxhub.console.graphs.trees import Branch, Graph, GraphLink, Node, Tie
from ctxhub.console.row_panels import RowPanel
from ctxhub.console.search_hits import display_of
from ctxhub.core.hub.direct_links import DirectLinks, Neighbour, find_direct_links
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.listing import preview
from ctxhub.core.links import Head, ObjectKey
from ctxhub.core.registry import find_noun
from ctxhub.core.text.sentences import in_one_line

SECTION = "links"
# On each side.
DRAWN, LISTED = 12, 25


@frozen
class OwnGraph:
    """The links of `noun` have a graph of their own on the pages of a kind, in the section `section`."""

    noun: str
    section: str


# By kind. Apps add theirs.
own_graphs: dict[str, OwnGraph] = {}


@frozen
class Sentence:
    """A link as seen from the object of the page."""

    words: str
    other: Node
    at: datetime
    why: str


@frozen
class Links:
    """`not_drawn` and `not_listed` count neighbours; `is_cut`: there are even more."""

    kind: str
    drawings: Sequence[Drawing]
    sentences: Sequence[Sentence]
    not_drawn: int
    not_listed: int
    is_cut: bool


def links_panel(kind: str, row: Any) -> RowPanel | None:
    """None for a kind that cannot be linked, and for an object without links."""
    noun = find_noun(kind)
    if noun is None or noun.heads is None:
        return None
    key: ObjectKey = (kind, row.pk)
    without = [own_graphs[kind].noun] if kind in own_graphs else []
    found = find_direct_links(row.project_id, key, without=without)
    return RowPanel("ctxhub/links.html", {"links": _links(key, found)}) if found else None


def section_of(kind: str, noun: str = "") -> str:
    """The section of the pages of a kind that shows the links of a noun."""
    own = own_graphs.get(kind)
    return own.section if own and own.noun == noun else SECTION


def node_of(key: ObjectKey, head: Head, section: str = SECTION) -> Node:
    """The title is the name in its ref, or, if that is only the id, how its text begins."""
    kind, row_id = key
    display, ref = display_of(kind), head.refs[0]
    name, text = ref.partition(":")[2], " ".join(head.summary.split())
    title = (text or ref) if name == str(row_id) else name
    label = display.name if head.type == kind else f"{display.name}, {head.type.replace('_', ' ')}"
    url = refs.page_of_row(kind, row_id)
    return Node(ref, title, label, display.icon, f"{url}#{section}" if url else None)


def _links(key: ObjectKey, found: DirectLinks) -> Links:
    sides = (found.causes, found.effects)
    nodes = {key: node_of(key, found.head)}
    for each in (*found.causes, *found.effects):
        nodes[each.key] = node_of(each.key, each.head, section_of(each.key[0], each.edges[0].noun))
    left, right = ([_branch(each, nodes) for each in side[:DRAWN]] for side in sides)
    graph = Graph(nodes[key], [*left, *right])
    return Links(
        kind=display_of(key[0]).name,
        drawings=[wide(graph, left, right, SPOKEN), tall(graph)],
        sentences=[
            Sentence(edge.words_from(key), nodes[each.key], each.head.at, _why(each.head))
            for side in sides
            for each in side[:LISTED]
            for edge in each.edges
        ],
        not_drawn=sum(len(side[DRAWN:]) for side in sides),
        not_listed=sum(len(side[LISTED:]) for side in sides),
        is_cut=found.is_cut,
    )


def _why(head: Head) -> str:
    """Why the other one is as it is, in one line; "" if that is what its title says."""
    return preview(in_one_line(head.why)) if head.why != head.summary else ""


def _branch(neighbour: Neighbour, nodes: Mapping[ObjectKey, Node]) -> Branch:
    """Lines lead from the holder of a link, so that each reads as a sentence."""
    links = [
        GraphLink(nodes[edge.holder].ref, nodes[edge.other].ref, edge.name, verb=edge.words.forwards)
        for edge in neighbour.edges
    ]
    return Branch(nodes[neighbour.key], Tie(links))
