"""Reads Markdown: front matter, sections, paragraphs, list items, and the paths that a text names."""

import posixpath
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

FRONT = re.compile(r"\A---\n(.*?)\n---\s*\n", re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*$")
FENCE = re.compile(r"\s*(```|~~~)")
ITEM = re.compile(r"\s*(?:[-*+]|\d{1,2}[.)])\s+(?:\[[ xX]\]\s+)?(.*)")
NAMED = re.compile(r"`([^`\s]+)`|\]\(([^)\s]+)\)")
PLACE = re.compile(r"(?:#.*|:\d+(?:-\d+)?)$")
PROSE = (".md", ".mdx", ".mdc", ".rst", ".adoc", ".txt")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what is below it, up to the next heading. `level` 0: before the first."""

    level: int
    heading: str
    text: str


def front_matter(text: str) -> str:
    found = FRONT.match(text)
    return found[1] if found else ""


def sections(text: str) -> list[Section]:
    """The sections, in order; a heading in a block of code is none."""
    found: list[Section] = []
    level, heading, is_code = 0, "", False
    lines: list[str] = []
    for line in COMMENT.sub("", FRONT.sub("", text)).splitlines():
        if FENCE.match(line):
            is_code = not is_code
        begins = None if is_code else HEADING.match(line)
        if begins:
            found.append(Section(level, heading, "\n".join(lines).strip()))
            level, heading, lines = len(begins[1]), plain(begins[2]), []
        else:
            lines.append(line)
    return [*found, Section(level, heading, "\n".join(lines).strip())]


def with_subsections(all_sections: Sequence[Section], place: int) -> str:
    """The text of a section and of those below it."""
    texts = [all_sections[place].text]
    for section in all_sections[place + 1 :]:
        if section.level <= all_sections[place].level:
            break
        texts += [section.heading, section.text]
    return "\n\n".join(text for text in texts if text)


def paragraphs(text: str) -> list[str]:
    """Paragraphs and lists, without code, tables and quoted notes."""
    blocks: list[str] = []
    lines: list[str] = []
    is_code = False
    for line in [*text.splitlines(), ""]:
        if FENCE.match(line):
            is_code = not is_code
        elif not is_code and line.strip():
            lines.append(line)
        elif not is_code and lines:
            blocks.append("\n".join(lines))
            lines = []
    return [block for block in blocks if not block.lstrip().startswith(("|", ">", "![", "<"))]


def first_paragraphs(text: str, at_most: int) -> str:
    """As many whole paragraphs as fit into `at_most` characters; of the first what fits."""
    chosen = ""
    for paragraph in paragraphs(text):
        more = f"{chosen}\n\n{paragraph}".strip()
        if len(more) > at_most:
            return chosen or clipped(more, at_most)
        chosen = more
    return chosen


def clipped(text: str, at_most: int) -> str:
    """The text up to the last sentence or word that fits."""
    if len(text) <= at_most:
        return text
    head = text[:at_most]
    ends = max(head.rfind(mark) for mark in (". ", ".\n", "! "))
    return head[: ends + 1] if ends > at_most // 2 else head.rpartition(" ")[0]


def list_items(paragraph: str) -> list[str]:
    """Each item of a list, in one line; none of a paragraph."""
    items: list[str] = []
    for line in paragraph.splitlines():
        if begins := ITEM.match(line):
            items.append(begins[1])
        elif items:
            items[-1] += f" {line.strip()}"
    return items


def plain(text: str) -> str:
    """Without emphasis, and links as their text."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("**", "").replace("`", "").strip()


def named_paths(
    text: str, files: Collection[str], folders: Collection[str], *, at: str = ""
) -> Iterator[str]:
    """The files and folders (`folder/**`) that a text names in `code` or links to; `at`: its own folder."""
    for code, link in NAMED.findall(text):
        path = posixpath.normpath(posixpath.join(at if link else "", PLACE.sub("", code or link)))
        if "/" not in path and not (code or link).endswith("/"):
            continue
        if path in files:
            yield path
        elif path in folders:
            yield f"{path}/**"
