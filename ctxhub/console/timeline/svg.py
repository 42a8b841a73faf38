"""Writes the marks of a timeline as SVG: of its thousands a template takes five times as long."""

from collections.abc import Iterable
from functools import partial

from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe

from ctxhub.console.timeline.lanes import Column, Cross, Curve, Dot, Lanes, Stripe

_joined = partial(format_html_join, "\n")


def marks_svg(lanes: Lanes) -> SafeString:
    """Bars, bands, arrows, dots and crosses, each above those before it."""
    parts = [
        _stripes(lanes.stripes),
        *map(_column, lanes.columns),
        _curves(lanes.curves),
        *map(_dot, lanes.dots),
        _crosses(lanes.crosses),
    ]
    return mark_safe("\n".join(parts))  # noqa: S308  # Dots are numbers and words of this package.


def _stripes(stripes: Iterable[Stripe]) -> SafeString:
    return _joined(
        '<a href="{0}" aria-label="{1}"><rect class="ctx-stripe ctx-{2}" x="{3}" y="{4}" width="{5}" '
        'height="5" rx="2"><title>{1}</title></rect></a>',
        ((each.bar.url, each.bar.title, each.bar.role, each.x, each.y, each.width) for each in stripes),
    )


def _curves(curves: Iterable[Curve]) -> SafeString:
    """One link a message, however many read it. Its ends are seen when it is pointed at or focused."""
    return _joined(
        '<a href="{0}" aria-label="{1}" data-lanes="{2}"><g class="ctx-curve{3}"><title>{1}</title>'
        '<path class="ctx-near" d="{4}"/><path d="{4}"/><path d="{5}"/>{6}</g></a>',
        (
            (
                each.arrow.url,
                each.arrow.title,
                " ".join(map(str, each.lanes)),
                each.arrow.role and f" ctx-{each.arrow.role}",
                each.path,
                each.heads,
                _joined('<circle class="ctx-end" cx="{}" cy="{}" r="5"/>', each.ends),
            )
            for each in curves
        ),
    )


def _column(column: Column) -> str:
    subject, count = column.tick.subject, column.tick.count
    box = f'x="{column.x}" y="{column.y}" width="{column.width}" height="{column.height}"'
    return f'<rect class="ctx-tick-{subject}" {box}><title>{count} {subject}</title></rect>'


def _dot(dot: Dot) -> str:
    subject, count = dot.tick.subject, dot.tick.count
    mark = f'<circle class="ctx-tick-{subject}" cx="{dot.x}" cy="{dot.y}" r="{dot.radius}">'
    return f"{mark}<title>{count} {subject}</title></circle>"


def _crosses(crosses: Iterable[Cross]) -> SafeString:
    return _joined(
        '<a href="{0}" aria-label="{1}"><path class="ctx-cross" d="{2}"><title>{1}</title></path></a>',
        ((each.mark.url, each.mark.title, each.path) for each in crosses),
    )
