"""Folds the paths of leases into a tree: a folder that several paths share is one line."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from ctxhub.core.kit.frozen import frozen
from tracking.board.found import Held

MOST_DEPTH = 5
PATHS_OF_LEASE = 12
LINES_SHOWN = 800


@frozen
class Line:
    """A line of the tree: a path of a lease (`held`), or a folder of several (`leases`).

    `text`: the path below the folder around it. A line with `is_end` closes the folder.
    """

    text: str
    held: Held | None = None
    leases: Sequence[Held] = ()
    is_end: bool = False


@frozen
class _Path:
    parts: Sequence[str]
    held: Held


def fold(leases: Sequence[Held]) -> tuple[list[Line], int]:
    """The lines of the tree, from above, and the number of leases that have no line: 800 paths are shown.

    Of a lease 12 paths are.
    """
    paths: list[_Path] = []
    left_out = 0
    for held in leases:
        if len(paths) < LINES_SHOWN:
            paths += [_Path(path.split("/"), held) for path in held.paths[:PATHS_OF_LEASE]]
        else:
            left_out += 1
    paths.sort(key=lambda path: ([part.casefold() for part in path.parts], path.parts, path.held.lease.pk))
    return list(_lines(paths, 0, 0)), left_out


def _lines(paths: Sequence[_Path], start: int, depth: int) -> Iterator[Line]:
    """`paths`: sorted, with equal segments before `start`."""
    for folder, group in groupby(paths, key=_folder_at(start)):
        same = list(group)
        if folder is None or len(same) == 1 or depth == MOST_DEPTH:
            yield from (Line("/".join(path.parts[start:]), path.held) for path in same)
            continue
        end = _shared(same, start)
        leases = list({path.held.lease.pk: path.held for path in same}.values())
        yield Line("/".join(same[0].parts[start:end]) + "/", leases=leases)
        yield from _lines(same, end, depth + 1)
        yield Line("", is_end=True)


def _folder_at(start: int) -> Callable[[_Path], str | None]:
    """The name of a path's folder at this segment; None if its last segment is there."""
    return lambda path: path.parts[start] if len(path.parts) > start + 1 else None


def _shared(paths: Sequence[_Path], start: int) -> int:
    """Before which segment the folders of all paths are equal."""
    end = start + 1
    shortest = min(len(path.parts) - 1 for path in paths)
    while end < shortest and len({path.parts[end] for path in paths}) == 1:
        end += 1
    return end
