"""Markdown that agents wrote, as HTML that can do no harm: it runs nothing and loads nothing."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import nh3
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

# What a page has time for: of this size, the most tangled text takes a second or two.
CHARACTERS_RENDERED = 100_000
LINES_RENDERED = 8_000
DEEPEST = 16

# The page has its own headings of the first and second level.
FIRST_LEVEL, LAST_LEVEL = 3, 6
HEADINGS = {f"h{level}" for level in range(FIRST_LEVEL, LAST_LEVEL + 1)}
ID_PREFIX = "md-"
REL = "nofollow noopener noreferrer"

TAGS = HEADINGS | {"p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a"}
TAGS |= {"table", "thead", "tbody", "tr", "th", "td"}
ATTRIBUTES = {"a": {"href"}, "ol": {"start"}, **{heading: {"id"} for heading in HEADINGS}}
ALIGNED = {"align": {"left", "center", "right"}}

_FOLLOWED = re.compile(r"(?:https?://|mailto:)\S", re.IGNORECASE)
_SCHEME = re.compile(r"[^/?#]*?(?::|&|%3a)", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://[\x21\x23-\x3b\x3d\x3f-\x7e]*[\w/#=&~-]", re.ASCII)
_PICTURE = re.compile(r"data:image/", re.IGNORECASE)
_BOX = re.compile(r"\[([ xX])\](?=\s)")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the text: how deep it stands, from 1; its anchor on the page, its line in the text."""

    level: int
    text: str
    anchor: str
    line: int


@dataclass(frozen=True, slots=True)
class Rendered:
    """`hidden` counts the characters behind what a page has time for."""

    html: SafeString
    outline: Sequence[Heading]
    hidden: int


def render_markdown(text: str, raw_url: str = "") -> SafeString:
    """What stands in `.ctx-markdown`: of a very long text the beginning, and the way to the whole."""
    rendered = read_markdown(text)
    return format_html("{}{}", rendered.html, the_rest(rendered, raw_url))


def read_markdown(text: str) -> Rendered:
    """The text as HTML, with what leads into it. Nothing but TAGS and ATTRIBUTES is ever in it."""
    beginning = _beginning(text)
    tokens = _MARKDOWN.parse(beginning)
    html = SANITISER.clean(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))
    return Rendered(mark_safe(html), list(_outline(tokens)), len(text) - len(beginning))  # noqa: S308


def the_rest(rendered: Rendered, raw_url: str) -> SafeString | str:
    if not rendered.hidden:
        return ""
    said = f"{rendered.hidden:,} more characters are not rendered"
    where = format_html(': <a class="ctx-link" href="{}">read them as text</a>', raw_url) if raw_url else ""
    return format_html('<p class="ctx-skipped">{}{}.</p>', said, where)


def _beginning(text: str) -> str:
    """As much as there is time for, up to the end of a line."""
    end = min(len(text), CHARACTERS_RENDERED)
    ends_of_lines = [found.end() for found in re.finditer(r"\n|\r\n?", text[:end])]
    if len(ends_of_lines) > LINES_RENDERED:
        end = ends_of_lines[LINES_RENDERED - 1]
    elif end < len(text) and ends_of_lines:
        end = ends_of_lines[-1]
    return text[:end]


# -- Made tame -------------------------------------------------------------------------------------


class _Markdown(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802
        """What is neither followed nor a place in a repository stays the text that it is."""
        return bool(_FOLLOWED.match(url) or _PICTURE.match(url) or not _SCHEME.match(url))


def _sanitise(state: StateCore) -> None:
    """Headings below the page's own, boxes of tasks, links that go where they say, no pictures."""
    headings = 0
    for place, token in enumerate(state.tokens):
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
            if place > 1 and state.tokens[place - 2].type == "list_item_open":
                _tick(token.children[0])
            token.children = list(_sanitised(token.children))


def _tick(first: Token) -> None:
    """`- [x] done`, as lists of tasks are written."""
    if box := _BOX.match(first.content) if first.type == "text" else None:
        first.content = ("☐" if box[1] == " " else "☑") + first.content[box.end() :]


def _sanitised(tokens: Sequence[Token]) -> Iterator[Token]:
    """A link that is not followed is its text and where it would lead; a picture is a link to it."""
    target, is_followed = "", False
    for token in tokens:
        if token.type == "link_open":
            target = str(token.attrs.pop("href", ""))
            is_followed = bool(_FOLLOWED.match(target))
            if is_followed:
                token.attrs = {"href": target}
                yield token
        elif token.type == "link_close":
            if is_followed:
                yield token
            elif target:
                yield from (_text(" "), _code(target))
            target, is_followed = "", False
        elif token.type == "image":
            yield from _picture(token, is_inside=bool(target))
        elif token.type == "text" and not target:
            yield from _linked(token.content)
        else:
            yield token


def _picture(token: Token, *, is_inside: bool) -> Iterator[Token]:
    source = str(token.attrs.get("src", ""))
    alt = _text(f"[picture: {token.content}]" if token.content else "[picture]")
    if is_inside or not _FOLLOWED.match(source):
        yield alt
        return
    yield from _link(source, alt)


def _linked(text: str) -> Iterator[Token]:
    """An address that merely stands in a text is a link as well."""
    at = 0
    for found in _ADDRESS.finditer(text):
        yield _text(text[at : found.start()])
        yield from _link(found[0], _text(found[0]))
        at = found.end()
    yield _text(text[at:])


def _link(target: str, shown: Token) -> tuple[Token, Token, Token]:
    return Token("link_open", "a", 1, attrs={"href": target}), shown, Token("link_close", "a", -1)


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _code(content: str) -> Token:
    return Token("code_inline", "code", 0, content=content)


def _outline(tokens: Sequence[Token]) -> Iterator[Heading]:
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            spoken = tokens[place + 1].children or ()
            text = " ".join("".join(child.content or " " for child in spoken).split())
            line = token.map[0] + 1 if token.map else 1
            yield Heading(token.meta["level"], text, str(token.attrs["id"]), line)


_MARKDOWN = _Markdown("commonmark", {"html": False, "maxNesting": DEEPEST}).enable(["table", "strikethrough"])
_MARKDOWN.core.ruler.push("tame", _sanitise)
SANITISER = nh3.Cleaner(
    tags=TAGS,
    attributes=ATTRIBUTES,
    tag_attribute_values={"th": ALIGNED, "td": ALIGNED},
    url_schemes={"http", "https", "mailto"},
    url_relative="deny",
    link_rel=REL,
    id_prefix=ID_PREFIX,
)
