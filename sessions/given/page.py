"""What an agent knew at a time: all that it had been given in its session until then, with its texts."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Max
from django.utils import timezone

from ctxhub.console import refs
from ctxhub.console.urls import in_project
from ctxhub.core import registry
from ctxhub.core.accounts.agents import known_agents
from ctxhub.core.kit import clock
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Project
from ctxhub.core.registry import Noun
from ctxhub.core.text.readable import as_lines
from sessions.briefs.page import AGENTS, GivenForm
from sessions.given.models import Briefing, BriefingItem
from sessions.sittings.page import url_of
from sessions.windows.calls import CURRENT_FOR

CHARACTERS = 4_000
# What is never changed has the text that was given.
UNCHANGING = ("message", "snapshot")
# Their documents and summaries lack the paths.
SHOWN_WITH_FIELDS = ("lease", "change")
NOW = "text as it is now"
NOT_KEPT = "text as it is now: the earlier one is no longer kept"
GONE = "deleted since"

Key = tuple[str, int]


@frozen
class Present:
    """What an object is now. `version` is blank for kinds without versions."""

    ref: str
    text: str
    version: str = ""


@frozen
class ShownItem:
    """A thing that was given. `note` is blank if `text` is what it said then.

    `changed_to`: its version now, if that is another one.
    """

    item: BriefingItem
    ref: str
    url: str
    text: str
    note: str
    changed_to: str

    @property
    def is_gone(self) -> bool:
        return self.note == GONE


def shown_items(project_id: int, items: Sequence[BriefingItem]) -> list[ShownItem]:
    """In a fixed number of queries for each kind among the items."""
    present = _read_present(project_id, items)
    past = _read_past(project_id, items)
    return [_shown(item, present.get((item.kind, item.object_id)), past) for item in items]


def _shown(item: BriefingItem, now: Present | None, past: Mapping[tuple[str, int, str], str]) -> ShownItem:
    then = past.get((item.kind, item.object_id, item.version))
    text = then if then is not None else now.text if now else ""
    is_older = bool(now and now.version and item.version and now.version != item.version)
    return ShownItem(
        item=item,
        ref=now.ref if now else f"{item.kind}:{item.object_id}",
        url=(refs.page_of_row(item.kind, item.object_id) or "") if now else "",
        text=text if len(text) < CHARACTERS else f"{text[:CHARACTERS]}…",
        note="" if then is not None else _note(item, now),
        changed_to=now.version if now and is_older else "",
    )


def _note(item: BriefingItem, now: Present | None) -> str:
    if now is None:
        return GONE
    if item.kind in UNCHANGING:
        return ""
    return NOT_KEPT if item.version else NOW


# -- Reading ---------------------------------------------------------------------------------------


def _read_past(project_id: int, items: Iterable[BriefingItem]) -> dict[tuple[str, int, str], str]:
    versions: dict[str, dict[tuple[int, str], None]] = {}
    for item in items:
        if item.version:
            versions.setdefault(item.kind, {})[item.object_id, item.version] = None
    return {
        (kind, *version): text
        for kind, some in versions.items()
        if (noun := registry.find_noun(kind)) and noun.texts_at
        for version, text in noun.texts_at(project_id, list(some), CHARACTERS).items()
    }


def _read_present(project_id: int, items: Iterable[BriefingItem]) -> dict[Key, Present]:
    ids: dict[str, dict[int, None]] = {}
    for item in items:
        ids.setdefault(item.kind, {})[item.object_id] = None
    return {
        (kind, object_id): found
        for kind, some in ids.items()
        if (noun := registry.find_noun(kind))
        for object_id, found in _read_kind(project_id, noun, list(some)).items()
    }


def _read_kind(project_id: int, noun: Noun, ids: Sequence[int]) -> Mapping[int, Present]:
    """What is in no index of the search, such as a session that was not saved, has its summary."""
    if noun.kind in SHOWN_WITH_FIELDS and noun.open:
        items = noun.open(project_id, [str(row_id) for row_id in ids], False)
        return {int(name): Present(f"{noun.kind}:{name}", _fields(item)) for name, item in items.items()}
    documents = noun.documents(project_id, ids).now() if noun.documents else ()
    found = {each.object_id: Present(each.ref, each.body or each.title, each.version) for each in documents}
    left = [row_id for row_id in ids if row_id not in found]
    heads = noun.heads(project_id, left) if noun.heads and left else {}
    return found | {row_id: Present(str(head.name), head.summary) for row_id, head in heads.items()}


def _fields(item: Mapping[str, Any]) -> str:
    return "\n".join(line for name, value in item.items() for line in as_lines(value, name))


ITEMS_SHOWN = 50


@frozen
class Known:
    """`items`: each thing once, as it was given last, latest first. `last`: the last answer until then."""

    last: Briefing
    answers: int
    page: Page[Any]
    items: Sequence[ShownItem]
    session_url: str


def given_context(project: Project, query: Mapping[str, str]) -> dict[str, Any]:
    """The template context. `query`: the fields of GivenForm; without an agent only the form is shown."""
    values = {"at": field_value(clock.now()), **query}
    form = GivenForm(values) if "agent" in query else GivenForm(initial=values)
    context = {"form": form, "suggestions": {AGENTS: known_agents(project)}}
    if not form.is_valid():
        return context
    agent, at = form.cleaned_data["agent"], form.cleaned_data["at"]
    known = _known(project, agent, at, query.get("page", ""))
    kept = in_project("", project, agent=agent, at=values["at"])
    return {**context, "agent": agent, "until": at, "known": known, "kept": kept}


def field_value(at: datetime) -> str:
    """A time as the form has it: to the second, in the current time zone."""
    return f"{timezone.localtime(at):%Y-%m-%dT%H:%M:%S}"


def _known(project: Project, agent: str, at: datetime, number: str) -> Known | None:
    """None if the agent had been given nothing until the end of this second, or nothing is kept."""
    end = at.replace(microsecond=0) + timedelta(seconds=1)
    until = Briefing.objects.in_project(project).filter(agent__folded=agent.casefold(), at__lt=end)
    last = until.select_related("agent").order_by("-at", "-pk").first()
    if last is None:
        return None
    answers = until.filter(session_id=last.session_id, session_name=last.session_name)
    if last.session_id is None:
        answers = answers.filter(at__gt=last.at - CURRENT_FOR)
    items = BriefingItem.objects.in_project(project)
    given = items.filter(briefing__in=answers.order_by().values("pk")).order_by().values("kind", "object_id")
    newest = given.annotate(last=Max("pk"), answer=Max("briefing_id")).order_by("-answer", "last")
    page = Paginator(newest, ITEMS_SHOWN).get_page(number)
    found = items.select_related("briefing").in_bulk([each["last"] for each in page])
    return Known(
        last=last,
        answers=answers.count(),
        page=page,
        items=shown_items(project.pk, [found[each["last"]] for each in page if each["last"] in found]),
        session_url=url_of(last.session_id) if last.session_id else "",
    )
