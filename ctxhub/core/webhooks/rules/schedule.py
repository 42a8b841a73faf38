"""When a delivery is tried again, and when it is given up."""

from datetime import datetime, timedelta

from ctxhub.core.webhooks.rules.outcomes import Outcome

# Between the tries: at once, then after these.
PAUSES = (
    timedelta(seconds=10),
    timedelta(minutes=1),
    timedelta(minutes=10),
    timedelta(hours=1),
)
MOST_TRIES = len(PAUSES) + 1
# The longest that a receiver may ask for.
LONGEST_PAUSE = timedelta(days=1)
SHORTEST_PAUSE = timedelta(seconds=1)
# The receiver asks for less: it is there, and says itself when it takes the next one.
TOO_MANY = 429


def next_try(outcome: Outcome, tries: int, now: datetime) -> datetime | None:
    """When to try again after so many tries; None: give it up."""
    if outcome.is_final or tries >= MOST_TRIES:
        return None
    pause = PAUSES[tries - 1]
    if outcome.retry_after is None:
        return now + pause
    asked = min(max(outcome.retry_after, SHORTEST_PAUSE), LONGEST_PAUSE)
    return now + (asked if outcome.code == TOO_MANY else max(asked, pause))
