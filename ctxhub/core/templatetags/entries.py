"""A template filter for JSON objects."""

import json
from collections.abc import Mapping
from typing import Any

from django import template

register = template.Library()

LINE_CHARACTERS = 72


@register.filter
def entries(value: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Each key with its value as text. (In a template `value.items` would return the key "items".)"""
    return [(name, written(entry)) for name, entry in value.items()]


def written(value: Any) -> str:
    """A string unchanged, any other value as JSON; on one line if it fits in LINE_CHARACTERS."""
    if isinstance(value, str):
        return value
    line = json.dumps(value, ensure_ascii=False)
    return line if len(line) <= LINE_CHARACTERS else json.dumps(value, ensure_ascii=False, indent=1)
