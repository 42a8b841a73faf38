"""Renders Markdown of agents as safe HTML: it runs no scripts and loads nothing."""

import re
from collections.abc import Iterator, Sequence

import nh3
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from ctxhub.console.code_colours import CLASSES, colour_fences
from ctxhub.console.text_refs import Pages
from ctxhub.core.hub.text_refs import is_ref, refs_in
from ctxhub.core.kit.frozen import frozen

# The most a page renders: at this size the worst text takes a second or two.
CHARACTERS_RENDERED = 100_000
LINES_RENDERED = 8_000
MAX_NESTING = 16

# The page itself uses the first and second heading level.
FIRST_LEVEL, LAST_LEVEL = 3, 6
HEADINGS = {f"h{level}" for level in range(FIRST_LEVEL, LAST_LEVEL + 1)}
ID_PREFIX = "md-"
REL = "nofollow noopener noreferrer"

TAGS = HEADINGS | {"p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a"}
TAGS |= {"table", "thead", "tbody", "tr", "th", "td", "span"}
ATTRIBUTES = {"a": {"href"}, "ol": {"start"}, **{heading: {"id"} for heading in HEADINGS}}
ALIGNED = {"align": {"left", "center", "right"}}

NO_PAGES: Pages = {}
PAGES = "pages"

_LINKABLE = re.compile(r"(?:https?://|mailto:)\S", re.IGNORECASE)
_SCHEME = re.compile(r"[^/?#]*?(?::|&|%3a)", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://[\x21\x23-\x3b\x3d\x3f-\x7e]*[\w/#=&~-]", re.ASCII)
_PICTURE = re.compile(r"data:image/", re.IGNORECASE)
_BOX = re.compile(r"\[([ xX])\](?=\s)")


@frozen
class Heading:
    """A heading: its level from 1, its text, its anchor on the page and its line in the source."""

    level: int
    text: str
    anchor: str
    line: int


@frozen
class Rendered:
    """The HTML, the headings, and in `hidden` the number of characters after the rendered part."""

    html: SafeString
    outline: Sequence[Heading]
    hidden: int


def render_markdown(text: str, raw_url: str = "", pages: Pages = NO_PAGES) -> SafeString:
    """The HTML for `.ctx-markdown`; of a very long text its beginning and a link to the raw text."""
    rendered = read_markdown(text, pages)
    return format_html("{}{}", rendered.html, hidden_note(rendered, raw_url))


def read_markdown(text: str, pages: Pages = NO_PAGES) -> Rendered:
    """Render the text and its outline. The HTML has only TAGS, ATTRIBUTES and CLASSES.

    Refs that `pages` has become links.
    """
    beginning = _beginning(text)
    tokens = _MARKDOWN.parse(beginning, {PAGES: pages})
    html = SANITISER.clean(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))
    return Rendered(mark_safe(html), list(_outline(tokens)), len(text) - len(beginning))  # noqa: S308


def hidden_note(rendered: Rendered, raw_url: str) -> SafeString | str:
    if not rendered.hidden:
        return ""
    note = f"{rendered.hidden:,} more characters are not rendered"
    link = format_html(': <a class="ctx-link" href="{}">read the raw text</a>', raw_url) if raw_url else ""
    return format_html('<p class="ctx-skipped">{}{}.</p>', note, link)


def _beginning(text: str) -> str:
    """The part to render: at most CHARACTERS_RENDERED and LINES_RENDERED, up to the end of a line."""
    end = min(len(text), CHARACTERS_RENDERED)
    ends_of_lines = [newline.end() for newline in re.finditer(r"\n|\r\n?", text[:end])]
    if len(ends_of_lines) > LINES_RENDERED:
        end = ends_of_lines[LINES_RENDERED - 1]
    elif end < len(text) and ends_of_lines:
        end = ends_of_lines[-1]
    return text[:end]


# -- Sanitising ------------------------------------------------------------------------------------


