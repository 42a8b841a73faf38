"""Writes the patterns of objects, in the transaction of the change."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.dispatch import receiver

from ctxhub.core import registry
from ctxhub.core.kit import sql
from ctxhub.core.kit.deletes import delete_where
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.paths.heads import head_of
from ctxhub.core.paths.models import PathPattern
from ctxhub.core.paths.stale_rows import stale_patterns
from ctxhub.core.search.services.index import forgotten

COLUMNS = ("project_id", "kind", "object_id", "position", "pattern", "head", "stale")


@frozen
class PatternChange:
    """The patterns of an object before and after a write. `stale`: its count before the write."""

    object_id: int
    old: Sequence[str]
    new: Sequence[str]
    stale: int = 0


def write_patterns(project_id: int, kind: str, changes: Iterable[PatternChange]) -> None:
    """Store the patterns that changed; what was written is stale no more. At most three statements."""
    changes = list(changes)
    replaced = [change for change in changes if list(change.old) != list(change.new)]
    delete_patterns(kind, [change.object_id for change in replaced if change.old])
    records = [
        (project_id, kind, change.object_id, position, pattern, head_of(pattern), 0)
        for change in replaced
        for position, pattern in enumerate(change.new)
    ]
    for some in sql.chunks(records, 2_000):
        sql.insert("core_pathpattern", COLUMNS, some)
    confirm_objects(kind, [c.object_id for c in changes if c.stale and c not in replaced])


def delete_patterns(kind: str, object_ids: Sequence[int]) -> None:
    if object_ids:
        among, values = sql.among("object_id", object_ids)
        delete_where(PathPattern, f"kind = %s AND {among}", [kind, *values])


def confirm_objects(kind: str, object_ids: Sequence[int]) -> None:
    """Set the counts of stale objects to 0."""
    if object_ids:
        among, values = sql.among("object_id", object_ids)
        sql.execute(
            "UPDATE core_pathpattern SET stale = 0, stale_since = NULL, folders_at = NULL"
            f" WHERE kind = %s AND {among} AND {stale_patterns()}",
            [kind, *values],
        )


@receiver(forgotten)
def forget_patterns(kind: str, object_ids: Sequence[int], **_: Any) -> None:
    """Delete the patterns of deleted objects."""
    noun = registry.find_noun(kind)
    if noun and noun.history and noun.history.has_paths:
        delete_patterns(kind, object_ids)
