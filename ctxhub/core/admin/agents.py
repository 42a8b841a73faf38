"""The admin of agents, read-only: agents register themselves, and their names must match the log."""

from collections.abc import Callable
from datetime import timedelta

from django.contrib import admin
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display

from ctxhub.core.admin.base import Menu, ProjectAdmin
from ctxhub.core.admin.columns import time_in_full
from ctxhub.core.admin.filters import ProjectFilter
from ctxhub.core.admin.urls import list_url
from ctxhub.core.kit import clock
from ctxhub.core.models import Agent
from ctxhub.core.templatetags.moments import moment

ACTIVE_FOR = timedelta(hours=1)

# Further links in an agent's row. Each app appends its own.
agent_links: list[Callable[[Agent], SafeString]] = []


@admin.register(Agent)
class AgentAdmin(ProjectAdmin):
    menu = Menu("Activity", "smart_toy")
    when_empty = "An agent is listed with its first call, and a person with their first write."
    add_scope = change_scope = delete_scope = None

    list_display = ("name", "is_who", "state", "last_seen", "first_seen", "log")
    list_filter = (ProjectFilter, ("kind", ChoicesDropdownFilter))
    list_select_related = ("project",)
    search_fields = ("name",)
    ordering = ("-last_seen_at", "name")
    fields = ("project", "name", "is_who", "registered", "seen", "log")

    @display(description="Kind", ordering="kind", label={"agent": "info", "person": "primary"})
    def is_who(self, agent: Agent) -> str:
        return "person" if agent.kind == Agent.Kind.HUMAN else "agent"

    @display(description="State", label={"active": "success"})
    def state(self, agent: Agent) -> str:
        return "active" if agent.last_seen_at and agent.last_seen_at > clock.now() - ACTIVE_FOR else "idle"

    @display(description="Last seen", ordering="last_seen_at")
    def last_seen(self, agent: Agent) -> SafeString | str:
        return moment(agent.last_seen_at)

    @display(description="First seen", ordering="created_at")
    def first_seen(self, agent: Agent) -> SafeString | str:
        return moment(agent.created_at)

    registered = time_in_full("created_at", "First seen")
    seen = time_in_full("last_seen_at", "Last seen")

    @display(description="Log")
    def log(self, agent: Agent) -> SafeString:
        events = list_url("core_event", agent.project, agent=agent.name)
        log = format_html('<a class="ctx-link" href="{}">Its events</a>', events)
        return format_html_join(", ", "{}", ((link,) for link in (log, *(of(agent) for of in agent_links))))
