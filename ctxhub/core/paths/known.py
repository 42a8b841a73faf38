"""Which names are those of files: recorded, leased, or stored as a pattern. One query for all of them."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

from ctxhub.core.kit import sql
from ctxhub.core.paths.bearing import head_of
from ctxhub.core.text.glob_syntax import reads_otherwise


class Source(NamedTuple):
    """A column that holds paths of a project, and the rest of a statement that selects them."""

    column: str
    rows: str
    values: Sequence[Any]


# What apps register: the sources of a project, and the spellings that are stored by those asked for.
sources: list[Callable[[int], Source]] = []
stored_spellings: list[Callable[[int, Sequence[str]], dict[str, str]]] = []


def find_known(project_id: int, names: Collection[str]) -> set[str]:
    """Those of the names that are stored. One with a leading `@` is, too, if something in its folder is."""
    folders = {name: f"{name.partition('/')[0]}/" for name in names if name.startswith("@") and "/" in name}
    arms = [*_named(project_id, sorted(names)), *_below(project_id, sorted(set(folders.values())))]
    texts = [f"SELECT * FROM ({text}) arm{n}" for n, (text, _) in enumerate(arms)]
    found = sql.rows(" UNION ".join(texts), [value for _, values in arms for value in values])
    stored = {path for (path,) in found}
    begun = {path.partition("/")[0] + "/" for path in stored}
    return {name for name in names if name in stored or folders.get(name, "") in begun}


Arm = tuple[str, list[Any]]


def _named(project_id: int, names: Sequence[str]) -> Iterable[Arm]:
    for source in _sources(project_id):
        among, values = sql.among(source.column, names)
        yield f"SELECT {source.column} {source.rows} AND {among}", [*source.values, *values]
    # Not what stands there as a glob. The index of patterns is by their heads.
    literal = [name for name in names if not reads_otherwise(name)]
    if not literal:
        return
    heads, head_values = sql.among("head", sorted({head_of(name) for name in literal}))
    among, values = sql.among("pattern", literal)
    patterns = f"SELECT pattern FROM core_pathpattern WHERE project_id = %s AND {heads} AND {among}"
    yield patterns, [project_id, *head_values, *values]


def _below(project_id: int, folders: Sequence[str]) -> Iterable[Arm]:
    patterns = Source("head || '/'", "FROM core_pathpattern WHERE project_id = %s", [project_id])
    for folder in folders:
        for source in (*_sources(project_id), patterns):
            column = source.column
            where = f"{source.rows} AND {column} >= %s AND {column} < %s LIMIT 1"
            yield f"SELECT {column} {where}", [*source.values, folder, f"{folder[:-1]}0"]


def _sources(project_id: int) -> list[Source]:
    return [source(project_id) for source in sources]
