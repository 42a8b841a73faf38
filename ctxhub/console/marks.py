"""Shows on pages the characters that nobody sees, such as those that turn the direction of a text.

A page is marked as it leaves, wherever on it a text stands: no page can forget to. What a form sends back
stays as it is stored, with a note below the field.
"""

import html
import re
from collections.abc import Callable, Iterator

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from ctxhub.core.text.invisible import bare, marked

AROUND = 60  # Characters that a note shows before and after the first mark.

_PLAIN = bytes((*b"\t\n\f\r", *range(0x20, 0x7F)))
_PARTS = re.compile(r"(<(textarea|script|style)\b.*?</\2\s*>|<!--.*?-->|<[^>]*>)", re.DOTALL | re.IGNORECASE)
_TEXTAREA = re.compile(r"<textarea\b[^>]*>(.*)</textarea\s*>", re.DOTALL | re.IGNORECASE)
_INPUT = re.compile(r"<input\b(?![^>]*\btype=\"hidden\")[^>]*?\bvalue=\"([^\"]*)\"", re.IGNORECASE)
_SHOWN_ATTRIBUTE = re.compile(
    r"(\s(?:title|alt|label|placeholder|aria-label|aria-description)=\")([^\"]*)", re.IGNORECASE
)


class MarkInvisible:
    """Marks all pages of the hub. One without such characters leaves as it came."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if isinstance(response, HttpResponse):
            _mark(response)
        return response


def marked_page(page: str) -> str:
    """The HTML with marks in its texts, and notes below the fields that hold such characters."""
    return "".join(_marked_parts(page))


def _mark(response: HttpResponse) -> None:
    if not response.headers.get("Content-Type", "").startswith("text/html"):
        return
    # The characters of a page that are not printable ASCII are few, and soon looked through.
    others = "".join(set(response.content.translate(None, _PLAIN).decode(response.charset)))
    if bare(others) == others:
        return
    response.content = marked_page(response.content.decode(response.charset))
    if "Content-Length" in response.headers:
        response.headers["Content-Length"] = str(len(response.content))


def _marked_parts(page: str) -> Iterator[str]:
    end = 0
    for part in _PARTS.finditer(page):
        yield marked(page[end : part.start()])
        yield _marked_tag(part[0])
        end = part.end()
    yield marked(page[end:])


def _marked_tag(tag: str) -> str:
    """A tag, or a textarea, script or style with what it holds."""
    if marked(tag) == tag:
        return tag
    if field := _TEXTAREA.fullmatch(tag) or _INPUT.match(tag):
        return tag + _note(html.unescape(field[1]))
    return _SHOWN_ATTRIBUTE.sub(lambda shown: shown[1] + marked(shown[2]), tag)


def _note(text: str) -> str:
    """What a field holds around the first mark; "" if there is none."""
    text = text.strip()
    shown = marked(text)
    if shown == text:
        return ""
    first = next(place for place, pair in enumerate(zip(shown, text, strict=False)) if pair[0] != pair[1])
    start, end = max(0, first - AROUND), first + AROUND
    cut = f"{'…' if start else ''}{shown[start:end]}{'…' if end < len(shown) else ''}"
    return f'<p class="ctx-marks">Characters that nobody sees: {html.escape(cut)}</p>'
