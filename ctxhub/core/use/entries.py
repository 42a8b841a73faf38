"""What is noted while calls run, until a thread writes it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

Behind = str | int | Callable[[], Iterable[str]]
"""What an answer left out or cut: a text, its tokens, or what reads the texts when they are counted."""


Kind = tuple[int, str, str, bool, int]
"""What calls are added up by: project id, agent, operation, whether it writes, hours since 1970."""


@dataclass(slots=True, eq=False)
class Use:
    """The calls of a kind since the last time they were written.

    `shortened`: the tokens of each answer that left something out or cut it, and what stands behind it.
    """

    kind: Kind
    calls: int = 0
    errors: int = 0
    tokens: int = 0
    most_tokens: int = 0
    shortened: list[tuple[int, Sequence[Behind]]] = field(default_factory=list)


class Asked(NamedTuple):
    """A question that found nothing."""

    project_id: int
    agent: str
    query: str
    at: datetime
