"""JSON formatted for comparison by lines: a value that fits into a line is on one."""

import json
from collections.abc import Sequence
from typing import Any

WIDTH = 110


def readable(value: Any, *, sort: bool = False) -> str:
    """With `sort` the keys of objects are sorted."""
    return _pretty(json.loads(json.dumps(value, sort_keys=True)) if sort else value, 0)


def _pretty(value: Any, depth: int) -> str:
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + depth <= WIDTH or not isinstance(value, dict | list) or not value:
        return line
    indent = " " * (depth + 1)
    if isinstance(value, dict):
        parts: Sequence[str] = [
            f"{indent}{json.dumps(name, ensure_ascii=False)}: {_pretty(inner, depth + 1)}"
            for name, inner in value.items()
        ]
        opening, closing = "{}"
    else:
        parts = [f"{indent}{_pretty(inner, depth + 1)}" for inner in value]
        opening, closing = "[]"
    return f"{opening}\n" + ",\n".join(parts) + f"\n{' ' * depth}{closing}"
