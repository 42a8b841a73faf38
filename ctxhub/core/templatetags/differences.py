"""Template filter that draws the pieces of a difference."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

if TYPE_CHECKING:
    from ctxhub.console.text_diff import Piece

register = template.Library()

# In Python: a long text has thousands of pieces, and a template would take most of the page's time.
MARKUP = {
    "same": "{text}",
    "added": "<ins>{text}</ins>",
    "removed": "<del>{text}</del>",
    "folded": '<details class="ctx-fold"><summary>{note}</summary>{text}</details>',
    "skipped": '<span class="ctx-skipped">{note}</span>',
}


@register.filter
def marked(pieces: Iterable["Piece"]) -> SafeString:
    drawn = (MARKUP[each.kind].format(text=escape(each.text), note=each.note) for each in pieces)
    return mark_safe("".join(drawn))  # noqa: S308
