"""The admin of briefings: what agents were given, the brief of any agent now, and what would stop one."""

from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from ctxhub.console.access import shown_project_ids
from ctxhub.console.base import Menu
from ctxhub.console.columns import column
from ctxhub.console.filters import AgentFilter, ProjectFilter
from ctxhub.console.project_pages import ProjectPagesAdmin
from ctxhub.console.rows.row_view import RowParts
from ctxhub.console.unfold_compat import DropdownFilter
from ctxhub.console.urls import list_url
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.models import Agent, Project
from ctxhub.core.registry import find_noun
from ctxhub.core.templatetags.moments import moment
from ctxhub.core.text.plurals import counted
from sessions.briefs.page import brief_context
from sessions.checks.page import check_context
from sessions.given.models import Briefing, BriefingItem
from sessions.given.page import field_value, given_context, shown_items
from sessions.sittings.admin import SessionFilter
from sessions.sittings.page import url_of

VIAS = ("brief", "get", "why", "load", "restore")


class ViaFilter(DropdownFilter):
    title = "by"
    parameter_name = "via"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(via, via) for via in VIAS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(via=self.value()) if self.value() else queryset


def briefings_with(request: HttpRequest, ref: str) -> QuerySet[Any, int] | None:
    """The ids of the briefings with the thing of this ref in the shown projects; None if it is no ref."""
    kind, colon, name = ref.partition(":")
    noun = find_noun(kind) if colon else None
    if noun is None:
        return None
    field = getattr(admin.site._registry.get(noun.model), "ref_field", "pk")
    value = read_id(name) if field == "pk" else name
    projects = shown_project_ids(request)
    rows = noun.model._base_manager.filter(project__in=projects, **{field: value}).values("pk")
    items = BriefingItem.unscoped.filter(project__in=projects, kind=kind, object_id__in=rows)
    return items.values_list("briefing_id", flat=True)


ITEMS_SHOWN = 50


@admin.register(Briefing)
class BriefingAdmin(ProjectPagesAdmin):
    menu = Menu("Activity", "assignment")
    add_scope = change_scope = delete_scope = None
    why_missing = "Old ones are deleted."
    when_empty = (
        "What agents were given by `brief`, `get` and `session restore`: recorded a second after each answer."
    )
    project_pages = {"brief": "Brief now", "check": "Check", "given": "Known at a time"}

    list_display = ("when", "things", "how", "by", "cost", "within")
    row_parts = RowParts(title="things")
    list_filter = (ProjectFilter, AgentFilter, SessionFilter, ViaFilter)
    list_select_related = ("project", "agent")
    search_fields = ("agent__name",)
    search_help_text = "A ref (decision:api/auth) of what was given, or the name of an agent"
    date_hierarchy = "at"

    # -- Finding -----------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Briefing]:
        rows: QuerySet[Briefing] = super().get_queryset(request)
        items = BriefingItem.unscoped.filter(briefing=OuterRef("pk")).order_by().values("briefing")
        counted = Subquery(items.annotate(count=Count("pk")).values("count"), output_field=IntegerField())
        return rows.annotate(item_count=Coalesce(counted, 0))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        found = briefings_with(request, search_term.strip())
        if found is not None:
            return queryset.filter(pk__in=found), False
        return super().get_search_results(request, queryset, search_term)

    when = column("When", lambda briefing: moment(briefing.at), ordering="at")
    how = column("By", lambda briefing: briefing.via, ordering="via", label={"brief": "primary"})

    things = column("Things", lambda briefing: counted(briefing.item_count, "things"))
    cost = column("Tokens", lambda briefing: f"{briefing.tokens:,}", ordering="tokens")

    @display(description="Session", ordering="session_id")
    def within(self, briefing: Briefing) -> SafeString | str:
        if briefing.session_id is None:
            return briefing.session_name
        return format_html(
            '<a class="ctx-link" href="{}">{}</a>', url_of(briefing.session_id), briefing.session_id
        )

    # -- Reading -----------------------------------------------------------------------------------

    def page_for_form(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """What the agent was given, with the texts as they were."""
        briefing = self.get_object(request, object_id)
        if briefing is None:
            return self.missing(request, object_id)
        items = BriefingItem.objects.in_project(briefing.project_id).filter(briefing=briefing)
        page = Paginator(items.select_related("briefing").order_by("pk"), ITEMS_SHOWN).get_page(
            request.GET.get("page")
        )
        return self.page(
            request,
            "ctxhub/briefing.html",
            f"Briefing {briefing.pk}",
            object=briefing,
            briefing=briefing,
            project=briefing.project,
            session_url=url_of(briefing.session_id) if briefing.session_id else "",
            page=page,
            items=shown_items(briefing.project_id, list(page)),
            known_url=self.url_of_page(
                "given",
                briefing.project,
                agent=briefing.agent.name,
                at=field_value(briefing.at),
            ),
        )

    # -- Pages of a project ------------------------------------------------------------------------

    def brief_page(self, request: HttpRequest, project: Project | None) -> HttpResponse:
        shown = brief_context(project, request.GET.dict()) if project else {}
        return self.project_page(request, "brief", "ctxhub/brief.html", project, **shown)

    def check_page(self, request: HttpRequest, project: Project | None) -> HttpResponse:
        shown = check_context(project, request.GET.dict()) if project else {}
        return self.project_page(request, "check", "ctxhub/check.html", project, **shown)

    def given_page(self, request: HttpRequest, project: Project | None) -> HttpResponse:
        shown = given_context(project, request.GET.dict()) if project else {}
        return self.project_page(request, "given", "ctxhub/given.html", project, **shown)


def briefings_of(agent: Agent) -> SafeString:
    url = list_url("agent_sessions_briefing", agent.project, agent=agent.name)
    return format_html('<a class="ctx-link" href="{}">What it was given</a>', url)
