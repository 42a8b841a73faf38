"""Whether what a decision says matches the pattern that its template has for it."""

import json
from typing import Any

from ctxhub.core.text.patterns import compiled


def matches(pattern: str, value: Any) -> bool:
    """Whether the pattern is found anywhere in the value, or in its JSON where it is no text."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return compiled(pattern).search(text) is not None
