"""The globs of decisions, constraints and memories are stored as new ones are: with their braces expanded.

`src/*.{ts,tsx}` becomes src/*.ts and src/*.tsx, and `app//[id/]/page.tsx`, which was written with backslashes
before the brackets, app/[id]/page.tsx. The name of a recorded file stays what it is. A list that would have
more than 50 entries, or other than paths, stays as well; `manage.py setup` lists it. Revisions and leases
are not changed: what others hold becomes no wider by itself.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from django.db import migrations
from django.db.models import Q, TextField
from django.db.models.functions import Cast

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.paths.bearing import head_of
from ctxhub.core.text.braces import expand_braces
from ctxhub.core.text.glob_syntax import is_exempting, unescape_brackets

MODELS = {"decision": "Decision", "constraint": "Constraint", "memory": "Memory"}
ROWS_AT_ONCE = 500
LIST_LENGTH = 50
PASSAGES_OF_ENTRY = 1024

Paths = Sequence[str]


def expand(apps: Any, schema_editor: Any) -> None:
    for kind, name in MODELS.items():
        model = apps.get_model("memory", name)
        for rows in _chunks(model):
            known = _known_names(apps.get_model("tracking", "Resource"), rows)
            new = {row.pk: _expanded(row.paths, known[row.project_id]) for row in rows}
            changed = [row for row in rows if new[row.pk] != row.paths]
            for row in changed:
                row.paths = new[row.pk]
            model.unscoped.bulk_update(changed, ["paths"])
            read_otherwise = {row.pk: row.paths for row in rows if row in changed or _exempts(row.paths)}
            _replace_patterns(apps.get_model("core", "PathPattern"), kind, read_otherwise)
            _forget_in_index(apps, kind, read_otherwise)


def _chunks(model: Any) -> Iterator[list[Any]]:
    """The rows of which a path may be written otherwise."""
    as_text = model.unscoped.annotate(written=Cast("paths", TextField()))
    of_interest = Q(written__contains="{") | Q(written__contains='"!') | Q(written__contains="/]")
    rows = as_text.filter(of_interest).order_by("pk").only("pk", "project_id", "paths")
    last = 0
    while found := list(rows.filter(pk__gt=last)[:ROWS_AT_ONCE]):
        yield found
        last = found[-1].pk


def _known_names(resource: Any, rows: Iterable[Any]) -> Mapping[int, Collection[str]]:
    """Those of the paths that files are called, by project."""
    paths: dict[int, set[str]] = {}
    for row in rows:
        paths.setdefault(row.project_id, set()).update(row.paths)
    return {
        project_id: set(
            resource.unscoped.filter(project_id=project_id, path__in=asked).values_list("path", flat=True)
        )
        for project_id, asked in paths.items()
    }


def _exempts(paths: Paths) -> bool:
    return any(map(is_exempting, paths))


# -- One list --------------------------------------------------------------------------------------


def _expanded(paths: Paths, known: Collection[str]) -> Paths:
    """What a list is now; as it was if that would not be a list of paths."""
    try:
        globs = list(chain.from_iterable(_globs(path, known) for path in paths))
    except InvalidInput:
        return paths
    if not _exempts(globs):
        globs = list(dict.fromkeys(globs))
    is_list = len(set(globs)) <= LIST_LENGTH and all(map(_is_path, globs))
    return globs if is_list else paths


def _globs(path: str, known: Collection[str]) -> Paths:
    if path in known:
        # Not that it exempts: a file is called so.
        return [f"?{path[1:]}" if is_exempting(path) else path]
    return expand_braces(_with_brackets(path), at_most=LIST_LENGTH)


def _with_brackets(path: str) -> str:
    r"""Backslashes were slashes: `app/\[id\]` was stored as `app//[id/]`."""
    if "/]" not in path:
        return path
    unescaped = unescape_brackets(re.sub(r"/(?=[\[\]])", r"\\", path))
    return unescaped.replace("\\", "/")


def _is_path(glob: str) -> bool:
    path = glob[1:] if is_exempting(glob) else glob
    return bool(path) and not path.startswith("/") and ".." not in path.split("/")


# -- What is derived from it -----------------------------------------------------------------------


def _replace_patterns(pattern: Any, kind: str, paths: Mapping[int, Paths]) -> None:
    """Of the objects in force; the others have no patterns. Their counts of changes stay."""
    stored = pattern.unscoped.filter(kind=kind, object_id__in=paths)
    first = list(stored.filter(position=0))
    stored.delete()
    pattern.unscoped.bulk_create(
        [
            pattern(
                project_id=each.project_id,
                kind=kind,
                object_id=each.object_id,
                position=position,
                pattern=glob,
                head=head_of(glob),
                stale=0 if position else each.stale,
                stale_since=None if position else each.stale_since,
            )
            for each in first
            for position, glob in enumerate(paths[each.object_id])
        ],
        batch_size=ROWS_AT_ONCE,
    )


def _forget_in_index(apps: Any, kind: str, object_ids: Collection[int]) -> None:
    """Entries of before are made again behind the migrations, with their words."""
    text, word, entry = (apps.get_model("core", f"Search{name}") for name in ("Text", "Word", "Entry"))
    ids = list(
        entry.unscoped.filter(kind=kind, object_id__in=object_ids).values_list("pk", flat=True)
    )
    for entry_id in ids:
        first = entry_id * PASSAGES_OF_ENTRY
        text.unscoped.filter(pk__gte=first, pk__lt=first + PASSAGES_OF_ENTRY).delete()
    word.unscoped.filter(entry_id__in=ids).delete()
    entry.unscoped.filter(pk__in=ids).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("core", "0017_tokens_of_members"),
        ("memory", "0011_nearly_full_scratchpads"),
        ("tracking", "0001_squashed_0003_resource_types"),
    ]

    operations = [migrations.RunPython(expand, migrations.RunPython.noop)]
