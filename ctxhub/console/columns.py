"""HTML of list cells: chips, keys, previews of texts."""

from collections.abc import Callable, Iterable
from typing import Any, cast

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from unfold.decorators import display

from ctxhub.core.models import Agent
from ctxhub.core.templatetags.agents import SYSTEM, named_link
from ctxhub.core.templatetags.moments import in_full

PREVIEW_CHARACTERS = 120
PRIORITY_COLOURS = {"critical": "danger", "high": "warning"}


def chips(names: Iterable[str], url_of: Callable[[str], str] | None = None) -> SafeString:
    """Small labels. With `url_of` each links to the rows that have it."""
    if url_of is None:
        return format_html_join(" ", '<span class="ctx-chip">{}</span>', ((name,) for name in names))
    links = ((url_of(name), name) for name in names)
    return format_html_join(" ", '<a class="ctx-chip" href="{}">{}</a>', links)


def preview(text: str) -> SafeString | str:
    """The first PREVIEW_CHARACTERS of a text; if there is more of it, the tooltip has what was read."""
    line = " ".join(text.split())
    if len(line) <= PREVIEW_CHARACTERS:
        return format_html('<span class="ctx-preview">{}</span>', line) if line else ""
    short = line[:PREVIEW_CHARACTERS].rstrip()
    return format_html('<span class="ctx-preview" title="{}">{}…</span>', line, short)


def mono(text: str) -> SafeString:
    """A key in a monospaced font. If it does not fit, it wraps after a slash."""
    parts = format_html_join(mark_safe("/<wbr>"), "{}", ((part,) for part in text.split("/")))
    return format_html('<code class="ctx-mono ctx-key">{}</code>', parts)


def column(description: str, read: Callable[[Any], object], **shown: Any) -> Callable[[Any, Any], object]:
    """A column, or a field of a page, that is one expression of the row. `shown`: see unfold's `display`."""

    @display(description=description, **shown)
    def cell(admin: Any, row: Any) -> object:
        return read(row)

    return cast("Callable[[Any, Any], object]", cell)


def time_in_full(field: str, description: str) -> Callable[[Any, Any], SafeString | str]:
    """Return an admin method that shows the datetime field in full."""

    @display(description=description)
    def shown(self: Any, row: Any) -> SafeString | str:
        return in_full(getattr(row, field))

    return cast("Callable[[Any, Any], SafeString | str]", shown)


def name(text: str) -> SafeString:
    """A name on one line, cut if it is too long for its column."""
    return format_html('<span class="ctx-name" title="{0}">{0}</span>', text)


def agent_name(text: str, agent_id: int | None) -> SafeString:
    """Like `name`, a link to the page of the agent. Without an id, as nobody is registered, it is text."""
    return named_link("ctx-name ctx-agent", text, agent_id, shown=text) if agent_id else name(text)


def agent_cell(agent: Agent | None) -> SafeString:
    """The name of a row's agent, which has to come with the row."""
    return agent_name(agent.name, agent.pk) if agent else name(SYSTEM)


def agent_chips(agents: Iterable[tuple[str, int | None]], more: str = "") -> SafeString:
    """Names and ids of agents as small labels, linked where there is an id. `more`: a last label."""
    links = [named_link("ctx-chip ctx-agent", text, agent_id) for text, agent_id in agents]
    return format_html_join(" ", "{}", ((each,) for each in [*links, *([chips([more])] if more else [])]))
