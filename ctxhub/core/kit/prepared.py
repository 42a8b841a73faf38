"""Writes that are prepared before they take the write lock, so that writers wait less.

`prepare` reads and computes outside of the lock. Under it, unless nothing at all was written meanwhile, its
reads are made again and compared as the database gives them: where nothing differs, what was computed holds.
"""

from collections.abc import Callable
from typing import TypeVar

from ctxhub.core.kit import sql
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.transactions import is_writing, write_transaction

PreparedT = TypeVar("PreparedT")
T = TypeVar("T")


def write_prepared(project_id: int, prepare: Callable[[], PreparedT], write: Callable[[PreparedT], T]) -> T:
    """Return `write(prepare())`, in a write transaction. `prepare` runs before it, and once more in it if
    what it has read is not so any more.

    `prepare` reads by `sql.rows` alone, and takes no time of its own: times are made under the lock, so that
    they have the order of the events. In a write transaction that is open already both run in it.
    """
    if is_writing():
        with write_transaction(project_id):
            return write(prepare())
    try:
        with sql.recorded_reads() as reads:
            prepared = prepare()
    except CtxhubError:
        # Told under the lock, where all reads are of one state.
        with write_transaction(project_id):
            return write(prepare())
    with write_transaction(project_id, reads):
        return write(prepared if reads.are_unchanged() else prepare())
