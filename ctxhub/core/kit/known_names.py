"""Which columns hold names, and whether the project of a call already holds a name.

A name may hold no character that nobody sees, but those that were stored before this was so still find what
they name. Apps register their columns.
"""

from collections.abc import Iterator

from django.db import models

from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import current
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.text.invisible import RANGES, invisible_places


@frozen
class NameColumn:
    """A column of names.

    `found_by`: the column of the index that finds rows by them, "" if there is none. `kind`, and `id` or the
    column `kind_field`, say what a person looks up who wants to see the row.
    """

    model: type[models.Model]
    field: str
    found_by: str
    kind: str
    kind_field: str
    id_field: str

    @property
    def table(self) -> str:
        return self.model._meta.db_table

    def spelled(self, name: str) -> str:
        """The name as `found_by` holds it."""
        return name.casefold() if self.found_by.startswith("folded") else name


@frozen
class InvisibleName:
    """A stored name with characters that nobody sees, and the object that has it."""

    project: str
    kind: str
    id: int
    name: str


_columns: list[NameColumn] = []


def hold_names(
    model: type[models.Model],
    field: str = "name",
    *,
    found_by: str = "",
    kind: str = "",
    kind_field: str = "",
    id_field: str = "id",
) -> None:
    """Register a column of names, of rows with a project; see NameColumn. `kind`: the model's own if ""."""
    kind = kind or str(model._meta.verbose_name)
    _columns.append(NameColumn(model, field, found_by, kind, kind_field, id_field))


def holds_names(model: type[models.Model], field: str) -> bool:
    """Whether a column of a model holds names, by which its objects are found or named."""
    return any(column.model is model and column.field == field for column in _columns)


def name_column(kind: str) -> NameColumn | None:
    """The first column that holds the names of the objects of a kind, and finds them; None without one."""
    return next((each for each in _columns if each.kind == kind and each.found_by), None)


def is_known(name: str) -> bool:
    """Whether the current caller's project holds this very name, ignoring case where names do."""
    caller = current()
    found = [column for column in _columns if column.found_by]
    if caller is None or not found:
        return False
    tests = (
        f"EXISTS (SELECT 1 FROM {column.table} WHERE project_id = %s AND {column.found_by} = %s)"
        for column in found
    )
    values = [value for column in found for value in (caller.project_id, column.spelled(name))]
    [(is_there,)] = sql.rows(f"SELECT {' OR '.join(tests)}", values)
    return bool(is_there)


def find_invisible_names() -> Iterator[InvisibleName]:
    """Every stored name with characters that nobody sees, by kind and id. One scan for each column."""
    # Most names are ASCII, which one range tells; the others cost some microseconds each.
    tests = [f"*[{each}]*" if sql.is_sqlite() else f"[{each}]" for each in ("^ -~", RANGES)]
    operator = "GLOB" if sql.is_sqlite() else "~"
    for column in _columns:
        kind = f"t.{column.kind_field}" if column.kind_field else f"'{column.kind}'"
        found = sql.rows(
            f"SELECT p.slug, {kind}, t.{column.id_field}, t.{column.field} FROM {column.table} t"
            f" JOIN core_project p ON p.id = t.project_id WHERE t.{column.field} {operator} %s"
            f" AND t.{column.field} {operator} %s ORDER BY t.{column.id_field}",
            tests,
        )
        yield from (InvisibleName(*row) for row in found if invisible_places(row[-1]))
