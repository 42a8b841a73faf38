"""The admin of agents, read-only: agents register themselves, and their names must match the log."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import F
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display

from ctxhub.console.access import access_of
from ctxhub.console.base import Menu, ProjectAdmin
from ctxhub.console.columns import column
from ctxhub.console.filters import ProjectFilter
from ctxhub.console.namesakes import NamesakeFilter
from ctxhub.console.row_panels import AGENT, panels_of
from ctxhub.console.rows.row_view import RowParts
from ctxhub.console.silence import COLOURS, presence_of, with_others_wait
from ctxhub.console.urls import in_project, list_url, next_url
from ctxhub.console.use.of_agent import use_of_agent
from ctxhub.core.accounts.people import find_clashes, give_to_person
from ctxhub.core.hub.overview import all_agents_of, list_agents
from ctxhub.core.kit.caller import ADMIN, WRITE
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.models import Agent
from ctxhub.core.templatetags.agents import agent_mark
from ctxhub.core.templatetags.moments import moment


@frozen
class AgentButton:
    """A link of an agent's page, for people with a scope in the project."""

    label: str
    icon: str
    scope: str
    url_of: Callable[[Agent], str]


# Further links in an agent's row and on its page, and buttons of its page. Each app appends its own.
agent_links: list[Callable[[Agent], SafeString]] = []
agent_buttons: list[AgentButton] = []


@admin.register(Agent)
class AgentAdmin(ProjectAdmin):
    menu = Menu("Activity", "smart_toy")
    when_empty = (
        "Whoever speaks in the project: an agent from its token or its first call on, a person from"
        " their first write on."
    )
    add_scope = change_scope = delete_scope = None
    why_missing = ""

    row_parts = RowParts(title="marked")
    list_display = ("name", "is_who", "state", "last_seen", "first_seen", "log")
    sparkline_of = "agent"
    list_filter = (ProjectFilter, ("kind", ChoicesDropdownFilter), NamesakeFilter)
    list_select_related = ("project",)
    search_fields = ("name",)
    ordering = (F("last_seen_at").desc(nulls_last=True), "name")

    marked = column("Name", lambda agent: format_html("{}{}", agent_mark(agent.pk), agent.name))
    is_who = column(
        "Kind",
        lambda agent: "person" if agent.kind == Agent.Kind.HUMAN else "agent",
        ordering="kind",
        label={"agent": "info", "person": "primary"},
    )

    @display(description="State", label=COLOURS)
    def state(self, agent: Agent) -> str:
        return str(presence_of(agent))

    last_seen = column("Last seen", lambda agent: moment(agent.last_seen_at), ordering="last_seen_at")
    first_seen = column(
        "First seen",
        lambda agent: moment(agent.created_at if agent.last_seen_at else None),
        ordering="created_at",
    )

    @display(description="Log")
    def log(self, agent: Agent) -> SafeString:
        events = list_url("core_event", agent.project, agent=agent.name)
        log = format_html('<a class="ctx-link" href="{}">Its events</a>', events)
        return format_html_join(", ", "{}", ((link,) for link in (log, *(of(agent) for of in agent_links))))

    # -- The page ----------------------------------------------------------------------------------

    def page_for_form(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """What the agent does, holds, owes and costs. The number of statements does not grow."""
        agent = self.get_object(request, object_id)
        if agent is None:
            return self.missing(request, object_id)
        project, access = agent.project, access_of(request)
        [facts] = list_agents(project.pk, among=all_agents_of(project.pk).filter(pk=agent.pk)).objects()
        return self.page(
            request,
            "ctxhub/agent.html",
            f"Agent {agent}",
            object=agent,
            agent=agent,
            project=project,
            kind=self.is_who(agent),
            presence=presence_of(agent),
            facts=facts,
            use=use_of_agent(agent),
            row_panels=panels_of(AGENT, agent),
            buttons=[
                (button, button.url_of(agent))
                for button in agent_buttons
                if access.may(button.scope, project.pk)
            ],
            may_write=access.may(WRITE, project.pk),
            may_release=access.may(ADMIN, project.pk),
            log=self.log(agent),
            timeline_url=_timeline_url(agent),
            use_url=list_url("core_tokenuse", project, agent=agent.name),
        )

    # -- The name of a person ----------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        give = self.admin_site.admin_view(self.give_view)
        return [path("give/", give, name="core_agent_give"), *super().get_urls()]

    def give_view(self, request: HttpRequest) -> HttpResponse:
        """Say that an agent, which a button of another page names, is the person of its name."""
        agents = self.get_queryset(request).filter(pk=read_id(request.POST.get("agent", "")) or 0)
        if request.method == "POST" and (agent := agents.first()):
            if not self._may(request, ADMIN, agent):
                raise PermissionDenied
            clashes = [clash for clash in find_clashes([agent.project_id]) if clash.agent == agent]
            if clashes and not clashes[0].tokens:
                self.write_each(request, [agent], give_to_person)
                messages.success(request, f"{agent} is the person of that name.")
        return HttpResponseRedirect(next_url(request))

    def get_queryset(self, request: HttpRequest) -> Any:
        return with_others_wait(super().get_queryset(request)).select_related("project")


def _timeline_url(agent: Agent) -> str:
    page = in_project(reverse("admin:core_event_timeline"), agent.project, last="7d")
    return f"{page}#agent-{agent.pk}"
