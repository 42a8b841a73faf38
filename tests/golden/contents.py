"""The contents of all tables as text: one line a row, ordered by table and id."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db.models import Model

from tests.emptying import filled_tables

APPS = ("core", "memory", "messaging", "tracking", "agent_sessions")
# Secrets differ in each run.
MASKED = {("core_accesstoken", "digest"), ("core_accesstoken", "start")}
# Any one of the entries that contain the word.
LEFT_OUT = {("core_searchword", "entry_id")}
# No other row refers to the ids of these rows.
WITHOUT_ID = ("core_tally", "core_searchword", "agent_sessions_sessionresource")


def contents() -> str:
    filled = set(filled_tables())
    lines: list[str] = []
    for table, model in _models().items():
        lines += ["", f"## {table}", *(_rows(model) if table in filled else ())]
    return "\n".join([*lines, ""]).lstrip("\n")


@cache
def _models() -> dict[str, type[Model]]:
    """Those of our apps, by table."""
    models = {model._meta.db_table: model for model in apps.get_models(include_auto_created=True)}
    return {table: model for table, model in sorted(models.items()) if model._meta.app_label in APPS}


def _rows(model: type[Model]) -> Iterator[str]:
    table = model._meta.db_table
    rows = model._base_manager.order_by("pk").values(*(f.attname for f in model._meta.concrete_fields))
    has_id = table not in WITHOUT_ID and not _is_link(model)
    shown = [json.dumps(_row(table, row, has_id=has_id), ensure_ascii=False) for row in rows]
    yield from shown if has_id else sorted(shown)


@cache
def _is_link(model: type[Model]) -> bool:
    """Whether the model is the through table of a many-to-many field, identified by its two ends."""
    return any(
        getattr(field.remote_field, "through", None) is model
        for other in apps.get_models()
        for field in other._meta.many_to_many
    )


def _row(table: str, row: dict[str, Any], *, has_id: bool) -> dict[str, Any]:
    """The row without empty values, and without the project if its id is 1."""
    return {
        name: "masked" if (table, name) in MASKED else _plain(value)
        for name, value in row.items()
        if (value is False or value == 0 or value)
        and value is not None
        and (has_id or name != "id")
        and (name, value) != ("project_id", 1)
        and (table, name) not in LEFT_OUT
    }


def _plain(value: Any) -> Any:
    """Times in ISO format, "bytes", and the keys of objects sorted: PostgreSQL keeps no order."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().removesuffix("+00:00")
    if isinstance(value, UUID):
        return "uuid"  # It is drawn.
    if isinstance(value, bytes):
        return "bytes"
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in sorted(value.items())}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value
