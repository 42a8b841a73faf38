"""A template filter for texts of agents that name URLs and refs."""

from collections.abc import Mapping

from django import template
from django.utils.html import format_html, urlize
from django.utils.safestring import SafeString, mark_safe

from ctxhub.core.hub.text_refs import refs_in

register = template.Library()


@register.filter
def linked(text: object, pages: Mapping[str, str]) -> SafeString:
    """The text, escaped, with its URLs and those refs that `pages` has as links."""
    text = str(text)
    pieces: list[str] = []
    end = 0
    for found in refs_in(text) if pages else ():
        if url := pages.get(found.ref):
            link = format_html('<a class="ctx-link" href="{}">{}</a>', url, found.ref)
            pieces += [urlize(text[end : found.start], autoescape=True), link]
            end = found.end
    pieces.append(urlize(text[end:], autoescape=True))
    return mark_safe("".join(pieces))  # noqa: S308  # urlize escapes.
