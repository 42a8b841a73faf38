"""Draws needs as sentences with buttons: the most urgent first, each in the time zone of its project."""

from collections.abc import Sequence
from itertools import chain

from django.utils import timezone
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe

from ctxhub.console.access import Access
from ctxhub.console.columns import mono
from ctxhub.console.needs.sources import (
    SHOWN,
    Ago,
    Button,
    Files,
    FoundNeeds,
    Name,
    Need,
    PageLink,
    Part,
    Quote,
    Reader,
    Since,
    sources,
)
from ctxhub.core.accounts.config import read_config
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Project
from ctxhub.core.templatetags.agents import named_link
from ctxhub.core.templatetags.moments import ago, lasting
from ctxhub.core.text.plurals import counted
from ctxhub.core.text.sentences import in_one_line, shortened

NAME_SHOWN, QUOTE_SHOWN, FILES_SHOWN = 40, 90, 60


@frozen
class DrawnNeed:
    key: str
    look: str
    icon: str
    sentence: SafeString
    links: Sequence[PageLink]
    buttons: Sequence[Button]


@frozen
class Needs:
    """`total`: how many there are; `more`: links to the lists of those that are not shown."""

    shown: Sequence[DrawnNeed]
    total: int
    more: Sequence[PageLink]

    @property
    def left_out(self) -> int:
        return self.total - len(self.shown)


def needs_of(reader: Reader, access: Access) -> Needs:
    found = [find(reader) for find in sources] if reader.projects else []
    ordered = sorted(chain.from_iterable(each.needs for each in found), key=_most_urgent_first)
    shown = ordered[:SHOWN]
    return Needs(
        [_drawn(need, reader, access) for need in shown],
        sum(each.total for each in found),
        [link for each in found if (link := _more(each, shown))],
    )


def _most_urgent_first(need: Need) -> tuple[int, float]:
    return -need.urgency, need.since.timestamp()


def _more(found: FoundNeeds, shown: Sequence[Need]) -> PageLink | None:
    left_out = found.total - sum(need in shown for need in found.needs)
    return PageLink(f"{counted(left_out, found.plural)} {found.which}", found.url) if left_out else None


def _drawn(need: Need, reader: Reader, access: Access) -> DrawnNeed:
    project = reader.projects[need.project_id]
    with timezone.override(read_config(project.config).time_zone):
        sentence = mark_safe("".join(map(_html, need.sentence)))  # noqa: S308  # Each part is escaped.
    return DrawnNeed(
        need.key,
        need.look or f"ctx-need-{need.urgency.label}",
        need.icon,
        _in_project(sentence, project, reader),
        [each for each in need.actions if isinstance(each, PageLink)],
        [
            each
            for each in need.actions
            if isinstance(each, Button) and access.may(each.scope, need.project_id)
        ],
    )


def _in_project(sentence: SafeString, project: Project, reader: Reader) -> SafeString:
    """The sentence names the project if others are shown as well."""
    if len(reader.projects) < 2:
        return sentence
    return format_html(
        '{} <span class="ctx-quiet">in <bdi>{}</bdi></span>', sentence, _cut(str(project), NAME_SHOWN)
    )


def _html(part: Part) -> SafeString:
    match part:
        case Name(text, agent_id) if agent_id:
            return named_link("ctx-actor ctx-agent", text, agent_id, shown=_cut(text, NAME_SHOWN))
        case Name(text):
            return format_html('<bdi class="ctx-actor" title="{}">{}</bdi>', text, _cut(text, NAME_SHOWN))
        case Quote(text):
            return format_html("<q><bdi>{}</bdi></q>", _cut(text, QUOTE_SHOWN))
        case Files(pattern):
            return mono(_cut(pattern, FILES_SHOWN))
        case Since(at):
            return lasting(at)
        case Ago(at):
            return conditional_escape(ago(at))
        case _:
            return conditional_escape(part)


def _cut(text: str, characters: int) -> str:
    line = in_one_line(text)
    return line if len(line) <= characters else shortened(line, characters)
