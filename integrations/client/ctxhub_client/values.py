"""JSON from clients and from the hub, which may have any form."""

from __future__ import annotations

import json
import os

from ctxhub_client.process import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]

MOST_INPUT_BYTES = 16_000_000


def read_stdin() -> Json:
    """The JSON object that stdin begins with; {} for anything else, and for one that is too long.

    It is taken when it is whole, as the writer may leave the stream open; what is too long is read to its
    end, so that the writer does not fail.
    """
    parts: list[bytes] = []
    size = 0
    while part := os.read(0, 1 << 20):
        size += len(part)
        if size > MOST_INPUT_BYTES:
            parts = []
            continue
        parts.append(part)
        if part.rstrip().endswith(b"}"):
            found = first_document(b"".join(parts))
            if found is not None:
                return found
    if size > MOST_INPUT_BYTES:
        log("stdin too long:", size)
    return read_json(b"".join(parts))


def first_document(data: bytes) -> Json | None:
    """The JSON object that a text begins with; None if it is not whole."""
    decoder = json.JSONDecoder(parse_int=short_number)
    try:
        found, _ = decoder.raw_decode(data.decode("utf-8-sig", "replace").lstrip())
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def short_number(digits: str) -> int:
    """Long numbers count as 0: reading them takes too long."""
    return int(digits) if len(digits) < 20 else 0


def read_json(data: bytes) -> Json:
    """A JSON object; {} for anything else."""
    try:
        found = json.loads(data.decode("utf-8-sig", "replace"), parse_int=short_number)
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
