"""Reads what an object is directly linked with, in both directions, as sentences."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime

from ctxhub.core.hub.refs import find_id
from ctxhub.core.kit.errors import NotFound, shown, unknown_word
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.links import (
    SUMMARY_CHARACTERS,
    Asked,
    Directions,
    Head,
    Holder,
    Link,
    LinkSource,
    ObjectKey,
    Words,
)
from ctxhub.core.registry import Noun, all_nouns, find_noun, split_ref


def link_cause(
    *, project_id: int, agent_id: int | None, effect: ObjectKey, cause: ObjectKey, head: Head, at: datetime
) -> None:
    """Store that an object follows from another, with `head`, in the open transaction; call it last."""
    refs = (f"{effect[0]}:{effect[1]}", head.refs[0])
    for noun in all_nouns():
        if noun.links and noun.links.write_cause:
            noun.links.write_cause(
                project_id=project_id, agent_id=agent_id, effect=effect, cause=cause, refs=refs, at=at
            )


def find_heads(
    project_id: int, keys: Collection[ObjectKey], *, why_characters: int = SUMMARY_CHARACTERS
) -> Mapping[ObjectKey, Head]:
    """Those of existing objects, with one query for each kind."""
    ids: dict[str, list[int]] = defaultdict(list)
    for kind, row_id in sorted(keys):
        ids[kind].append(row_id)
    return {
        (kind, row_id): head
        for kind, some in ids.items()
        if (noun := find_noun(kind)) and noun.heads
        for row_id, head in noun.heads(project_id, some, why_characters=why_characters).items()
    }


def get_head(project_id: int, ref: str, argument: str) -> tuple[ObjectKey, Head]:
    """The object of a ref that can be linked. Raises NotFound or InvalidInput, which name the argument."""
    noun, name = split_ref(ref)
    if noun.heads is None:
        raise unknown_word(argument, noun.kind, [each.kind for each in all_nouns() if each.heads])
    if row_id := find_id(project_id, noun, name):
        key = (noun.kind, row_id)
        if head := find_heads(project_id, [key]).get(key):
            return key, head
    raise NotFound(
        f"{argument}: there is no {noun.kind} {shown(name)}.", hint="search finds the refs of things."
    )


# Most links of one noun in one direction.
MOST_LINKS = 200


@frozen
class Edge:
    """A link: `words` say what `holder` has to do with `other`. `noun`: the kind that registered it."""

    holder: ObjectKey
    other: ObjectKey
    name: str
    words: Words
    noun: str

    def words_from(self, key: ObjectKey) -> str:
        return self.words.forwards if key == self.holder else self.words.backwards


@frozen
class Neighbour:
    key: ObjectKey
    head: Head
    edges: Sequence[Edge]


@frozen
class DirectLinks:
    """An object with its causes and its effects, each the newest first; what is both is a cause.

    `is_cut`: there are more than were read.
    """

    head: Head
    causes: Sequence[Neighbour]
    effects: Sequence[Neighbour]
    is_cut: bool


_Edges = dict[ObjectKey, dict[Edge, None]]
"""The links with each other object."""


def find_direct_links(
    project_id: int, start: ObjectKey, *, without: Collection[str] = ()
) -> DirectLinks | None:
    """One or two queries for each noun, and one for the heads of each kind. None: it has none.

    `without`: the nouns whose links are not read.
    """
    causes: _Edges = defaultdict(dict)
    effects: _Edges = defaultdict(dict)
    is_cut = False
    for noun in all_nouns():
        if noun.links and noun.kind not in without:
            found = _read(noun.links, project_id, start)
            is_cut |= any(len(links) > MOST_LINKS for links in found)
            _add(causes, noun, start, found.causes, to_causes=True)
            _add(effects, noun, start, found.effects, to_causes=False)
    keys = {*causes, *effects}
    heads = find_heads(project_id, {start, *keys}) if keys else {}
    if start not in heads:
        return None
    for both in causes.keys() & effects.keys():
        causes[both] |= effects.pop(both)
    before, after = _neighbours(causes, heads), _neighbours(effects, heads)
    return DirectLinks(heads[start], before, after, is_cut) if before or after else None


def _read(source: LinkSource, project_id: int, start: ObjectKey) -> Directions:
    """One link more than are shown, in each direction."""
    if source.read_direct:
        return source.read_direct(project_id, start, MOST_LINKS + 1)
    return Directions(
        *(source.read(Asked(project_id, [start], way, MOST_LINKS + 1)) for way in (True, False))
    )


def _add(edges: _Edges, noun: Noun, start: ObjectKey, links: Sequence[Link], *, to_causes: bool) -> None:
    """Without repetitions."""
    for link in links[:MOST_LINKS]:
        if link.there != start:
            edges[link.there][_edge(noun, link, to_causes=to_causes)] = None


def _edge(noun: Noun, link: Link, *, to_causes: bool) -> Edge:
    effect, cause = (link.here, link.there) if to_causes else (link.there, link.here)
    if link.holder is Holder.BOTH:
        holder, other = link.here, link.there
    else:
        holder, other = (effect, cause) if link.holder is Holder.EFFECT else (cause, effect)
    assert noun.links is not None
    plain = link.name.replace("_", " ")
    return Edge(holder, other, link.name, noun.links.words.get(link.name, Words(plain, plain)), noun.kind)


def _neighbours(edges: _Edges, heads: Mapping[ObjectKey, Head]) -> Sequence[Neighbour]:
    def found() -> Iterator[Neighbour]:
        for key, some in edges.items():
            if key in heads:
                yield Neighbour(key, heads[key], list(some))

    return sorted(found(), key=lambda one: (one.head.at, one.key), reverse=True)
