"""What the database holds of names, to look for characters that nobody sees."""

from collections.abc import Iterator

from django.apps import apps
from django.db import models

from ctxhub.core.text.invisible import invisible_places

# Columns of words that somebody said: no names.
SAID = {
    ("core_refusal", "note"),
    ("core_emptysearch", "query"),
    ("core_emptysearch", "folded"),
    ("memory_memory", "digest"),
}
LISTS = ("paths", "require", "enabled_mcps", "patterns")
REFS = ("ref",)


def invisible_names() -> list[str]:
    """Each stored name, list of names or ref with a character that nobody sees, and where it is."""
    return [
        f"{model._meta.db_table}.{field.name}: {value!r}"
        for model in apps.get_models()
        for field in _fields(model)
        for value in model._base_manager.values_list(field.name, flat=True)
        if invisible_places(_text(value))
    ]


def _fields(model: type[models.Model]) -> Iterator[models.Field]:  # type: ignore[type-arg]
    for field in model._meta.fields:
        holds_names = isinstance(field, models.CharField) or field.name in (*LISTS, *REFS)
        if holds_names and (model._meta.db_table, field.name) not in SAID:
            yield field


def _text(value: object) -> str:
    return value if isinstance(value, str) else str([*value]) if isinstance(value, (list, dict)) else ""
