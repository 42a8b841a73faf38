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
    """A refusal of an agent at a moment, `count` times within a minute, at the last of which it is drawn."""

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
class Section:
    """A part of the page below the drawing, told by a template with `rows`. `note`: what it leaves out."""

    title: str
    template: str
    rows: Sequence[Any]
    note: str = ""


@frozen
class Additions:
    """What one app adds to a timeline.

    `all_arrows`, `all_bars`: how many the period has, of which these are the newest. `notes`: sentences about
    what the accounts leave out.
    """

    bars: Sequence[Bar] = ()
    arrows: Sequence[Arrow] = ()
    accounts: Sequence[Account] = ()
    sections: Sequence[Section] = ()
    all_arrows: int = 0
    all_bars: int = 0
    notes: Sequence[str] = ()


sources: list[Callable[[Project, Period], Additions]] = []
