"""What came of a try: the receiver's answer, or why there was none."""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from ctxhub.core.kit.frozen import frozen

# These say "later", the other 4xx "never".
LATER = (408, 425, 429)


@frozen
class Outcome:
    """`code` and `answer` (its first KiB) of the receiver, or the `problem` instead of them or with them.

    `retry_after`: how long the receiver asks to wait.
    """

    code: int | None = None
    answer: str = ""
    problem: str = ""
    retry_after: timedelta | None = None

    @property
    def is_delivered(self) -> bool:
        return self.code is not None and 200 <= self.code < 300

    @property
    def is_final(self) -> bool:
        """Whether the receiver will never take it."""
        return self.code is not None and 400 <= self.code < 500 and self.code not in LATER


def read_retry_after(value: str | None, now: datetime) -> timedelta | None:
    """The header Retry-After, seconds or a date; None if there is none that can be read."""
    text = (value or "").strip()
    try:
        if text.replace(".", "", 1).isdecimal() and text.isascii():
            return timedelta(seconds=min(float(text), 10**7))
        at = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)) - now
