"""How long leases last: as asked for, but those of all files are short."""

from collections.abc import Sequence
from datetime import timedelta

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_from_to
from ctxhub.core.text.globs import matches_all

MINUTES = 15
MOST_MINUTES = 24 * 60
MOST_MINUTES_OF_ALL = 60


@frozen
class Lasting:
    """`hint`: why that is shorter than what was asked for; else empty."""

    duration: timedelta
    hint: str = ""

    def also(self, hint: str) -> "Lasting":
        """The same time, with another hint beside its own."""
        return Lasting(self.duration, f"{self.hint} {hint}".strip())


def clean_minutes(minutes: int) -> int:
    return clean_from_to(minutes, "minutes", 1, MOST_MINUTES)


def lasting(minutes: int, patterns: Sequence[str]) -> Lasting:
    """The time of a lease on these paths. One on all files stops everybody: it ends within the hour."""
    of_all = next((pattern for pattern in patterns if matches_all(pattern)), None)
    if of_all is None or minutes <= MOST_MINUTES_OF_ALL:
        return Lasting(timedelta(minutes=minutes))
    return Lasting(
        timedelta(minutes=MOST_MINUTES_OF_ALL),
        f"{of_all} matches every file, so the lease lasts {MOST_MINUTES_OF_ALL} minutes, not {minutes}:"
        " lease the folders that you change, or renew it in time.",
    )
