"""The newest events of a period as a list, for screens that are too narrow for the drawing.

Events that follow one another and are alike, as twelve files that an agent changed, are one line.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from django.urls import reverse

from ctxhub.console.timeline.periods import Period
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Event, Project
from ctxhub.core.templatetags.agents import SYSTEM

EVENTS_READ, LINES, NAMED = 200, 30, 3


class _Event(NamedTuple):
    id: int
    agent_id: int | None
    verb: str
    noun: str
    ref: str
    at: datetime

    @property
    def alike(self) -> tuple[int | None, str, str]:
        return self.agent_id, self.verb, self.noun


@frozen
class Line:
    """`refs`: the refs of the newest NAMED events, each with the URL that opens it; `more`: of the others."""

    agent_id: int | None
    name: str
    verb: str
    at: datetime
    count: int
    refs: Sequence[tuple[str, str]]

    @property
    def more(self) -> int:
        return self.count - len(self.refs)


@frozen
class Newest:
    """`events`: how many the lines tell."""

    lines: Sequence[Line]
    events: int


def newest_events(project: Project, period: Period, names: Mapping[int | None, str]) -> Newest:
    """`names`: of the agents of the period, by id."""
    rows = Event.objects.in_project(project.pk).filter(at__gte=period.begin, at__lt=period.end)
    columns = ("pk", "agent_id", "verb", "noun", "ref", "at")
    events = [_Event(*row) for row in rows.order_by("-at", "-pk").values_list(*columns)[:EVENTS_READ]]
    lines = [_line(list(run), names) for _, run in groupby(events, key=lambda event: event.alike)][:LINES]
    return Newest(lines, sum(line.count for line in lines))


def _line(run: Sequence[_Event], names: Mapping[int | None, str]) -> Line:
    newest = run[0]
    refs = [(event.ref, reverse("admin:core_event_open", args=[event.id])) for event in run[:NAMED]]
    name = names.get(newest.agent_id, SYSTEM)
    return Line(newest.agent_id, name, newest.verb, newest.at, len(run), refs)
