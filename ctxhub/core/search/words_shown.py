"""Finds the rows that show the name of a vocabulary word, to index them again when it is renamed."""

from collections.abc import Mapping

from ctxhub.core.kit.models import NamedRow, ProjectRow

Fields = Mapping[type[NamedRow], str]
"""The lookup from a model to each kind of word."""


def ids_showing(model: type[ProjectRow], word: NamedRow, fields: Fields) -> list[int]:
    field = fields.get(type(word))
    if field is None:
        return []
    rows = model.objects.in_project(word.project_id).filter(**{field: word.pk})
    return list(rows.order_by("pk").values_list("pk", flat=True))
