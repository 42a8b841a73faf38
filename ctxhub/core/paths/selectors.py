"""Finds the objects that bear on paths, and those that are stale."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from ctxhub.core.kit import sql
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.kit.pages import Condition
from ctxhub.core.links import ObjectKey
from ctxhub.core.paths.heads import head_of, heads_above, range_below
from ctxhub.core.paths.sql import StaleKind, read_patterns, read_stale, read_stale_kinds
from ctxhub.core.registry import Noun, all_nouns
from ctxhub.core.text.globs import is_glob, matches, overlap
from ctxhub.core.text.plurals import counted

EVERYWHERE = ""
"""The pattern of an object that bears on every path."""


@frozen
class Bearing:
    """An object, and the pattern by which it bears on one of the paths."""

    kind: str
    object_id: int
    pattern: str


@frozen
class Stale:
    """How many changes of the files of an object were not looked at, and when the first was."""

    count: int
    since: datetime

    def __str__(self) -> str:
        return f"stale: {counted(self.count, 'changes')} since {format_time(self.since)[:10]}"


def nouns_with_paths() -> Mapping[str, Noun]:
    """By kind."""
    return {noun.kind: noun for noun in all_nouns() if noun.history and noun.history.has_paths}


def find_stale(project_id: int, keys: Iterable[ObjectKey]) -> dict[ObjectKey, Stale]:
    """Those of the objects that are stale, in one query; none if no object of these kinds has paths."""
    known = nouns_with_paths()
    asked = {key for key in keys if key[0] in known}
    if not asked:
        return {}
    found = read_stale(
        project_id, sorted({kind for kind, _ in asked}), sorted({row_id for _, row_id in asked})
    )
    return {
        (kind, row_id): Stale(count, since) for kind, row_id, count, since in found if (kind, row_id) in asked
    }


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


def find_bearings(project_id: int, paths: Sequence[str], kinds: Sequence[str]) -> list[Bearing]:
    """The patterns of these kinds that match one of the paths, or overlap it if it is a glob."""
    found = find_candidates(project_id, paths, kinds)
    known: dict[str, bool] = {}
    for each in found:
        if each.pattern not in known:
            known[each.pattern] = any(bears_on(each.pattern, path) for path in paths)
    return [each for each in found if known[each.pattern]]


def find_candidates(project_id: int, paths: Sequence[str], kinds: Sequence[str]) -> list[Bearing]:
    """The patterns of these kinds whose heads allow them to match one of the paths."""
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


def bears_on(pattern: str, path: str) -> bool:
    """Whether a pattern matches a path, or overlaps it if the path is a glob itself."""
    if pattern in (EVERYWHERE, path):
        return True
    if is_glob(path):
        return overlap(pattern, path)
    folder = pattern[:-2] if pattern.endswith("/**") else pattern
    if folder.endswith("/") and not is_glob(folder[:-1]):
        # Also the folder itself, as for leases: a gap may be empty.
        return path.startswith(folder) or path == folder[:-1]
    return is_glob(pattern) and matches(pattern, path)


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
    for head in sorted({head_of(path) for path in paths if is_glob(path)}):
        yield range_below(head) if head else ("", "\U0010ffff")
