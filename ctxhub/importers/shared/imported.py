"""Finds rows imported before, by the old id that their metadata keeps."""

from collections import defaultdict
from datetime import datetime
from typing import Any

from django.db.models.fields.json import KT

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import clean_new_name, plain_name

IMPORTED_ID = "imported_id"


class Imported:
    """Imported rows of one model by old id."""

    def __init__(self, project_id: int, model: type[Any]) -> None:
        self._rows: dict[str, list[tuple[int, datetime]]] = defaultdict(list)
        found = model.objects.in_project(project_id).filter(metadata__has_key=IMPORTED_ID)
        # KT reads text, so that an id that looks like JSON stays unchanged.
        old_ids = found.annotate(old_id=KT(f"metadata__{IMPORTED_ID}"))
        for row_id, old_id, at in old_ids.values_list("pk", "old_id", "created_at"):
            self._rows[str(old_id)].append((row_id, at))

    def find(self, old_id: str, created_at: datetime | None) -> int | None:
        """The id of the row imported before. Two files may use the same ids: created_at tells them apart."""
        rows = self._rows.get(old_id, ())
        return next((row_id for row_id, at in rows if created_at in (None, at)), None)


def clean_id(value: str | None) -> str:
    """The old id as metadata keep it. Raises InvalidInput."""
    if value is None:
        raise InvalidInput("its id is missing.")
    return clean_new_name(value, "its id")


def as_id(value: str | None) -> str:
    """A reference to an old id, normalised like clean_id but never refused."""
    return plain_name(value or "")


def add_new(taken: dict[str, Any], old_id: str, new: Any) -> None:
    """Add a new row under its old id. Raises InvalidInput for a duplicate id."""
    if old_id in taken:
        raise InvalidInput("another has the same id.")
    taken[old_id] = new


def parse_bool(value: Any) -> bool:
    """A stored boolean in any notation; NULL counts as true."""
    return str(value).strip().lower() not in ("0", "0.0", "false", "no", "") if value is not None else True
