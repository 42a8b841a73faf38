"""Tables of counts, which background writers add to: a row for each key."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen

AT_ONCE = 500


class How(Enum):
    """How the value of a column meets the stored one: `{0}` is the column, `{1}` the table."""

    KEPT = ""
    LATEST = "{0} = excluded.{0}"
    ADDED = "{0} = {1}.{0} + excluded.{0}"
    MOST = "{0} = CASE WHEN excluded.{0} > {1}.{0} THEN excluded.{0} ELSE {1}.{0} END"


@frozen
class Counts:
    """A table whose rows belong to projects. `key`: the other columns that tell its rows apart."""

    table: str
    key: Sequence[str]
    columns: Mapping[str, How]

    def add(self, project_id: int, records: Iterable[Sequence[Any]]) -> None:
        """Add records of the key and the columns.

        In the order of the keys: two processes that add at once wait for each other.
        """
        key = ("project_id", *self.key)
        ordered = sorted(records, key=lambda record: tuple(record[: len(self.key)]))
        changes = ", ".join(
            how.value.format(column, self.table) for column, how in self.columns.items() if how.value
        )
        for some in sql.chunks(ordered, AT_ONCE):
            sql.insert(
                self.table,
                (*key, *self.columns),
                [(project_id, *record) for record in some],
                f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET {changes}",
            )

    def delete_oldest(self, project_id: int, column: str, before: datetime, at_most: int) -> int:
        """Delete the oldest rows by a time, from before a time; returns how many."""
        oldest = (
            f"SELECT id FROM {self.table} WHERE project_id = %s AND {column} < %s"
            f" ORDER BY {column}, id LIMIT %s"
        )
        statement = f"DELETE FROM {self.table} WHERE {sql.among_found('id', oldest)} RETURNING id"
        return len(sql.rows(statement, [project_id, sql.stored_time(before), at_most]))
