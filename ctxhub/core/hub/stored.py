"""How much a project stores: rows and bytes of texts by kind, and the largest objects."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import models

from ctxhub.core.kit import sql
from ctxhub.core.models import Event
from ctxhub.core.registry import all_nouns

# What is stored beside the nouns, with what people call it. Apps add theirs.
stored_beside: list[tuple[str, type[models.Model]]] = [("events", Event)]


class Stored(NamedTuple):
    """`title`: what people call the kind, in the plural."""

    title: str
    rows: int
    bytes: int


class Large(NamedTuple):
    """An object and the bytes of its texts."""

    kind: str
    id: int
    bytes: int


def stored_of(project_id: int) -> list[Stored]:
    """The kinds that have texts, those with most bytes first. Reads every row, with one statement."""
    kinds = [(noun.plural, noun.model) for noun in all_nouns()] + stored_beside
    found = _union(
        project_id,
        [
            (title, f"SELECT %s, count(*), coalesce(sum({_bytes_of(model)}), 0) FROM {_table(model)}")
            for title, model in kinds
        ],
    )
    kept = [Stored(*row) for row in found if row[2]]
    return sorted(kept, key=lambda one: (-one.bytes, one.title))


def largest_of(project_id: int, limit: int) -> list[Large]:
    """The objects whose main part is a text, the largest first. Reads every row, with one statement.

    Which of equal ones are shown at the end is left open: to sort by the id, too, took four times as long.
    """
    found = _union(
        project_id,
        [
            (
                noun.kind,
                f"SELECT %s AS kind, t.id, {_bytes_of(noun.model)} AS bytes FROM {_table(noun.model)}",
            )
            for noun in all_nouns()
            if noun.heads and noun.text
        ],
        f" ORDER BY bytes DESC LIMIT {int(limit)}",
    )
    return [Large(*row) for row in sorted(found, key=lambda row: (-row[2], row[0], -row[1]))[:limit]]


# -- Pieces ----------------------------------------------------------------------------------------


def _union(project_id: int, branches: Sequence[tuple[str, str]], ending: str = "") -> list[tuple[Any, ...]]:
    """The rows of a statement for each kind, which begins with the name of the kind."""
    text = " UNION ALL ".join(
        f"SELECT * FROM ({select} WHERE t.project_id = %s{ending}) b{n}"
        for n, (_, select) in enumerate(branches)
    )
    return sql.rows(text, [value for name, _ in branches for value in (name, project_id)])


def _table(model: type[models.Model]) -> str:
    return f"{model._meta.db_table} t"


def _bytes_of(model: type[models.Model]) -> str:
    """The sum of its long texts. What is derived from them is not editable, and not counted."""
    kinds = (models.TextField, models.JSONField)
    fields = [each for each in model._meta.concrete_fields if isinstance(each, kinds) and each.editable]
    sizes = (
        f"coalesce({sql.size(f't.{each.column}')}, 0)" if each.null else sql.size(f"t.{each.column}")
        for each in fields
    )
    return " + ".join(sizes) or "0"
