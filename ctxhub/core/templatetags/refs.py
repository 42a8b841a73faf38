"""A template filter for texts of agents that name URLs and refs."""

from collections.abc import Mapping

from django import template
from django.utils.html import format_html, urlize
from django.utils.safestring import SafeString, mark_safe

from ctxhub.core.hub.text_refs import FoundRef, refs_in

register = template.Library()

# In `[why](decision:api/auth)`: of the words that are a link.
LABEL_CHARACTERS = 200


@register.filter
def linked(text: object, pages: Mapping[str, str]) -> SafeString:
    """The text, escaped, with its URLs and those refs that `pages` has as links; as in Markdown, also
    `[words](ref)`.
    """
    text = str(text)
    pieces: list[str] = []
    end = 0
    for found in refs_in(text) if pages else ():
        if url := pages.get(found.ref):
            start, label, stop = _labelled(text, found, end) or (found.start, found.ref, found.end)
            title = found.ref if stop > found.end else ""
            pieces += [urlize(text[end:start], autoescape=True), _link(url, label, title)]
            end = stop
    pieces.append(urlize(text[end:], autoescape=True))
    return mark_safe("".join(pieces))  # noqa: S308  # urlize escapes.


def _labelled(text: str, found: FoundRef, after: int) -> tuple[int, str, int] | None:
    """Where the whole of `[words](ref)` begins, the words, and where it ends."""
    if text[found.start - 2 : found.start] != "](" or text[found.end : found.end + 1] != ")":
        return None
    end = found.start - 2
    start = text.rfind("[", max(after, end - LABEL_CHARACTERS), end)
    label = text[start + 1 : end]
    is_label = start >= 0 and label.strip() and "]" not in label and "\n" not in label
    return (start, label, found.end + 1) if is_label else None


def _link(url: str, label: str, title: str) -> SafeString:
    if not title:
        return format_html('<a class="ctx-link" href="{}">{}</a>', url, label)
    return format_html('<a class="ctx-link" href="{}" title="{}"><bdi>{}</bdi></a>', url, title, label)
