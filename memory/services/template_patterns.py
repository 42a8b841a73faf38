"""Regular expressions of templates. RE2 matches in time linear in the text: none can hang a worker."""

import json
from functools import lru_cache
from typing import Any

import re2

from ctxhub.core.errors import InvalidInput

# Steps of the compiled program: what a text costs is its length times this, at worst.
PROGRAM_SIZE = 2_000
KEPT = 512


def check_pattern(pattern: str, place: str) -> None:
    """Raise InvalidInput, with the reason, for what is no regular expression or too large a one."""
    try:
        size = _compiled(pattern).programsize
    except re2.error as error:
        raise InvalidInput(
            f"{place} is no regular expression: {_reason(error)}.",
            hint="RE2's syntax: without look-around and back-references.",
        ) from None
    if size > PROGRAM_SIZE:
        raise InvalidInput(
            f"{place} is too large: {size:,} steps; the limit is {PROGRAM_SIZE:,}.",
            hint="Repeat fewer times: + instead of {1,300}.",
        )


def matches(pattern: str, value: Any) -> bool:
    """Whether the pattern is found anywhere in the value, or in its JSON where it is no text."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _compiled(pattern).search(text) is not None


@lru_cache(maxsize=KEPT)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options=options)  # type: ignore[no-untyped-call]


def _reason(error: Exception) -> str:
    said = error.args[0] if error.args else ""
    return said.decode(errors="replace") if isinstance(said, bytes) else str(said)
