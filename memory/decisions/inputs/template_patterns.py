"""Matches the fields of a decision against the patterns of a template."""

import json
from typing import Any

from ctxhub.core.text.patterns import compiled


def matches(pattern: str, value: Any) -> bool:
    """Whether the pattern occurs anywhere in the value, or in its JSON if it is not a string."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return compiled(pattern).search(text) is not None
