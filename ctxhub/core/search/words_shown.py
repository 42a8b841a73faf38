"""Which rows show a word by its name, and so are found by another when it is renamed."""

from collections.abc import Mapping

from ctxhub.core.kit.models import NamedRow, ProjectRow

Fields = Mapping[type[NamedRow], str]
"""The field by which a model points to each kind of word."""


def ids_showing(model: type[ProjectRow], word: NamedRow, fields: Fields) -> list[int]:
    field = fields.get(type(word))
    if field is None:
        return []
    rows = model.objects.in_project(word.project_id).filter(**{field: word.pk})
    return list(rows.order_by("pk").values_list("pk", flat=True))
