"""What stands in a cell of a list: chips, keys, texts cut short."""

from collections.abc import Iterable
from urllib.parse import urlencode

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

PREVIEW_CHARACTERS = 120


def chips(names: Iterable[str], url: str = "", parameter: str = "") -> SafeString:
    """Small labels; with a url each leads to the rows that carry it."""
    if not url:
        return format_html_join(" ", '<span class="ctx-chip">{}</span>', ((name,) for name in names))
    return format_html_join(
        " ",
        '<a class="ctx-chip" href="{}?{}">{}</a>',
        ((url, urlencode({parameter: name}), name) for name in names),
    )


def preview(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= PREVIEW_CHARACTERS else line[:PREVIEW_CHARACTERS].rstrip() + "…"


def mono(text: str) -> SafeString:
    """A key or the like; where it does not fit it is broken behind a slash."""
    parts = format_html_join(mark_safe("/<wbr>"), "{}", ((part,) for part in text.split("/")))
    return format_html('<code class="ctx-mono ctx-key">{}</code>', parts)


def name(text: str) -> SafeString:
    return format_html('<span class="ctx-nowrap">{}</span>', text)
