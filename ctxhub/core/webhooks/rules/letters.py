"""What a receiver is told: an event, many at once, or a test."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from ctxhub.core.kit.frozen import frozen


@frozen
class Letter:
    """An event for a receiver. `id`: its cursor (e12). `note`: as in the list of activity.

    `data`: of the event, for sentences. `link`: the page of its object in the admin, "" if nobody knows how
    the hub is reached. `is_again`: it was given up before, so it is out of order.
    """

    id: str
    at: datetime
    project: str
    noun: str
    verb: str
    ref: str
    agent: str
    note: str
    data: Mapping[str, Any] = field(default_factory=dict)
    link: str = ""
    is_again: bool = False

    @property
    def name(self) -> str:
        return f"{self.noun}.{self.verb}"


@frozen
class Summary:
    """Many events for people, who do not read a thousand sentences.

    `counts`: how many of each (noun, verb), the most first. `since`: the time of the first.
    """

    id: str
    since: datetime
    project: str
    events: int
    counts: Mapping[tuple[str, str], int]
    link: str = ""
    is_again: bool = False

    name = "hub.summary"
