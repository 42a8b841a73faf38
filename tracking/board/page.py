"""The template context of the board."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from django.urls import reverse

from ctxhub.console.timeline.choices import Choice, period_choices
from ctxhub.console.timeline.periods import read_period
from ctxhub.console.urls import in_project, list_url
from ctxhub.core.accounts.config import read_config
from ctxhub.core.kit import clock
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Project
from tracking.board.cells import Drawn, draw
from tracking.board.drawing import Axis
from tracking.board.found import FoundLeases, Held, find_leases
from tracking.board.tree import fold

DEFAULT = "1h"
SILENT, SESSIONS = "silent", "sessions"


@frozen
class Tree:
    """Leases as lines. `more`: how many are left out; `url`: the list that has them."""

    title: str
    lines: Sequence[Drawn]
    leases: int
    more: int
    url: str


def board_context(project: Project, query: Mapping[str, str], may_release: bool) -> dict[str, Any]:
    """The number of statements does not grow with the leases."""
    now = clock.now()
    period = read_period(query, ZoneInfo(read_config(project.config).time_zone), default=DEFAULT)
    found = find_leases(project, period, now)
    silent = [held for held in found.live if held.is_silent]
    is_narrow = query.get("show") == SILENT
    live = silent if is_narrow else found.live
    more_live = 0 if is_narrow else found.more_live
    axis = Axis(period, live, now)

    def tree(title: str, leases: Sequence[Held], more: int, **filters: str) -> Tree:
        lines, left_out = fold(leases)
        drawn = draw(lines, axis, project, may_release)
        url = list_url("tracking_lease", project, **filters)
        return Tree(title, drawn, len(leases) + more, left_out + more, url)

    return {
        "period": period,
        "choices": period_choices(reverse("admin:tracking_lease_board"), project, period),
        "kinds": _kinds(project, query, found, len(silent)),
        "axis": axis,
        "live": _lanes(tree, live)
        if query.get("show") == SESSIONS
        else [tree("Held now", live, more_live, state=SILENT if is_narrow else "live")],
        "ended": None if is_narrow else tree("Ended in this period", found.ended, found.more_ended),
        "is_narrow": is_narrow,
        "holders": len({(held.lease.agent_id, held.lease.session) for held in found.live}),
        "refused": sum(held.refused for held in found.live),
        "may_release": may_release,
    }


def _kinds(project: Project, query: Mapping[str, str], found: FoundLeases, silent: int) -> list[Choice]:
    page = reverse("admin:tracking_lease_board")
    kept = {name: query[name] for name in ("last", "from", "to") if query.get(name)}
    live = len(found.live) + found.more_live
    shown = query.get("show")
    return [
        Choice(f"All {live}", in_project(page, project, **kept), shown not in (SILENT, SESSIONS)),
        Choice(f"Silent {silent}", in_project(page, project, **kept, show=SILENT), shown == SILENT),
        Choice("By session", in_project(page, project, **kept, show=SESSIONS), shown == SESSIONS),
    ]


def _lanes(tree: Callable[..., Tree], leases: Sequence[Held]) -> list[Tree]:
    """A tree for each session that holds leases; the list behind it finds them by that name."""
    lanes: dict[tuple[str, str], list[Held]] = {}
    for held in leases:
        lanes.setdefault((held.lease.agent.name, held.lease.session), []).append(held)
    return [
        tree(
            f"{agent}, {session or 'no session'}",
            lane,
            0,
            state="live",
            agent=agent,
            **({"q": session} if session else {}),
        )
        for (agent, session), lane in sorted(lanes.items())
    ]
