"""Deletes objects; a large container is emptied before, in batches of 500 rows."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import accumulate
from typing import Any

from django.db.models import Count, Model, Sum
from django.db.models.expressions import Combinable

from ctxhub.core.bin.binning import Deleted, put_batch_in_bin
from ctxhub.core.bin.contents import collect_taken
from ctxhub.core.events.counters import add_to_counters, counter_key
from ctxhub.core.events.log import Change, record
from ctxhub.core.history import History
from ctxhub.core.kit import clock
from ctxhub.core.kit.batches import BYTES_AT_ONCE, ROWS_AT_ONCE, do_first, done_before
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.deletes import delete_rows, taking
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.rows import BareRow, RowT
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.search.index import forget
from ctxhub.core.vocabulary.names import register_agent


@frozen
class Contents:
    """The rows of a container, deleted with it and counted in the project.

    `container` is the field with its id, `size` the bytes of a row. `touch` updates the
    container: its id, how many rows it has lost, and when.
    """

    kind: str
    plural: str
    model: type[Model]
    container: str
    size: Combinable
    touch: Callable[[int, int, datetime], None]


def delete_objects(caller: Caller, rows: Sequence[RowT], *, history: History[RowT]) -> None:
    """Delete rows that were read in the open transaction."""
    at = clock.now()
    agent_id = register_agent(caller, at)
    history.delete(project_id=caller.project_id, agent_id=agent_id, rows=rows, at=at)


def delete_containers(
    caller: Caller, rows: Sequence[RowT], *, history: History[RowT], contents: Contents
) -> None:
    """Delete containers that were read in the open transaction, which `in_batches` surrounds.

    The rows of a large one are deleted in batches before it.
    """
    at = clock.now()
    before = {row.id: _empty_first(caller, history, row, contents) for row in rows}
    agent_id = register_agent(caller, at)
    history.delete(project_id=caller.project_id, agent_id=agent_id, rows=rows, at=at, details=before)


def emptied_before(history: History[Any], row: BareRow, contents: Contents) -> int:
    """How many rows of a container this call has deleted in batches."""
    return (done_before(history.ref(row)) or Counter())[contents.plural]


def sizes_of(contents: Contents, container_ids: Sequence[int]) -> dict[int, int]:
    """The bytes of the rows of containers; many small rows count as much as a batch of them may."""
    found = contents.model._base_manager.filter(**{f"{contents.container}__in": container_ids}).order_by()
    sums = found.values_list(contents.container).annotate(bytes=Sum(contents.size), rows=Count("pk"))
    return {row_id: max(size, rows * BYTES_AT_ONCE // ROWS_AT_ONCE) for row_id, size, rows in sums}


def _empty_first(caller: Caller, history: History[Any], row: BareRow, contents: Contents) -> int:
    """Delete the rows of a container except for the last batch, before its transaction; return how many.

    Containers that fit into a batch stay as they are.
    """
    ref = history.ref(row)
    if done_before(ref) is None and _next_batch(contents, row.id) is None:
        return 0
    return do_first(ref, partial(_delete_batch, caller, history, row, contents))[contents.plural]


def _delete_batch(
    caller: Caller, history: History[Any], row: BareRow, contents: Contents
) -> Mapping[str, int]:
    """Delete a batch unless it is the last one. The container gets an event, its rows get none."""
    project_id = caller.project_id
    with write_transaction(project_id):
        if (ids := _next_batch(contents, row.id)) is None:
            return {}
        at = clock.now()
        agent_id = register_agent(caller, at)
        with taking() as taken:
            forget(project_id, contents.kind, ids)
            delete_rows(contents.model, ids)
        of_batch = collect_taken(project_id, contents.model, dict.fromkeys(ids, row.id), taken)
        put_batch_in_bin(
            project_id=project_id,
            kind=history.kind,
            container=Deleted(row, history.ref(row)),
            contents=of_batch[row.id],
            agent_id=agent_id,
            at=at,
        )
        contents.touch(row.id, len(ids), at)
        add_to_counters(project_id, Counter({counter_key(contents.kind): -len(ids)}))
        change = Change(history.kind, "updated", history.ref(row), {"changed": [contents.plural]})
        record(project_id=project_id, agent_id=agent_id, changes=[change], at=at)
    return {contents.plural: len(ids)}


def _next_batch(contents: Contents, container_id: int) -> list[int] | None:
    """The next ids to delete, at least one; None if all that is left fits into a batch."""
    rows = contents.model._base_manager.filter(**{contents.container: container_id})
    found = rows.order_by("pk").values_list("pk", contents.size)[: ROWS_AT_ONCE + 1]
    sizes = accumulate(size for _, size in found)
    fitting = sum(total <= BYTES_AT_ONCE for total in sizes)
    if fitting == len(found) <= ROWS_AT_ONCE:
        return None
    return [row_id for row_id, _ in found[: min(max(fitting, 1), ROWS_AT_ONCE)]]
