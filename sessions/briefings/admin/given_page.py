"""What an agent knew at a time: all that it had been given in its session until then."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Max
from django.utils import timezone

from ctxhub.core.accounts.selectors.agents import known_agents
from ctxhub.core.admin.urls import in_project
from ctxhub.core.kit import clock
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Project
from sessions.briefings.admin.forms import AGENTS, GivenForm
from sessions.briefings.admin.given_texts import ShownItem, shown_items
from sessions.briefings.models.briefing import Briefing, BriefingItem
from sessions.sittings.page import url_of
from sessions.windows.calls import CURRENT_FOR

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
