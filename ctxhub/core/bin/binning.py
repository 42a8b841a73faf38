"""Puts into the bin what a deletion takes along, in its transaction and before it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Model

from ctxhub.core import registry
from ctxhub.core.bin.contents import Contents, Pointer, collect, noun_of
from ctxhub.core.bin.models import TITLE_LENGTH, BinItem, BinPart, BinState
from ctxhub.core.kit import sql
from ctxhub.core.kit.batches import remembered
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.registry import Deletion
from ctxhub.core.text.secrets import mask_secrets

# An object with more is deleted for good: its deletion would take too long.
MOST_BYTES = 64 * 1024 * 1024
NOT_KEPT = "too large for the bin"
TITLES = ("title", "name", "key", "summary", "text", "content", "path")
# A credential may begin before what is shown of a title, and end behind it.
READ_OF_TITLE = 5_000


@frozen
class Deleted:
    """An object that is deleted: its row as far as it was read, and its ref."""

    row: Any
    ref: str


def collect_objects(
    project_id: int, kind: str, model: type[Model], rows: Sequence[Any]
) -> dict[int, Contents]:
    """What goes into the bin with these objects, which are there, by their ids; without too large ones."""
    large = too_large(kind, rows)
    ids = [row.id for row in rows if row.id not in large]
    return collect(project_id, model, {row_id: row_id for row_id in ids}) if ids else {}


def too_large(kind: str, rows: Sequence[Any]) -> set[int]:
    """The ids of the objects that are too large for the bin, as far as their kind tells sizes.

    Containers are not asked: what is left of a large one when it is deleted fits into a transaction.
    """
    noun = registry.find_noun(kind)
    deletion = noun.deletion if noun else None
    if not rows or not isinstance(deletion, Deletion) or not deletion.sizes or deletion.contents:
        return set()
    return {row_id for row_id, size in deletion.sizes(rows).items() if size > MOST_BYTES}


def put_in_bin(
    *,
    project_id: int,
    kind: str,
    objects: Sequence[Deleted],
    contents: Mapping[int, Contents],
    agent_id: int | None,
    at: datetime,
    before: Mapping[int, Any] | None = None,
) -> None:
    """Store what was collected of objects. `before`: how many of its own each lost to batches, by row id."""
    noun = registry.find_noun(kind)
    if not noun or not objects:
        return
    model = noun.model
    records, packed = [], {}
    earlier = _along_before(project_id, kind, [row_id for row_id, lost in (before or {}).items() if lost])
    for each in objects:
        row_id = each.row.id
        of_object = contents.get(row_id)
        values = (of_object.row(model, row_id) if of_object else None) or {}
        along = of_object.counts(model) if of_object else Counter[str]()
        along += earlier.get(row_id, Counter())
        if of_object:
            packed[row_id] = of_object.packed()
        records.append(
            _record(
                *(project_id, kind, each, values, along, BinState.KEPT if of_object else BinState.NOT_KEPT),
                *(packed[row_id][1] if of_object else 0, agent_id, at),
            )
        )
    items = _upsert(records)
    parts = []
    for each in objects:
        item_id, size, state = items[each.row.id]
        if state == BinState.NOT_KEPT or size > MOST_BYTES:
            leave_out(item_id)
            remembered((NOT_KEPT, model))[str(each.row.id)] = NOT_KEPT
            continue
        data, length = packed[each.row.id]
        parts.append((project_id, item_id, True, _own(noun, contents[each.row.id]), length, data))
    _insert_parts(parts)


def put_batch_in_bin(
    *,
    project_id: int,
    kind: str,
    container: Deleted,
    contents: Contents,
    agent_id: int | None,
    at: datetime,
) -> None:
    """Store what was collected of a part of the contents of a large object, which is deleted later."""
    noun = registry.find_noun(kind)
    assert noun
    known = BinItem.objects.in_project(project_id).filter(kind=kind, object_id=container.row.id).first()
    if known and known.state == BinState.NOT_KEPT:
        return
    along = contents.counts(noun.model) + Counter(known.along if known else {})
    data, length = contents.packed()
    record = _record(project_id, kind, container, {}, along, BinState.PARTIAL, length, agent_id, at)
    [(item_id, size, _)] = _upsert([record]).values()
    if size > MOST_BYTES:
        leave_out(item_id)
    else:
        count = _own(noun, contents) + len(contents.pointers)
        _insert_parts([(project_id, item_id, False, count, length, data)])


def not_kept(model: type[Model], row_id: int) -> str:
    """What to tell of an object that this call has deleted, if it is not in the bin; else ""."""
    return remembered((NOT_KEPT, model)).get(str(row_id), "")


def hand_over(item: BinItem, contents: Contents) -> None:
    """Give what could not be restored to another object in the bin, which it joins."""
    data, length = contents.packed()
    _insert_parts([(item.project_id, item.pk, False, 0, length, data)])


def pointers_in_bin(model: type[Model], column: str, ids: Sequence[int], target: int) -> Contents:
    """The contents that tell that these rows pointed to an object."""
    return Contents(pointers=[Pointer(model, column, row_id, target) for row_id in ids])


def leave_out(item_id: int) -> None:
    """Say of an object that it was too large, and forget its rows."""
    sql.execute("DELETE FROM core_binpart WHERE item_id = %s", [item_id])
    sql.execute("UPDATE core_binitem SET state = %s WHERE id = %s", [BinState.NOT_KEPT.value, item_id])


def title_of(values: Mapping[str, Any]) -> str:
    """What a list shows of an object: the beginning of what names it, in one line, without credentials."""
    text = next((str(values[name]) for name in TITLES if values.get(name)), "")
    masked, _ = mask_secrets(" ".join(text[:READ_OF_TITLE].split()))
    return masked if len(masked) <= TITLE_LENGTH else f"{masked[: TITLE_LENGTH - 1]}…"


def _record(
    project_id: int,
    kind: str,
    each: Deleted,
    values: Mapping[str, Any],
    along: Counter[str],
    state: BinState,
    size: int,
    agent_id: int | None,
    at: datetime,
) -> list[Any]:
    values = values or {
        name: getattr(each.row, name) for name in (*TITLES, "agent_id") if hasattr(each.row, name)
    }
    noun = registry.find_noun(kind)
    has_names = bool(noun and (noun.ids_of or noun.is_named))
    name = str(values.get("key") or values.get("name") or "") if has_names else ""
    kept = {plural: count for plural, count in along.items() if plural and count}
    return [
        *(project_id, kind, each.row.id, each.ref, name.casefold(), title_of(values), sql.stored_json(kept)),
        *(state.value, size, values.get("agent_id"), agent_id, sql.stored_time(at)),
    ]


_COLUMNS = (
    *("project_id", "kind", "object_id", "ref", "folded", "title", "along", "state", "size"),
    *("author_id", "agent_id", "deleted_at"),
)
_REPLACED = ("ref", "folded", "title", "along", "author_id", "agent_id", "deleted_at")
_UPSERT = f"""
    ON CONFLICT (project_id, kind, object_id) DO UPDATE SET
        {", ".join(f"{column} = excluded.{column}" for column in _REPLACED)},
        size = core_binitem.size + excluded.size,
        state = CASE WHEN core_binitem.state = {BinState.NOT_KEPT.value} THEN core_binitem.state
            ELSE excluded.state END
    RETURNING object_id, id, size, state"""


def _upsert(records: Sequence[Sequence[Any]]) -> dict[int, tuple[int, int, int]]:
    """Write entries, and add to those of large objects; their ids, sizes and states by that of the object."""
    found: dict[int, tuple[int, int, int]] = {}
    for some in sql.chunks(records, 2_000):
        for object_id, *rest in sql.insert(BinItem._meta.db_table, _COLUMNS, some, _UPSERT):
            found[object_id] = (rest[0], rest[1], rest[2])
    return found


def _insert_parts(parts: Sequence[Sequence[Any]]) -> None:
    columns = ("project_id", "item_id", "has_object", "count", "size", "data")
    for some in sql.chunks(parts, 2_000):
        sql.insert(BinPart._meta.db_table, columns, some)


def _along_before(project_id: int, kind: str, ids: Sequence[int]) -> dict[int, Counter[str]]:
    """What has gone along with large objects in batches."""
    if not ids:
        return {}
    items = BinItem.objects.in_project(project_id).filter(kind=kind, object_id__in=ids)
    return {row_id: Counter(along) for row_id, along in items.values_list("object_id", "along")}


def _own(noun: registry.Noun, contents: Contents) -> int:
    """How many objects of other kinds went with it, those with a search document of their own."""
    return sum(
        len(rows)
        for model, rows in contents.rows.items()
        if model is not noun.model and (other := noun_of(model)) and other.documents
    )
