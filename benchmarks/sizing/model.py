"""The model of use: what an agent asks of the hub in an hour, and what a team of them adds up to.

The calls of hooks follow from `integrations/client`: a check before an edit, a change and an access after it,
a nudge at a prompt, and urgent mail at the end of a turn. How often an agent edits and how long it works are
assumptions; docs/sizing.md states them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from random import Random

AGENTS_PER_PERSON = 2
HOURS_A_DAY = 6
DAYS_A_MONTH = 21
PEOPLE_PER_PROJECT = 10
# The busiest minute against the mean of the working hours.
PEAK = 5


@dataclass(frozen=True, slots=True)
class Use:
    """A call, and how many of it an agent makes in an hour. `by_hook`: over REST, else over MCP."""

    name: str
    an_hour: int
    by_hook: bool = False
    writes: bool = False


USES: Sequence[Use] = (
    Use("check", 20, by_hook=True),
    Use("change", 20, by_hook=True, writes=True),
    Use("access", 20, by_hook=True, writes=True),
    Use("nudge", 8, by_hook=True),
    Use("mail", 8, by_hook=True),
    Use("session", 1, by_hook=True, writes=True),
    Use("brief", 1),
    Use("search", 4),
    Use("get", 4),
    Use("list", 3),
    Use("inbox", 2),
    Use("lease", 2, writes=True),
    Use("release", 2, writes=True),
    Use("decision", 1, writes=True),
    Use("memory", 1, writes=True),
    Use("message", 1, writes=True),
    Use("append", 1, writes=True),
)
CALLS_AN_HOUR = sum(use.an_hour for use in USES)
WRITES_AN_HOUR = sum(use.an_hour for use in USES if use.writes)
# Answers that give objects by name, which the hub notes.
GIVING_AN_HOUR = sum(use.an_hour for use in USES if use.name in ("get", "brief"))
IS_WRITE: Mapping[str, bool] = {use.name: use.writes for use in USES}


@dataclass(frozen=True, slots=True)
class Team:
    people: int

    @property
    def agents(self) -> int:
        return self.people * AGENTS_PER_PERSON

    @property
    def projects(self) -> int:
        return ceil(self.people / PEOPLE_PER_PROJECT)

    @property
    def calls_a_second(self) -> float:
        """The mean of the working hours."""
        return self.agents * CALLS_AN_HOUR / 3600

    @property
    def peak(self) -> float:
        return self.calls_a_second * PEAK

    @property
    def calls_a_day(self) -> int:
        return self.agents * HOURS_A_DAY * CALLS_AN_HOUR

    @property
    def writes_a_day(self) -> int:
        return self.agents * HOURS_A_DAY * WRITES_AN_HOUR

    def rows(self, months: float) -> "Rows":
        """What its hub holds after so many months, with what the settings' defaults have removed gone."""
        a_day = self.agents * HOURS_A_DAY
        days = months * DAYS_A_MONTH
        return Rows(
            # Half of the decisions that are set are new values of earlier ones.
            decisions=round(a_day * days / 2),
            memories=round(a_day * days),
            messages=round(a_day * min(days, 1)),  # message_hours: 24
            changes=round(a_day * 20 * min(days, 5)),  # change_days: 7
            accesses=round(a_day * 20 * min(days, 63)),  # access_days: 90
            sessions=round(a_day * min(days, DAYS_A_MONTH)),  # session_days: 30
            uses=round(a_day * len(USES) * min(days, 63)),
            given=round(a_day * GIVING_AN_HOUR * min(days, 63)),
            events=round(a_day * (WRITES_AN_HOUR - 20) * days),  # Accesses are in no log.
        )


@dataclass(frozen=True, slots=True)
class Rows:
    """Those of all projects together."""

    decisions: int
    memories: int
    messages: int
    changes: int
    accesses: int
    sessions: int
    uses: int
    given: int
    events: int


def deck(seed: int) -> Sequence[str]:
    """The calls of an hour of an agent, shuffled: a lease comes before its release."""
    names = [use.name for use in USES for _ in range(use.an_hour)]
    Random(seed).shuffle(names)
    return names
