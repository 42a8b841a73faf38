"""Says briefly who wrote a row of a brief, and on which day: of both, ten to twelve tokens a row."""

from collections.abc import Iterable
from functools import lru_cache

from ctxhub.core.text.token_count import count_tokens

# A name with more tokens stands once in the answer, and a short one in the rows.
LONG_NAME = 4
# What stands in the rows for it, with a number.
SHORT_NAME = "a"
DAY = len("2026-11-21")


def short_names(names: Iterable[str]) -> dict[str, str]:
    """A short name for each long one, in order: `claude-code-frontend-7` -> `a1`; none that another has."""
    all_names = dict.fromkeys(names)
    free = (f"{SHORT_NAME}{number}" for number in range(1, 2 * len(all_names) + 1))
    unused = (name for name in free if name not in all_names)
    return {name: next(unused) for name in all_names if is_long(name)}


def any_writer(name: str) -> str:
    """What stands in a row for this name."""
    return f"{SHORT_NAME}1" if is_long(name) else name


@lru_cache(1_000)
def is_long(name: str) -> bool:
    return count_tokens(name) > LONG_NAME


def day_of(at: str) -> str:
    """The day of a time: 2026-11-21T10:00:00Z -> 2026-11-21."""
    return at[:DAY]
