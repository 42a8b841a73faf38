"""Regular expressions that people write. RE2 matches in time linear in the text: none can hang a worker."""

from functools import lru_cache
from typing import Any

import re2

from ctxhub.core.kit.errors import InvalidInput

# Steps of the compiled program: what a text costs is its length times this, at worst.
PROGRAM_SIZE = 2_000
KEPT = 512


def check_pattern(
    pattern: str, place: str, *, ignore_case: bool = False, at_most: int = PROGRAM_SIZE
) -> None:
    """Raise InvalidInput, with the reason, for what is no regular expression or too large a one."""
    try:
        size = compiled(pattern, ignore_case=ignore_case).programsize
    except re2.error as error:
        raise InvalidInput(
            f"{place} is no regular expression: {_reason(error)}.",
            hint="RE2's syntax: without look-around and back-references.",
        ) from None
    if size > at_most:
        raise InvalidInput(
            f"{place} is too large: {size:,} steps; the limit is {at_most:,}.",
            hint="Repeat fewer times: + instead of {1,300}.",
        )


@lru_cache(maxsize=KEPT)
def compiled(pattern: str, *, ignore_case: bool = False) -> Any:
    """The pattern, ready to search; raises re2.error."""
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    return re2.compile(pattern, options=options)  # type: ignore[no-untyped-call]


def _reason(error: Exception) -> str:
    said = error.args[0] if error.args else ""
    return said.decode(errors="replace") if isinstance(said, bytes) else str(said)
