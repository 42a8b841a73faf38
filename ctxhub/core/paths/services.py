"""Writes the patterns of objects, and confirms objects that still hold."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.dispatch import receiver

# Pydantic builds the answer's schema and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core import registry
from ctxhub.core.events.log import Change, record
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.deletes import delete_where
from ctxhub.core.kit.errors import InvalidInput, NotFound, shown, unknown_word
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import LIST_LENGTH, read_id
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.links import Head, ObjectKey
from ctxhub.core.paths.bearing import head_of
from ctxhub.core.paths.counting import count_batch
from ctxhub.core.paths.models import PathPattern
from ctxhub.core.paths.queries import Stale, find_stale, nouns_with_paths
from ctxhub.core.paths.rows import stale_patterns
from ctxhub.core.registry import Noun, split_ref
from ctxhub.core.search.index import forgotten
from ctxhub.core.vocabulary.names import register_agent

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


# Which no process has counted yet: as a rule none.
MOST_CHANGES = 10_000


class ConfirmAnswer(TypedDict):
    confirmed: int


def confirm(*, caller: Caller, refs: Sequence[str]) -> ConfirmAnswer:
    """Say that 1 to 50 objects still hold as they are: they are stale no more. Counts those that were.

    Raises InvalidInput for a ref of a kind that has no paths, and NotFound with all that do not exist.
    """
    if not 1 <= len(refs) <= LIST_LENGTH:
        raise InvalidInput(f"refs has {len(refs)} entries; name 1 to {LIST_LENGTH}.")
    named = {ref: _split(ref) for ref in dict.fromkeys(refs)}
    with write_transaction(caller.project_id):
        heads = _read_heads(caller.project_id, named)
        # The changes up to now, too, are known to who confirms.
        count_batch(caller.project_id, MOST_CHANGES)
        stale = find_stale(caller.project_id, heads)
        if stale:
            _write(caller, {key: (heads[key], found) for key, found in sorted(stale.items())})
    return ConfirmAnswer(confirmed=len(stale))


def _split(ref: str) -> tuple[Noun, str]:
    noun, name = split_ref(ref)
    if noun.kind not in (kinds := nouns_with_paths()):
        raise unknown_word("ref", noun.kind, list(kinds))
    return noun, name


def _read_heads(project_id: int, named: Mapping[str, tuple[Noun, str]]) -> dict[ObjectKey, Head]:
    """The objects that the refs name. Raises NotFound with all that do not exist."""
    heads: dict[ObjectKey, Head] = {}
    missing: list[str] = []
    for noun, names in _by_noun(named.values()).items():
        ids = noun.ids_of(project_id, names) if noun.ids_of else {name: read_id(name) for name in names}
        row_ids = [row_id for row_id in ids.values() if row_id]
        found = noun.heads(project_id, row_ids) if noun.heads and row_ids else {}
        heads |= {(noun.kind, row_id): head for row_id, head in found.items()}
        missing += [f"{noun.kind}:{name}" for name in names if ids.get(name) not in found]
    if missing:
        one = len(missing) == 1
        raise NotFound(
            f"There is no {shown(missing[0])}." if one else f"There are no {', '.join(map(shown, missing))}.",
            hint="search finds the refs of things. Nothing was confirmed.",
        )
    return heads


def _by_noun(named: Iterable[tuple[Noun, str]]) -> Mapping[Noun, list[str]]:
    names: dict[Noun, list[str]] = {}
    for noun, name in named:
        names.setdefault(noun, []).append(name)
    return names


def _write(caller: Caller, confirmed: Mapping[ObjectKey, tuple[Head, Stale]]) -> None:
    at = clock.now()
    for kind in dict.fromkeys(kind for kind, _ in confirmed):
        confirm_objects(kind, [row_id for of_kind, row_id in confirmed if of_kind == kind])
    record(
        project_id=caller.project_id,
        agent_id=register_agent(caller, at),
        changes=[
            Change(kind, "confirmed", str(head.name), {"note": str(stale)})
            for (kind, _), (head, stale) in confirmed.items()
        ],
        at=at,
    )


def write_stale(rows: Sequence[Mapping[str, Any]]) -> None:
    """Give the globs of objects the counts that they had; `rows` hold the columns of PathPattern as JSON."""
    for row in rows:
        if row["stale"]:
            sql.execute(
                "UPDATE core_pathpattern SET stale = %s, stale_since = %s, folders_at = %s"
                " WHERE kind = %s AND object_id = %s AND position = %s AND pattern = %s",
                [
                    row["stale"],
                    *(_time(row[column]) for column in ("stale_since", "folders_at")),
                    *(row[column] for column in ("kind", "object_id", "position", "pattern")),
                ],
            )


def _time(value: str | None) -> Any:
    return sql.stored_time(sql.read_time(value)) if value else None
