"""Walks along links from causes to effects, from an object of any kind."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import datetime
from functools import partial
from typing import Annotated, NotRequired, TypeVar

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.hub.direct_links import find_heads
from ctxhub.core.hub.refs import find_id
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import NotFound, shown
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_limit
from ctxhub.core.kit.listing import Listing, Row, make_cursor, preview, read_cursor, unknown_cursor
from ctxhub.core.links import SUMMARY_CHARACTERS, WHOLE_WHY, Asked, Head, Link, ObjectKey
from ctxhub.core.registry import all_nouns, find_noun, split_ref
from ctxhub.core.text.sentences import in_one_line
from ctxhub.toolbox.argument_types import About

Links = Mapping[ObjectKey, Sequence[Link]]
"""The links of each object."""


def distances(start: ObjectKey, links: Links) -> dict[ObjectKey, tuple[int, str]]:
    """The number of steps from `start` to each object, and the name of the last link; without the start.

    Counted along firm links where these alone lead there, else the fewest. Dependencies of snapshots are
    found automatically: by the fewest steps nearly all that an agent did in an hour would be one step away.
    """
    found = {**_walk(start, links, (False, True)), **_walk(start, links, (False,))}
    return {other: step for other, step in found.items() if other != start}


def _walk(start: ObjectKey, links: Links, loose: Sequence[bool]) -> dict[ObjectKey, tuple[int, str]]:
    found = {start: (0, "")}
    level, distance = [start], 0
    while level:
        distance += 1
        following: list[ObjectKey] = []
        for is_loose in loose:
            for here in level:
                for link in links.get(here, ()):
                    if link.there not in found and link.is_loose == is_loose:
                        found[link.there] = (distance, link.name)
                        following.append(link.there)
        level = following
    return found


T = TypeVar("T")

COLUMNS = ("id", "depth", "action_type", "summary", "link", "at", "why")
# Steps that are read one by one; what a noun reads at once is not counted.
DEPTH = 100
ROWS = 1_000
# Most objects of a walk, so that of the furthest the oldest are shown, and most links of one query.
MOST_READ = 2 * ROWS
MOST_LINKS = 10 * ROWS
CHAIN, IMPACT = "chain", "impact"


Finder = Callable[[int, ObjectKey], Listing | None]


class LinkedObject(TypedDict):
    id: Annotated[int | str, About("A snapshot's id; of anything else its ref.")]
    depth: int
    action_type: Annotated[str, About("What a snapshot was; of anything else its kind.")]
    summary: str
    link: Annotated[
        str | None, About("How it is linked with the one before, as these name it; null: the start.")
    ]
    at: Annotated[str | None, About("When it was made or last changed.", {"format": "date-time"})]
    why: NotRequired[
        Annotated[str | None, About("Its rationale or reason, in one line; null: none, or its summary.")]
    ]


@frozen
class _Found:
    """An object on a walk, the steps from the start to it, and the name of the last link."""

    key: ObjectKey
    head: Head
    distance: int
    link: str | None

    @property
    def order(self) -> tuple[int, datetime, ObjectKey]:
        """The nearest first, the older first among equals. No change of an object moves it."""
        return self.distance, self.head.made, self.key

    @property
    def order_from_root(self) -> tuple[int, datetime, ObjectKey]:
        return -self.distance, self.head.made, self.key

    def row(self, depth: int) -> list[object]:
        head = self.head
        why = preview(in_one_line(head.why)) if head.why != head.summary else ""
        at = format_time(head.at)
        return [head.name, depth, head.type, preview(head.summary), self.link, at, why or None]


@frozen
class _Place:
    """Where a page of a walk ended. `deepest`: the distance that the first page of a chain began with.

    It stays, so that what is found behind the root meanwhile leaves the depths of further pages as they are.
    """

    deepest: int
    distance: int
    made: datetime
    key: ObjectKey

    @property
    def order(self) -> tuple[int, datetime, ObjectKey]:
        return self.distance, self.made, self.key

    @property
    def order_from_root(self) -> tuple[int, datetime, ObjectKey]:
        return -self.distance, self.made, self.key


# -- From a ref: they raise InvalidInput for what is none, NotFound for what does not exist -------


def list_reasons(project_id: int, ref: str) -> Listing:
    """An object at depth 0, and at depth 1 what it directly follows from or is related to."""
    return _from_ref(project_id, ref, _find_reasons, shows_start=True)


def list_chain(project_id: int, ref: str, *, limit: int = ROWS, cursor: str | None = None) -> Listing:
    """What led to an object, up to its root, which comes first at depth 0; itself last."""
    find = partial(find_chain, limit=limit, cursor=cursor)
    return _from_ref(project_id, ref, find, cursor, shows_start=True)


def list_impact(project_id: int, ref: str, *, limit: int = ROWS, cursor: str | None = None) -> Listing:
    """What follows from an object, directly or through others; the nearest first."""
    find = partial(find_impact, limit=limit, cursor=cursor)
    return _from_ref(project_id, ref, find, cursor, shows_start=False)


def _from_ref(
    project_id: int, ref: str, find: Finder, cursor: str | None = None, *, shows_start: bool
) -> Listing:
    noun, name = split_ref(ref)
    found = None
    if noun.heads:
        row_id = find_id(project_id, noun, name)
        found = find(project_id, (noun.kind, row_id)) if row_id else None
    elif noun.open and noun.open(project_id, [name], False):
        if cursor:
            raise unknown_cursor()
        alone = [f"{noun.kind}:{name}", 0, noun.kind, "", None, None, None]
        found = Listing(*_shown([alone] if shows_start else []))
    if found is None:
        raise NotFound(f"There is no {noun.kind} {shown(name)}.", hint="search finds the refs of things.")
    return found


# -- From an object: None if it does not exist -----------------------------------------------------


def _find_reasons(project_id: int, start: ObjectKey) -> Listing | None:
    """See `list_reasons`."""
    walk = _Walk(project_id, start, to_causes=True)
    if (own := walk.find_start()) is None:
        return None
    walk.read_step()
    rows = [one.row(one.distance) for one in (own, *walk.nearest())]
    return Listing(*_shown(rows), extra=walk.more, lead=walk.why)


def find_chain(
    project_id: int, start: ObjectKey, limit: int = ROWS, cursor: str | None = None
) -> Listing | None:
    """See `list_chain`."""
    limit, place = clean_limit(limit, at_most=ROWS), _read_place(CHAIN, start, cursor)
    walk = _Walk(project_id, start, to_causes=True)
    walk.read_reach()
    if (own := walk.find_start()) is None:
        return None
    walk.read_all()
    found = [own, *walk.nearest(ROWS - 1)]
    deepest = place.deepest if place else found[-1].distance
    ordered = sorted(found, key=lambda one: one.order_from_root)
    left = [one for one in ordered if place is None or one.order_from_root > place.order_from_root]
    return _page(CHAIN, walk, left, limit, deepest, place)


def find_impact(
    project_id: int, start: ObjectKey, limit: int = ROWS, cursor: str | None = None
) -> Listing | None:
    """See `list_impact`."""
    limit, place = clean_limit(limit, at_most=ROWS), _read_place(IMPACT, start, cursor)
    walk = _Walk(project_id, start, to_causes=False)
    walk.read_reach()
    if walk.find_start() is None:
        return None
    walk.read_all()
    left = [one for one in walk.nearest() if place is None or one.order > place.order]
    return _page(IMPACT, walk, left, limit, 0, place)


def _page(
    way: str, walk: "_Walk", left: Sequence[_Found], limit: int, deepest: int, place: _Place | None
) -> Listing:
    """The first rows of what is left of a walk."""
    found = left[:limit]

    def cursor_after(count: int) -> str:
        last = found[count - 1]
        return make_cursor(_name(way, walk.start), deepest, last.distance, last.head.made, *last.key)

    rows = [one.row(deepest - one.distance if way == CHAIN else one.distance) for one in found]
    return Listing(
        *_shown(rows),
        next=cursor_after(limit) if len(left) > limit else None,
        extra=walk.more,
        cursor_after=cursor_after,
        lead=walk.why if place is None else {},
    )


def _shown(rows: Sequence[Row]) -> tuple[Sequence[str], Sequence[Row]]:
    """Columns and rows; without `why` if no row has one."""
    return (COLUMNS, rows) if any(row[-1] for row in rows) else (COLUMNS[:-1], [row[:-1] for row in rows])


def _read_place(way: str, start: ObjectKey, cursor: str | None) -> _Place | None:
    """Where the page before ended. Raises InvalidInput for a cursor of another walk."""
    if not cursor:
        return None
    name, deepest, distance, made, kind, row_id = read_cursor(cursor, str, int, int, datetime, str, int)
    if name != _name(way, start):
        raise unknown_cursor()
    return _Place(deepest, distance, made, (kind, row_id))


def _name(way: str, start: ObjectKey) -> str:
    kind, row_id = start
    return f"{way} {kind}:{row_id}"


class _Walk:
    """The links and objects that a walk has read, each step with one query for a noun."""

    def __init__(self, project_id: int, start: ObjectKey, *, to_causes: bool) -> None:
        self._project_id, self.start, self._to_causes = project_id, start, to_causes
        self._links: dict[ObjectKey, list[Link]] = defaultdict(list)
        self._beside: Sequence[Link] = ()
        self._heads: dict[ObjectKey, Head] = {}
        # The objects that a noun, by its kind, was asked about.
        self._asked: dict[str, set[ObjectKey]] = defaultdict(set)
        self._at_once: Set[ObjectKey] = frozenset()
        self._too_far: set[ObjectKey] = set()
        self._is_cut = False

    @property
    def more(self) -> Mapping[str, bool]:
        """The key of an answer that lacks some of the objects."""
        return {"more": True} if self._is_cut else {}

    @property
    def why(self) -> Mapping[str, str]:
        """The key of an answer that says why the start is as it is, whole; none if nobody said."""
        head = self._heads[self.start]
        if len(head.why) >= SUMMARY_CHARACTERS:
            head = find_heads(self._project_id, [self.start], why_characters=WHOLE_WHY).get(self.start, head)
        return {"why": head.why} if head.why else {}

    # -- Reading -----------------------------------------------------------------------------------

    def read_reach(self) -> None:
        """Read what the links of its own noun lead to from the start, if that takes one query."""
        kind, row_id = self.start
        noun = find_noun(kind)
        if noun and noun.links and noun.links.read_reach:
            reach = noun.links.read_reach(self._project_id, row_id, self._to_causes)
            self._heads |= reach.heads
            self._add(reach.links)
            self._asked[kind] |= reach.heads.keys()
            self._at_once = reach.heads.keys()

    def find_start(self) -> _Found | None:
        """The start; None if it does not exist."""
        self._read_heads([self.start])
        head = self._heads.get(self.start)
        return _Found(self.start, head, 0, None) if head else None

    def read_step(self) -> None:
        """Read what is next to the start."""
        self._read_links([self.start])
        self._read_beside()

    def read_all(self) -> None:
        """Read all that the walk comes to: firm links as far as they lead, whatever else is nearer."""
        self._read_links(list(self._heads))
        self._read_beside()
        self._follow(with_loose=True)
        self._follow(with_loose=False)

    def _follow(self, *, with_loose: bool) -> None:
        found, distance = {self.start}, 0
        level: Sequence[ObjectKey] = [self.start]
        while level:
            distance += 1
            self._read_links(level)
            links = (link for here in level for link in self._links.get(here, ()))
            new = dict.fromkeys(link.there for link in links if with_loose or not link.is_loose)
            level = self._cut([key for key in new if key not in found], MOST_READ - len(found))
            if distance > DEPTH:
                far = set(level) - self._at_once
                self._is_cut |= bool(far)
                self._too_far |= far
                level = [key for key in level if key not in far]
            found.update(level)
        self._too_far -= found

    def _read_links(self, keys: Sequence[ObjectKey]) -> None:
        for noun in all_nouns():
            new = [key for key in keys if key not in self._asked[noun.kind]] if noun.links else []
            if new and noun.links:
                self._asked[noun.kind].update(new)
                self._add(self._cut(noun.links.read(self._asking(new)), MOST_LINKS))

    def _read_beside(self) -> None:
        sources = [noun.links for noun in all_nouns() if noun.links]
        asked = self._asking([self.start])
        found = [link for source in sources if source.read_beside for link in source.read_beside(asked)]
        self._beside = self._cut(found, MOST_LINKS)

    def _read_heads(self, keys: Iterable[ObjectKey]) -> None:
        new = [key for key in keys if key not in self._heads]
        self._heads |= find_heads(self._project_id, new)

    def _asking(self, keys: Sequence[ObjectKey]) -> Asked:
        return Asked(self._project_id, keys, self._to_causes, MOST_LINKS + 1)

    def _add(self, links: Iterable[Link]) -> None:
        for link in links:
            self._links[link.here].append(link)

    def _cut(self, found: Sequence[T], at_most: int) -> Sequence[T]:
        self._is_cut |= len(found) > at_most
        return found[:at_most]

    # -- Results -----------------------------------------------------------------------------------

    def nearest(self, at_most: int = ROWS) -> list[_Found]:
        """The existing objects that the walk came to, the nearest first, without the start."""
        beside = {link.there: (1, link.name) for link in self._beside if link.there != self.start}
        steps = sorted({**beside, **distances(self.start, self._links)}.items(), key=lambda one: one[1][0])
        kept = dict(self._cut([one for one in steps if one[0] not in self._too_far], MOST_READ))
        self._read_heads(kept)
        found = [
            _Found(key, self._heads[key], distance, link)
            for key, (distance, link) in kept.items()
            if key in self._heads
        ]
        return list(self._cut(sorted(found, key=lambda one: one.order), at_most))
