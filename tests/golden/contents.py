"""What all tables hold, as text: one row a line, by table and id."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.apps import apps
from django.db.models import Model

APPS = ("core", "memory", "messaging", "tracking", "agent_sessions")
# Secrets are made anew in each run.
MASKED = {("core_accesstoken", "digest"), ("core_accesstoken", "start")}
# Of several things that have a word, any is named beside it.
LEFT_OUT = {("core_searchword", "entry_id")}
# The ids of these rows stand nowhere else.
NOT_NAMED = ("core_tally", "core_searchword")


def contents() -> str:
    lines: list[str] = []
    for model in sorted(apps.get_models(include_auto_created=True), key=lambda model: model._meta.db_table):
        if model._meta.app_label in APPS:
            lines += ["", f"## {model._meta.db_table}", *_rows(model)]
    return "\n".join([*lines, ""]).lstrip("\n")


def _rows(model: type[Model]) -> Iterator[str]:
    table = model._meta.db_table
    rows = model._base_manager.order_by("pk").values(*(f.attname for f in model._meta.concrete_fields))
    has_id = table not in NOT_NAMED and not _is_link(model)
    shown = [json.dumps(_row(table, row, has_id=has_id), ensure_ascii=False) for row in rows]
    yield from shown if has_id else sorted(shown)


def _is_link(model: type[Model]) -> bool:
    """A row between two things: known by them."""
    return any(
        getattr(field.remote_field, "through", None) is model
        for other in apps.get_models()
        for field in other._meta.many_to_many
    )


def _row(table: str, row: dict[str, Any], *, has_id: bool) -> dict[str, Any]:
    """Without what is empty, and without the project where that is the first one."""
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
    """Times as one reads them; PostgreSQL keeps no order of the names in an object."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().removesuffix("+00:00")
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in sorted(value.items())}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value
