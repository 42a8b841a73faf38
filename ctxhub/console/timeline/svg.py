"""Writes the marks of a timeline as SVG: of its thousands a template takes five times as long."""

from collections.abc import Iterable
from functools import partial

from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe

from ctxhub.console.timeline.lanes import Cross, Curve, Dot, Lanes, Stripe

_joined = partial(format_html_join, "\n")


def marks_svg(lanes: Lanes) -> SafeString:
    """Bars, arrows, dots and crosses, each above those before it."""
    parts = [
        _stripes(lanes.stripes),
        _curves(lanes.curves),
        *map(_dot, lanes.dots),
        _crosses(lanes.crosses),
    ]
    return mark_safe("\n".join(parts))  # noqa: S308  # Dots are numbers and words of this package.


def _stripes(stripes: Iterable[Stripe]) -> SafeString:
    return _joined(
        '<a href="{}"><rect class="ctx-stripe ctx-{}" x="{}" y="{}" width="{}" height="5" rx="2">'
        "<title>{}</title></rect></a>",
        ((each.bar.url, each.bar.role, each.x, each.y, each.width, each.bar.title) for each in stripes),
    )


def _curves(curves: Iterable[Curve]) -> SafeString:
    return _joined(
        '<a href="{}"><g class="ctx-curve{}"><title>{}</title><path d="{}"/><path d="{}"/></g></a>',
        (
            (
                each.arrow.url,
                each.arrow.role and f" ctx-{each.arrow.role}",
                each.arrow.title,
                each.path,
                each.head,
            )
            for each in curves
        ),
    )


def _dot(dot: Dot) -> str:
    subject, count = dot.tick.subject, dot.tick.count
    mark = f'<circle class="ctx-tick-{subject}" cx="{dot.x}" cy="{dot.y}" r="{dot.radius}">'
    return f"{mark}<title>{count} {subject}</title></circle>"


def _crosses(crosses: Iterable[Cross]) -> SafeString:
    return _joined(
        '<a href="{}"><path class="ctx-cross" d="{}"><title>{}</title></path></a>',
        ((each.mark.url, each.path, each.mark.title) for each in crosses),
    )
