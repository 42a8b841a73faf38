"""The admin of use and of searches that found nothing, read-only."""

from django.contrib import admin
from django.db.models import QuerySet
from django.db.models.functions import Lower
from django.http import HttpRequest, HttpResponse

from ctxhub.console.base import Menu, ProjectAdmin
from ctxhub.console.columns import agent_name, column
from ctxhub.console.filters import ProjectFilter
from ctxhub.console.project_pages import ProjectPagesAdmin
from ctxhub.console.refusals import RefusedAgentFilter
from ctxhub.console.rows.row_view import RowParts
from ctxhub.console.use.page import NAMELESS, use_context
from ctxhub.console.use.sums import OTHERS
from ctxhub.core.accounts.agents import with_agent_pk
from ctxhub.core.models import EmptySearch, Project, TokenUse
from ctxhub.core.templatetags.moments import moment


@admin.register(TokenUse)
class TokenUseAdmin(ProjectPagesAdmin):
    menu = Menu("Activity", "monitoring", page="cost")
    add_scope = change_scope = delete_scope = None
    project_pages = {"cost": "Use and cost"}
    when_empty = (
        "Calls and the tokens of their answers, by hour, agent and operation: each is counted some"
        " seconds after its answer."
    )

    list_display = ("when", "who", "what", "calls", "errors", "tokens", "whole_tokens", "most_tokens")
    row_parts = RowParts(title="what")
    list_display_links = None
    list_select_related = ("project",)
    list_filter = (ProjectFilter, RefusedAgentFilter)
    search_fields = ("operation",)
    search_help_text = "Operation"
    date_hierarchy = "hour"
    ordering = ("-hour", "-pk")

    def get_queryset(self, request: HttpRequest) -> QuerySet[TokenUse]:
        return with_agent_pk(super().get_queryset(request))

    when = column("Hour", lambda use: moment(use.hour), ordering="hour")
    who = column("Agent", lambda use: agent_name(use.name or NAMELESS, use.agent_pk), ordering="folded")
    what = column("Operation", lambda use: use.operation or OTHERS, ordering="operation")

    def cost_page(self, request: HttpRequest, project: Project | None) -> HttpResponse:
        shown = use_context(project, request.GET.dict()) if project else {}
        return self.project_page(request, "cost", "ctxhub/use.html", project, **shown)


@admin.register(EmptySearch)
class EmptySearchAdmin(ProjectAdmin):
    menu = Menu("Activity", "search_off")
    add_scope = change_scope = delete_scope = None
    when_empty = (
        "What agents and people asked, with `search` say, and nobody has written down yet: a question"
        " that finds nothing is kept."
    )

    list_display = ("query", "count", "who", "last", "first")
    list_display_links = None
    list_select_related = ("project",)
    list_filter = (ProjectFilter,)
    search_fields = ("query",)
    search_help_text = "Words of the question"

    def get_queryset(self, request: HttpRequest) -> QuerySet[EmptySearch]:
        return with_agent_pk(super().get_queryset(request).annotate(asker=Lower("name")), "asker")

    who = column("Agent", lambda search: agent_name(search.name, search.agent_pk), ordering="name")
    last = column("Last", lambda search: moment(search.last_at), ordering="last_at")
    first = column("First", lambda search: moment(search.first_at), ordering="first_at")