class _Markdown(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802
        """Accepts http, https and mailto, pictures, relative paths and refs. Other links stay plain text."""
        is_known = _LINKABLE.match(url) or _PICTURE.match(url) or not _SCHEME.match(url)
        return bool(is_known or is_ref(url))

    def normalizeLink(self, url: str) -> str:  # noqa: N802
        """A ref is a name, of which nothing is encoded."""
        return url if is_ref(url) else super().normalizeLink(url)


def _sanitise(state: StateCore) -> None:
    """Lowers heading levels, draws task boxes, shows link targets and replaces pictures."""
    headings = 0
    for index, token in enumerate(state.tokens):
        if token.type in ("heading_open", "heading_close"):
            token.meta["level"] = level = int(token.tag[1:])
            token.tag = f"h{min(level + FIRST_LEVEL - 1, LAST_LEVEL)}"
            if token.nesting == 1:
                headings += 1
                token.attrSet("id", f"{ID_PREFIX}{headings}")
        elif token.type in ("th_open", "td_open"):
            style = str(token.attrs.pop("style", ""))
            token.attrSet("align", style.removeprefix("text-align:"))
        elif token.type == "inline" and token.children:
            if index > 1 and state.tokens[index - 2].type == "list_item_open":
                _draw_task_box(token.children[0])
            token.children = list(_sanitised(token.children, state.env.get(PAGES, NO_PAGES)))


def _draw_task_box(first: Token) -> None:
    """Replaces the box of a task list item (`- [x] done`) by a character."""
    if box := _BOX.match(first.content) if first.type == "text" else None:
        first.content = ("☐" if box[1] == " " else "☑") + first.content[box.end() :]


def _sanitised(tokens: Sequence[Token], pages: Pages) -> Iterator[Token]:
    """Replaces a link with an unsupported target by its text and target, and a picture by a link to it.

    A ref that is the target of a link leads to its page. Outside of links, URLs and refs become links, a ref
    in code only if it is all of it.
    """
    target = url = ""
    for token in tokens:
        if token.type == "link_open":
            target = str(token.attrs.pop("href", ""))
            url = target if _LINKABLE.match(target) else pages.get(target, "")
            if url:
                token.attrs = {"href": url}
                yield token
        elif token.type == "link_close":
            if url:
                yield token
            elif target:
                yield from (_text(" "), _code(target))
            target = url = ""
        elif token.type == "image":
            yield from _picture(token, is_in_link=bool(target))
        elif token.type == "text" and not target:
            yield from _linked(token.content, pages)
        elif token.type == "code_inline" and not target and token.content in pages:
            yield from _link(pages[token.content], token)
        else:
            yield token


def _picture(token: Token, *, is_in_link: bool) -> Iterator[Token]:
    source = str(token.attrs.get("src", ""))
    alt = _text(f"[picture: {token.content}]" if token.content else "[picture]")
    if is_in_link or not _LINKABLE.match(source):
        yield alt
        return
    yield from _link(source, alt)


def _linked(text: str, pages: Pages) -> Iterator[Token]:
    """Turns bare URLs and refs in a text into links."""
    links = [(url.start(), url.end(), url[0]) for url in _ADDRESS.finditer(text)]
    refs = refs_in(text) if pages else ()
    links += [(each.start, each.end, pages[each.ref]) for each in refs if each.ref in pages]
    end = 0
    for start, stop, target in sorted(links):
        if start >= end:
            yield _text(text[end:start])
            yield from _link(target, _text(text[start:stop]))
            end = stop
    yield _text(text[end:])


def _link(target: str, content: Token) -> tuple[Token, Token, Token]:
    return Token("link_open", "a", 1, attrs={"href": target}), content, Token("link_close", "a", -1)


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _code(content: str) -> Token:
    return Token("code_inline", "code", 0, content=content)


def _outline(tokens: Sequence[Token]) -> Iterator[Heading]:
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            children = tokens[index + 1].children or ()
            text = " ".join("".join(child.content or " " for child in children).split())
            line = token.map[0] + 1 if token.map else 1
            yield Heading(token.meta["level"], text, str(token.attrs["id"]), line)


def _kept(tag: str, attribute: str, value: str) -> str | None:
    """Of relative links only those to pages of the admin, which refs became, are kept."""
    is_link = tag == "a" and attribute == "href"
    is_kept = not is_link or _LINKABLE.match(value) or value.startswith(reverse("admin:index"))
    return value if is_kept else None


_MARKDOWN = _Markdown("commonmark", {"html": False, "maxNesting": MAX_NESTING})
_MARKDOWN.enable(["table", "strikethrough"])
_MARKDOWN.core.ruler.push("sanitise", _sanitise)
_MARKDOWN.core.ruler.push("colour", lambda state: colour_fences(state.tokens))
SANITISER = nh3.Cleaner(
    tags=TAGS,
    attributes=ATTRIBUTES,
    allowed_classes={"span": CLASSES},
    tag_attribute_values={"th": ALIGNED, "td": ALIGNED},
    url_schemes={"http", "https", "mailto"},
    attribute_filter=_kept,
    url_relative="pass_through",
    link_rel=REL,
    id_prefix=ID_PREFIX,
)
