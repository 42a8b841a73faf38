"""Finds the objects that bear on paths, and those that are stale."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from posixpath import commonpath

from ctxhub.core.kit import sql
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.kit.pages import Condition
from ctxhub.core.links import ObjectKey
from ctxhub.core.paths.bearing import (
    EVERYWHERE,
    bearing_patterns,
    bears_on,
    head_of,
    heads_above,
    range_below,
)
from ctxhub.core.paths.case import Compared, compared_in
from ctxhub.core.paths.counts import (
    StaleKind,
    StaleObject,
    StaleShare,
    read_patterns,
    read_stale,
    read_stale_kinds,
)
from ctxhub.core.registry import Noun, all_nouns
from ctxhub.core.text.glob_syntax import is_exempting
from ctxhub.core.text.globs import is_glob
from ctxhub.core.text.plurals import counted

RANGES = 50


@frozen
class Bearing:
    """An object, and the pattern by which it bears on one of the paths."""

    kind: str
    object_id: int
    pattern: str

    @property
    def key(self) -> ObjectKey:
        return self.kind, self.object_id


@frozen
class Stale:
    """How many changes of the files of an object count as not looked at, and when the first was."""

    count: int
    since: datetime

    def __str__(self) -> str:
        return f"stale: {counted(self.count, 'changes')} since {format_time(self.since)[:10]}"


@frozen
class Staleness:
    """The stale ones of some objects, and how many are stale in their project, if one of them is."""

    objects: Mapping[ObjectKey, Stale] = field(default_factory=dict)
    share: StaleShare = StaleShare()

    @property
    def lowered(self) -> Mapping[ObjectKey, Stale]:
        """Those that rank lower: none where so much is stale that it does not tell objects apart."""
        return {} if self.share.is_large else self.objects


def nouns_with_paths() -> Mapping[str, Noun]:
    """By kind."""
    return {noun.kind: noun for noun in all_nouns() if noun.history and noun.history.has_paths}


def find_stale(project_id: int, keys: Iterable[ObjectKey]) -> dict[ObjectKey, Stale]:
    """Those of the objects that are stale, in one query; none if no object of these kinds has paths."""
    return {each[:2]: Stale(each.changes, each.since) for each in _read_stale(project_id, keys)}


def find_staleness(project_id: int, keys: Iterable[ObjectKey]) -> Staleness:
    """As `find_stale`, also in one query, with the share of the project."""
    found = _read_stale(project_id, keys, with_share=True)
    stale = {each[:2]: Stale(each.changes, each.since) for each in found}
    return Staleness(stale, found[0].share if found else StaleShare())


def _read_stale(project_id: int, keys: Iterable[ObjectKey], *, with_share: bool = False) -> list[StaleObject]:
    known = nouns_with_paths()
    asked = {key for key in keys if key[0] in known}
    if not asked:
        return []
    kinds, ids = {kind for kind, _ in asked}, {row_id for _, row_id in asked}
    found = read_stale(project_id, sorted(kinds), sorted(ids), with_share=with_share)
    return [each for each in found if each[:2] in asked]


@frozen
class StaleProject:
    """The stale objects of a project: how many of each kind, and since when.

    `pattern`, "" for all files, and `changes`: of the object that is stale longest.
    """

    project_id: int
    kinds: Mapping[str, int]
    since: datetime
    pattern: str
    changes: int


def find_stale_projects(project_ids: Sequence[int]) -> list[StaleProject]:
    """The projects with stale objects, those that are stale longest first; in one query."""
    by_project: dict[int, list[StaleKind]] = {}
    for found in read_stale_kinds(project_ids):
        by_project.setdefault(found.project_id, []).append(found)
    projects = [
        StaleProject(
            project_id,
            {found.kind: found.objects for found in kinds},
            kinds[0].since,
            kinds[0].pattern,
            kinds[0].changes,
        )
        for project_id, kinds in by_project.items()
    ]
    return sorted(projects, key=lambda stale: stale.since)


def find_bearings(
    project_id: int, paths: Sequence[str], kinds: Sequence[str], compared: Compared | None = None
) -> list[Bearing]:
    """The patterns of these kinds that match one of the paths, or overlap it if it is a glob.

    Not those of an object that exempts the paths, as `core/paths/bearing.py` decides.
    """
    found = find_candidates(project_id, paths, kinds)
    compared = compared or compared_in(project_id)
    wanted = list(map(compared, paths))
    known: dict[str, bool] = {}
    for each in found:
        if each.pattern not in known:
            pattern = compared(each.pattern)
            known[each.pattern] = any(bears_on(pattern, path) for path in wanted)
    bearing = [each for each in found if known[each.pattern]]
    if not any(map(is_exempting, known)):
        return bearing
    by_object = {
        key: bearing_patterns(list(map(compared, patterns)), wanted)
        for key, patterns in patterns_that_exempt(found).items()
    }
    return [
        each for each in bearing if each.key not in by_object or compared(each.pattern) in by_object[each.key]
    ]


def patterns_that_exempt(found: Iterable[Bearing]) -> Mapping[ObjectKey, Sequence[str]]:
    """The patterns, in their order, of those of the objects that have one that exempts."""
    patterns: dict[ObjectKey, list[str]] = {}
    for each in found:
        patterns.setdefault(each.key, []).append(each.pattern)
    return {key: some for key, some in patterns.items() if any(map(is_exempting, some))}


def find_candidates(project_id: int, paths: Sequence[str], kinds: Sequence[str]) -> list[Bearing]:
    """The patterns of these kinds whose heads allow them to match one of the paths; an object's in order."""
    where, values = _candidates(paths)
    among, kind_values = sql.among("kind", kinds)
    found = sql.rows(
        f"SELECT kind, object_id, pattern FROM core_pathpattern"
        f" WHERE project_id = %s AND {among} AND {where} ORDER BY id",
        [project_id, *kind_values, *values],
    )
    return [Bearing(*row) for row in found]


def patterns_of_ref(project_id: int, ref: str) -> Sequence[str]:
    """The globs of files that the object with this ref bears on; none if it is no such object."""
    kind, _, name = ref.strip().partition(":")
    noun = nouns_with_paths().get(kind)
    if noun is None or not name:
        return ()
    row_id = noun.ids_of(project_id, [name]).get(name) if noun.ids_of else read_id(name)
    stored = read_patterns(project_id, kind, [row_id]).get(row_id, ()) if row_id else ()
    return [pattern for _, pattern, _ in stored if pattern != EVERYWHERE]


def _candidates(paths: Sequence[str]) -> Condition:
    """The patterns whose heads allow them to match one of the paths."""
    heads = {head for path in paths for head in heads_above(head_of(path))}
    among, values = sql.among("head", sorted(heads))
    conditions, bounds = [among], list(values)
    for low, high in _ranges(paths):
        conditions.append("(head > %s AND head < %s)")
        bounds += [low, high]
    return f"({' OR '.join(conditions)})", bounds


def _ranges(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """A glob overlaps patterns with longer heads, too."""
    heads = sorted({head_of(path) for path in paths if is_glob(path)})
    if len(heads) > RANGES:
        # Of many globs with braces one range, as the engines compare every row with each.
        heads = [commonpath(heads)]
    for head in heads:
        yield range_below(head) if head else ("", "\U0010ffff")
