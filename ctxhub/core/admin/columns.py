"""What stands in a cell of a list: chips, keys, texts cut short."""

from collections.abc import Callable, Iterable
from typing import Any, cast

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from unfold.decorators import display

from ctxhub.core.templatetags.moments import in_full

PREVIEW_CHARACTERS = 120
PRIORITY_COLOURS = {"critical": "danger", "high": "warning"}


def chips(names: Iterable[str], url_of: Callable[[str], str] | None = None) -> SafeString:
    """Small labels; with `url_of` each leads to the rows that carry it."""
    if url_of is None:
        return format_html_join(" ", '<span class="ctx-chip">{}</span>', ((name,) for name in names))
    links = ((url_of(name), name) for name in names)
    return format_html_join(" ", '<a class="ctx-chip" href="{}">{}</a>', links)


def preview(text: str) -> SafeString | str:
    """The beginning of a text, in a cell that a long word does not widen."""
    line = " ".join(text.split())
    short = line if len(line) <= PREVIEW_CHARACTERS else line[:PREVIEW_CHARACTERS].rstrip() + "…"
    return format_html('<span class="ctx-preview">{}</span>', short) if short else ""


def mono(text: str) -> SafeString:
    """A key or the like; where it does not fit it is broken behind a slash."""
    parts = format_html_join(mark_safe("/<wbr>"), "{}", ((part,) for part in text.split("/")))
    return format_html('<code class="ctx-mono ctx-key">{}</code>', parts)


def time_in_full(field: str, description: str) -> Callable[[Any, Any], SafeString | str]:
    """A method of an admin: a moment as the page of a row shows it."""

    @display(description=description)
    def shown(self: Any, row: Any) -> SafeString | str:
        return in_full(getattr(row, field))

    return cast("Callable[[Any, Any], SafeString | str]", shown)


def name(text: str) -> SafeString:
    return format_html('<span class="ctx-nowrap">{}</span>', text)
