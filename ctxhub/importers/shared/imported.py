"""What was imported before: it keeps in its metadata the id that it had in the other program."""

import unicodedata
from collections import defaultdict
from datetime import datetime
from typing import Any

from django.db.models.fields.json import KT

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import clean_name

IMPORTED_ID = "imported_id"


class Imported:
    """The rows of a noun that came from elsewhere, by the ids that they had there."""

    def __init__(self, project_id: int, model: type[Any]) -> None:
        self._rows: dict[str, list[tuple[int, datetime]]] = defaultdict(list)
        found = model.objects.in_project(project_id).filter(metadata__has_key=IMPORTED_ID)
        # As text: an id that looks like JSON stays what it is.
        old_ids = found.annotate(old_id=KT(f"metadata__{IMPORTED_ID}"))
        for row_id, old_id, at in old_ids.values_list("pk", "old_id", "created_at"):
            self._rows[str(old_id)].append((row_id, at))

    def find(self, old_id: str, created_at: datetime | None) -> int | None:
        """The row that this is. Two files may number alike: then the moment tells them apart."""
        rows = self._rows.get(old_id, ())
        return next((row_id for row_id, at in rows if created_at in (None, at)), None)


def clean_id(said: str | None) -> str:
    """The id as metadata keep it; raises InvalidInput."""
    if said is None:
        raise InvalidInput("its id is missing.")
    return clean_name(said, "its id")


def as_id(said: str | None) -> str:
    """The same of one that leads to it."""
    return unicodedata.normalize("NFC", said or "").strip()


def add_new(taken: dict[str, Any], old_id: str, new: Any) -> None:
    """Note what is taken by its old id; raises InvalidInput where there is one of this id."""
    if old_id in taken:
        raise InvalidInput("another has the same id.")
    taken[old_id] = new


def flag(said: Any) -> bool:
    """How databases say yes; nothing said is yes, too."""
    return str(said).strip().lower() not in ("0", "0.0", "false", "no", "") if said is not None else True
