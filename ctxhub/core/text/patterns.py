"""User-supplied regular expressions. RE2 matches in linear time, so none can block a worker.

It is loaded with the first of them: most processes never see one.
"""

from functools import lru_cache
from typing import Any

from ctxhub.core.kit.errors import InvalidInput

# The size limit of a compiled program: matching takes at most size times length of the text.
PROGRAM_SIZE = 2_000
CACHE_SIZE = 512


def check_pattern(
    pattern: str, place: str, *, ignore_case: bool = False, at_most: int = PROGRAM_SIZE
) -> None:
    """Raise InvalidInput, with the reason, if the pattern is no regular expression or too large."""
    import re2

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


@lru_cache(maxsize=CACHE_SIZE)
def compiled(pattern: str, *, ignore_case: bool = False) -> Any:
    """Compile a pattern. Raises re2.error."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    return re2.compile(pattern, options=options)  # type: ignore[no-untyped-call]


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
