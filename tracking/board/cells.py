"""The HTML of a board's lines. In Python, and once for each lease: templates take too long for hundreds."""

from collections.abc import Sequence

from django.urls import reverse
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe

from ctxhub.console.silence import Presence
from ctxhub.console.urls import list_url
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Project
from ctxhub.core.templatetags.agents import named_link
from ctxhub.core.templatetags.moments import moment
from ctxhub.core.text.plurals import counted, often
from tracking.board.drawing import Axis, Cross, Stripe
from tracking.board.found import Held
from tracking.board.tree import Line
from tracking.leases.release_button import NAME_CHARACTERS, cut, release_button

# From above, and the height, of the bar of a lease and of a folder.
BAR, FOLDER_BAR = (5, 12), (9, 4)
GOES_ON = '<text x="100%" y="15" text-anchor="end">&rsaquo;</text>'


@frozen
class Drawn:
    """A line and its cells: the drawing, who holds it, a button. `url`: of the lease; "" of a folder."""

    line: Line
    cells: SafeString | str
    url: str = ""


def draw(lines: Sequence[Line], axis: Axis, project: Project, may_release: bool) -> list[Drawn]:
    """A lease of several paths has the same cells on each of its lines."""
    of_lease: dict[int, Drawn] = {}
    drawn = []
    for line in lines:
        if line.held is None:
            drawn.append(Drawn(line, "" if line.is_end else _folder(line, axis)))
            continue
        lease = line.held.lease
        if (known := of_lease.get(lease.pk)) is None:
            url = reverse("admin:tracking_lease_change", args=[lease.pk])
            known = of_lease[lease.pk] = Drawn(line, _lease(line.held, axis, project, may_release), url)
        drawn.append(Drawn(line, known.cells, known.url))
    return drawn


def _lease(held: Held, axis: Axis, project: Project, may_release: bool) -> SafeString:
    stripe = axis.stripe(held)
    return format_html(
        '{}<span class="ctx-holder">{}</span>{}',
        _track([stripe] if stripe else [], axis.crosses(held), BAR),
        _detail(held, project),
        release_button(held.lease) if may_release and held.is_live else "",
    )


def _folder(line: Line, axis: Axis) -> SafeString:
    stripes = [stripe for held in line.leases if (stripe := axis.stripe(held))]
    silent = [held for held in line.leases if held.is_silent]
    refused = sum(held.refused for held in line.leases)
    return format_html(
        '{}<span class="ctx-holder ctx-quiet">{}{}{}</span>',
        _track(axis.merged(stripes), [], FOLDER_BAR),
        counted(len(line.leases), "leases"),
        format_html(', <span class="ctx-is-{}">{} silent</span>', _most_urgent(silent), len(silent))
        if silent
        else "",
        f", refused {often(refused)}" if refused else "",
    )


def _track(stripes: Sequence[Stripe], crosses: Sequence[Cross], place: tuple[int, int]) -> SafeString:
    y, height = place
    bars = "".join(
        f'<rect class="ctx-hold-{each.role}" x="{each.x}%" y="{y}" width="{each.width}%" height="{height}"'
        f' rx="2"/>{GOES_ON if each.goes_on else ""}'
        for each in stripes
    )
    marks = "".join(
        f'<text class="ctx-cross-mark" x="{each.x}%" y="16" text-anchor="middle">&times;'
        f"<title>{conditional_escape(each.title)}</title></text>"
        for each in crosses
    )
    # Numbers, and titles that are escaped.
    return mark_safe(f'<svg class="ctx-track" aria-hidden="true">{bars}{marks}</svg>')  # noqa: S308


def _detail(held: Held, project: Project) -> SafeString:
    """Who holds the lease and until when, and how often others were refused."""
    lease = held.lease
    return format_html(
        '{} {} {} <span class="ctx-quiet">{} {}{}{}</span> {}',
        named_link(
            "ctx-actor ctx-agent", lease.agent.name, lease.agent_id, cut(lease.agent.name, NAME_CHARACTERS)
        ),
        _session(lease.session) if lease.session else "",
        _silence(held) if held.is_silent else "",
        "ends" if held.is_live else "ended",
        moment(held.end),
        "" if lease.exclusive else ", shared",
        f", {len(held.paths)} paths" if len(held.paths) > 1 else "",
        _refused(held, project),
    )


def _silence(held: Held) -> SafeString:
    said = '<span class="ctx-is-{}">{}; last heard of {};</span>'
    return format_html(said, held.role, held.presence, moment(held.heard_at))


def _most_urgent(silent: Sequence[Held]) -> str:
    return max((held.presence for held in silent), key=(Presence.AWAITED).__eq__).role


def _session(name: str) -> SafeString:
    return format_html('<span class="ctx-quiet" title="{}">{},</span>', name, cut(name, NAME_CHARACTERS))


def _refused(held: Held, project: Project) -> SafeString | str:
    if not held.refused:
        return ""
    url = list_url("core_refusal", project, q=held.lease.ref)
    return format_html('<a class="ctx-link" href="{}">refused {}</a>', url, often(held.refused))
