"""Searches the lines of files for a regular expression, in the allowed folders and within a time limit."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from ctxhub.core.accounts.models import Project
from ctxhub.core.kit.errors import NotFound, shown, shown_all
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_from_to, clean_limit, clean_query
from ctxhub.core.kit.listing import COUNTED_TO, Listing, make_cursor, read_cursor, total_of
from ctxhub.core.paths.reading import reader_in
from ctxhub.core.text import globs
from ctxhub.core.text.patterns import check_pattern, compiled
from memory.grep.roots import Budget, PathFilter, Root, read_texts, roots_of

COLUMNS = ("file", "line", "text", "before", "after")
MOST_CONTEXT = 5
SHOWN_CHARACTERS = 300
# Characters of a line that are searched: RE2 cannot be interrupted between two checks of the clock.
LONGEST_LINE = 64 * 1024
BLOCK_CHARACTERS = 32 * 1024
PROGRAM_SIZE = 1_000
# More than can be read in the time there is.
MOST_LINES = 10**9
# Syntax with another meaning in a block of lines than in one line: each line is searched by itself.
_NEEDS_LINES = re.compile(r"\\[Az]|\(\?[a-zA-Z]*-")


@frozen
class Pattern:
    """`line` finds a match in a line; `block`, if set, tells whether any line of a block matches."""

    line: Any
    block: Any


@frozen
class SearchPath:
    """A path below a root to search, and the prefix of its files in answers."""

    root: Root
    prefix: str
    path: str


@frozen
class Hit:
    """`lines`: all lines of the file; `index`: the matching one; `at`: the offset of the match in it."""

    file: str
    lines: Sequence[str]
    index: int
    at: int


def grep(
    project: Project,
    pattern: str,
    *,
    path: str | None = None,
    glob: str | None = None,
    ignore_case: bool = False,
    context_lines: int = 0,
    limit: int = 50,
    cursor: str | None = None,
) -> Listing:
    """Rows in the order of files and lines. `truncated`: not everything was searched.

    `glob` without a slash matches a file's name in any folder. A cursor counts the lines before.
    """
    start = min(read_cursor(cursor, int)[0], MOST_LINES) if cursor else 0
    clean_query(pattern, "pattern")
    context_lines = clean_from_to(context_lines, "context_lines", 0, MOST_CONTEXT)
    limit = clean_limit(limit)
    check_pattern(pattern, "pattern", ignore_case=ignore_case, at_most=PROGRAM_SIZE)
    reader = reader_in(project.pk)
    accepts = _path_filter(reader.asked(glob, "glob") if glob else ())
    search_paths = _search_paths(roots_of(project), reader.path(path) if path else "")
    prepared, budget = _prepare(pattern, ignore_case), Budget()
    hits = (hit for search_path in search_paths for hit in _hits(search_path, accepts, prepared, budget))
    rows: list[tuple[Any, ...]] = []
    files: set[str] = set()
    total = 0
    end = start + limit
    for total, hit in enumerate(islice(hits, max(COUNTED_TO, end) + 1), start=1):
        files.add(hit.file)
        if start < total <= end:
            rows.append(_shown(hit, context_lines))
    extra = {**total_of(total), "files": len(files), **({"truncated": True} if budget.is_partial else {})}
    return Listing(
        COLUMNS,
        rows,
        next=make_cursor(end) if total > end else None,
        extra=extra,
        cursor_after=lambda count: make_cursor(start + count),
    )


# -- Where to look ---------------------------------------------------------------------------------


def _search_paths(roots: Sequence[Root], path: str) -> list[SearchPath]:
    """The paths to search. With several roots, the first part of `path` names the root."""
    path = "/".join(part for part in path.split("/") if part not in ("", "."))
    if len(roots) == 1:
        return [SearchPath(roots[0], "", path)]
    name, _, below = path.partition("/")
    found = [SearchPath(root, f"{root.name}/", below) for root in roots if name in ("", root.name)]
    if not found:
        raise NotFound(
            f"There is no folder {shown(name)} that may be searched.",
            hint=f"A path begins with one of: {shown_all(root.name for root in roots)}.",
        )
    return found


def _path_filter(wanted: Sequence[str]) -> PathFilter:
    """Accepts the files that one of the globs matches, and folders that such files may lie in."""
    filters = list(map(_glob_filter, wanted))
    return lambda *place: not filters or any(accepts(*place) for accepts in filters)


def _glob_filter(glob: str) -> PathFilter:
    start = globs.literal_start(glob) if "/" in glob else ""

    def accepts(path: str, is_folder: bool) -> bool:
        if is_folder:
            return path.startswith(start) or start.startswith(path)
        return globs.matches(glob, path if "/" in glob else path.rpartition("/")[2])

    return accepts


# -- Matching --------------------------------------------------------------------------------------


def _prepare(pattern: str, ignore_case: bool) -> Pattern:
    block = None
    if not _NEEDS_LINES.search(pattern):
        block = compiled(f"(?m){pattern}", ignore_case=ignore_case)
    return Pattern(compiled(pattern, ignore_case=ignore_case), block)


def _hits(search_path: SearchPath, accepts: PathFilter, pattern: Pattern, budget: Budget) -> Iterator[Hit]:
    for path, text in read_texts(search_path.root, search_path.path, accepts, budget):
        file = f"{search_path.prefix}{path}"
        yield from _hits_in(file, text.replace("\r\n", "\n").removesuffix("\n"), pattern, budget)


def _hits_in(file: str, text: str, pattern: Pattern, budget: Budget) -> Iterator[Hit]:
    lines: list[str] = []
    first = 0
    for block in _blocks(text):
        if not budget.has_time():
            return
        end = first + block.count("\n") + 1
        if _may_match(block, pattern):
            lines = lines or text.split("\n")
            for index in range(first, end):
                budget.is_partial = budget.is_partial or len(lines[index]) > LONGEST_LINE
                if match := pattern.line.search(lines[index][:LONGEST_LINE]):
                    yield Hit(file, lines, index, match.start())
        first = end


def _may_match(block: str, pattern: Pattern) -> bool:
    if pattern.block is None or len(block) > BLOCK_CHARACTERS + LONGEST_LINE:
        return True
    return pattern.block.search(block) is not None


def _blocks(text: str) -> Iterator[str]:
    """Yield the text in blocks of whole lines, each of at least BLOCK_CHARACTERS except the last."""
    start = 0
    while text and start <= len(text):
        end = text.find("\n", start + BLOCK_CHARACTERS)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1


def _shown(hit: Hit, context_lines: int) -> tuple[Any, ...]:
    lines, index = hit.lines, hit.index
    before = [_cut(line) for line in lines[max(0, index - context_lines) : index]]
    after = [_cut(line) for line in lines[index + 1 : index + 1 + context_lines]]
    return hit.file, index + 1, _cut(lines[index], hit.at), before, after


def _cut(line: str, at: int = 0) -> str:
    """At most 300 characters of the line, around the match."""
    start = max(0, min(at - SHOWN_CHARACTERS // 3, len(line) - SHOWN_CHARACTERS))
    end = start + SHOWN_CHARACTERS
    return f"{'…' * (start > 0)}{line[start:end]}{'…' * (end < len(line))}"
