"""The mark beside the name of an agent: a colour and a figure of its own, from its place in its project.

The first twelve of a project have twelve colours and twelve figures, the first 144 differ in one of them. A
person has a round mark, the system none. Drawn at 16 pixels; the colours are in `admin.css`.
"""

import time
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from django.utils.html import format_html
from django.utils.safestring import SafeString

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.replaced_file import when_replaced
from ctxhub.core.models import Agent

REMEMBERED_SECONDS = 60.0
COLOURS = 12
TILE = "M4 0h8a4 4 0 0 1 4 4v8a4 4 0 0 1-4 4H4a4 4 0 0 1-4-4V4a4 4 0 0 1 4-4z"
DISC = "M8 0a8 8 0 1 0 0 16A8 8 0 1 0 8 0z"
HEAD_AND_SHOULDERS = (
    "M8 3.2a2.5 2.5 0 1 0 0 5a2.5 2.5 0 1 0 0-5zM3.2 12.6c.5-2.3 2.4-3.4 4.8-3.4s4.3 1.1 4.8 3.4z"
)
# Cut out of the tile, so that the ground shows through: told apart without colours, too.
FIGURES = (
    "M8 4a4 4 0 1 0 0 8a4 4 0 1 0 0-8z",  # disc
    "M8 3.2L13 12.2H3z",  # triangle
    "M6.8 3.2h2.4v3.6h3.6v2.4H9.2v3.6H6.8V9.2H3.2V6.8h3.6z",  # plus
    "M3.5 4h9v2.2h-9zM3.5 9.8h9V12h-9z",  # bars
    "M8 2.8L13.2 8L8 13.2L2.8 8z",  # diamond
    "M5 3.2L12 8L5 12.8z",  # arrow
    "M8 3.2a4.8 4.8 0 1 0 0 9.6A4.8 4.8 0 1 0 8 3.2zM8 5.8a2.2 2.2 0 1 1 0 4.4A2.2 2.2 0 1 1 8 5.8z",  # ring
    "M3.4 3.4h9.2L8 8l4.6 4.6H3.4L8 8z",  # hourglass
    "M3.5 3.5h3v6h6v3h-9z",  # corner
    "M8 2.2L9.6 6.4L13.8 8L9.6 9.6L8 13.8L6.4 9.6L2.2 8L6.4 6.4z",  # star
    "M3.2 3.2h3.8v3.8H3.2zM9 9h3.8v3.8H9z",  # two squares
    "M3.4 5.2l1.8-1.8L8 6.2l2.8-2.8 1.8 1.8L9.8 8l2.8 2.8-1.8 1.8L8 9.8l-2.8 2.8-1.8-1.8L6.2 8z",  # cross
)


class AgentMark(NamedTuple):
    """`path`: its outline and what is cut out of it, by the even-odd rule, in a square of 16."""

    colour: int
    path: str

    @property
    def css_class(self) -> str:
        """The class whose `color` is the mark's."""
        return f"ctx-colour-{self.colour}"

    @property
    def svg(self) -> SafeString:
        return format_html(
            '<svg class="ctx-agent-mark {}" width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">'
            '<path d="{}"/></svg>',
            self.css_class,
            self.path,
        )


def mark_at(place: int, is_person: bool) -> AgentMark:
    """The mark of a project's agent number `place`, from 0."""
    colour = place % COLOURS
    if is_person:
        return AgentMark(colour, DISC + HEAD_AND_SHOULDERS)
    return AgentMark(colour, TILE + FIGURES[(place + place // COLOURS) % len(FIGURES)])


def mark_of(agent_id: int | None) -> AgentMark | None:
    """The mark of an agent; None of the system. It costs no statement while the agents are remembered."""
    if not agent_id:
        return None
    known = _remembered()
    if agent_id not in known.by_id:
        known = _read()
        known.by_id.setdefault(agent_id, None)
    return _drawn(known.by_id[agent_id])


def mark_of_name(project_id: int, name: str) -> AgentMark | None:
    """As `mark_of`, where a text names the agent; None if nobody of the project is registered by it."""
    return _drawn(_remembered().by_name.get((project_id, name.casefold())))


def forget_marks() -> None:
    """Read the agents again when the next mark is asked for."""
    global _known
    _known = None


Standing = tuple[int, int]
"""The place of an agent in its project, from 0, and its kind."""


@frozen
class _Known:
    until: float
    by_id: dict[int, Standing | None]
    by_name: dict[tuple[int, str], Standing]


# An agent keeps its place. Others join, and are read when they are met; one may turn out to be a person.
_known: _Known | None = None
when_replaced.append(forget_marks)


def _remembered() -> _Known:
    known = _known
    return known if known and known.until > time.monotonic() else _read()


def _read() -> _Known:
    """Of all projects, since a page may show several: it takes 2.5 ms for a thousand agents."""
    global _known
    agents = Agent.unscoped.order_by("project_id", "pk").values_list("project_id", "pk", "folded", "kind")
    known = _Known(time.monotonic() + REMEMBERED_SECONDS, {}, {})
    for _, of_project in groupby(agents, key=itemgetter(0)):
        for place, (project_id, agent_id, folded, kind) in enumerate(of_project):
            known.by_id[agent_id] = known.by_name[project_id, folded] = (place, kind)
    _known = known
    return known


def _drawn(standing: Standing | None) -> AgentMark | None:
    return mark_at(standing[0], standing[1] == Agent.Kind.HUMAN) if standing else None
