"""What apps add to the timeline: they append a function to `sources`, since core imports no app."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from ctxhub.console.timeline.periods import Period
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Project


@frozen
class Bar:
    """Something that an agent has for a while. `role`: its CSS class."""

    agent_id: int
    begin: datetime
    end: datetime
    title: str
    url: str
    role: str = ""


@frozen
class Arrow:
    """Something that an agent sends to others, named casefolded; to everyone if `to` is None."""

    agent_id: int
    at: datetime
    to: Sequence[str] | None
    title: str
    url: str
    role: str = ""


@frozen
class Mark:
    """A refusal of an agent at a moment, `count` times within a minute."""

    agent_id: int
    at: datetime
    title: str
    url: str
    count: int


@frozen
class Account:
    """What an agent did of one kind, told by a template with `rows`; `more`: how many rows are left out.

    `agent_id` is None for what no agent did.
    """

    agent_id: int | None
    title: str
    template: str
    rows: Sequence[Any]
    more: int = 0


@frozen
class Additions:
    """What one app adds to a timeline."""

    bars: Sequence[Bar] = ()
    arrows: Sequence[Arrow] = ()
    accounts: Sequence[Account] = ()


sources: list[Callable[[Project, Period], Additions]] = []
