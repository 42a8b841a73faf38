"""What one search for credentials is: a pattern, and what reads its matches."""

import re
from collections.abc import Callable
from typing import NamedTuple


class FoundSecret(NamedTuple):
    """A credential: its kind as errors name it ("GitHub token"), its start and end in the text."""

    kind: str
    start: int
    end: int


# Reads a match as a credential. Positions in the text that was searched are those in the text as written.
Read = Callable[[re.Match[str], str], FoundSecret | None]


class Search(NamedTuple):
    """`literal`: what every match begins with."""

    literal: str
    pattern: re.Pattern[str]
    read: Read
