"""Which backups of a folder are kept: "7d,4w" is the newest of each of 7 days and of each of 4 weeks."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

_PART = re.compile(r"([1-9]\d{0,3})([dwmy])", re.ASCII)
EXAMPLE = "7d,4w,12m,2y"

Period = tuple[int, ...]
_PERIODS: dict[str, Callable[[datetime], Period]] = {
    "d": lambda at: (at.year, at.month, at.day),
    "w": lambda at: tuple(at.isocalendar()[:2]),
    "m": lambda at: (at.year, at.month),
    "y": lambda at: (at.year,),
}


class BadRule(ValueError):
    """The rule cannot be read; the message has an example."""


@dataclass(frozen=True, slots=True)
class Part:
    """The newest of each of so many periods: d(ay), w(eek, from Monday), m(onth) or y(ear), in UTC."""

    count: int
    unit: str


def read_rule(text: str) -> Sequence[Part]:
    """Raises BadRule."""
    found = [_PART.fullmatch(part.strip()) for part in text.split(",")]
    parts = [Part(int(part[1]), part[2]) for part in found if part]
    if len(parts) != len(found) or len({part.unit for part in parts}) != len(parts):
        raise BadRule(
            f"--keep {text[:60]!r} cannot be read: say of how many days, weeks, months and years to keep the "
            f"newest, each once, such as {EXAMPLE}."
        )
    return parts


def kept(times: Iterable[datetime], rule: Sequence[Part]) -> set[datetime]:
    """The times that the rule keeps. Only periods count that have one, so age alone removes nothing."""
    newest_first = sorted(set(times), reverse=True)
    keeps: set[datetime] = set()
    for part in rule:
        seen: dict[Period, datetime] = {}
        for at in newest_first:
            seen.setdefault(_PERIODS[part.unit](at), at)
        keeps.update([*seen.values()][: part.count])
    return keeps
