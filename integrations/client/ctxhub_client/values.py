"""JSON from clients and from the hub, which may have any form."""

from __future__ import annotations

import json

from ctxhub_client.process import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]


def read_json(data: bytes) -> Json:
    """A JSON object; {} for anything else. Long numbers count as 0: reading them takes too long."""
    try:
        text = data.decode("utf-8-sig", "replace")
        found = json.loads(text, parse_int=lambda digits: int(digits) if len(digits) < 20 else 0)
    except (ValueError, RecursionError) as error:
        log("not JSON:", error)
        return {}
    return found if isinstance(found, dict) else {}


def text_of(values: Json, *names: str) -> str:
    """The first of these fields that is a text; "" if none is."""
    for name in names:
        value = values.get(name)
        if isinstance(value, str) and value:
            return value.encode("utf-8", "replace").decode()
    return ""


def dict_of(values: Json, name: str) -> Json:
    value = values.get(name)
    return value if isinstance(value, dict) else {}


def number_of(values: Json, name: str) -> float:
    value = values.get(name)
    return float(value) if isinstance(value, (int, float)) else 0.0


def rows_of(listed: object) -> list[Json]:
    """The rows of a list as objects, in each form that the hub gives lists."""
    if isinstance(listed, dict) and isinstance(listed.get("columns"), list):
        rows = listed.get("rows")
        listed = [
            dict(zip(listed["columns"], row))
            for row in (rows if isinstance(rows, list) else [])
            if isinstance(row, list)
        ]
    elif isinstance(listed, dict):
        listed = listed.get("items")
    return [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
