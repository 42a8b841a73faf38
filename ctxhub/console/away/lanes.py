"""The lanes of the first page: who is told, in which order, and how each is drawn."""

from collections.abc import Mapping, Sequence

from django.urls import reverse
from django.utils.safestring import SafeString

from ctxhub.console.away.sentences import sentence_of
from ctxhub.console.away.sources import Details, Kind
from ctxhub.console.away.work import COLUMNS, Work
from ctxhub.console.timeline.page import same_period
from ctxhub.console.timeline.periods import Period
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Project
from ctxhub.core.templatetags.agent_marks import mark_of
from ctxhub.core.templatetags.agents import named_link

LANES_SHOWN = 12
# In pixels of the drawing.
HEIGHT, COLUMN, LEAST = 24, 4, 4
WIDTH = COLUMNS * COLUMN


@frozen
class Lane:
    """`name`: a link to the agent's page; `url`: of the timeline. `project`: its name, if several are shown.

    `path`: a stroke for each column with events, in the colour of the class `colour`.
    """

    work: Work
    key: str
    name: SafeString
    project: str
    url: str
    path: str
    colour: str
    sentence: SafeString


@frozen
class Reader:
    """Who reads: the shown projects by id, and the name under which the person acts."""

    projects: Mapping[int, Project]
    name: str


def in_order(works: Sequence[Work]) -> list[Work]:
    """Those who wait for the person first, then the busiest; what no agent did last."""
    return sorted(
        works,
        key=lambda work: (
            not work.waiting,
            work.agent_id is None,
            -work.events,
            -work.refusals,
            work.name.casefold(),
            work.project_id,
        ),
    )


def lanes_of(
    works: Sequence[Work],
    period: Period,
    reader: Reader,
    kinds: Sequence[Kind],
    details: Mapping[str, Details],
) -> list[Lane]:
    most = max((count for work in works for count in work.columns.values()), default=1)
    return [
        _lane(work, f"away-{work.project_id}-{work.agent_id or -place}", most, period, reader, sentence)
        for place, work in enumerate(works)
        for sentence in [sentence_of(work, kinds, details)]
    ]


def _lane(work: Work, key: str, most: int, period: Period, reader: Reader, sentence: SafeString) -> Lane:
    project = reader.projects[work.project_id]
    is_reader = work.is_person and work.name.casefold() == reader.name.casefold()
    shown = "You" if is_reader else work.name
    page = same_period(reverse("admin:core_event_timeline"), project, period)
    mark = mark_of(work.agent_id)
    return Lane(
        work,
        key,
        named_link("ctx-actor ctx-agent", work.name, work.agent_id, shown=shown),
        str(project) if len(reader.projects) > 1 else "",
        f"{page}#agent-{work.agent_id}" if work.agent_id else page,
        _path(work.columns, most),
        mark.css_class if mark else "",
        sentence,
    )


def _path(columns: Mapping[int, int], most: int) -> str:
    """Heights grow with the root: few events beside many are still seen."""
    strokes = []
    for column, count in sorted(columns.items()):
        height = LEAST + (HEIGHT - LEAST) * (count / most) ** 0.5
        strokes.append(f"M{column * COLUMN + COLUMN / 2:g} {HEIGHT}v-{height:.3g}")
    return "".join(strokes)
