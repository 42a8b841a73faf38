"""The admin of refusals, read-only; and a panel of them on the page of what refused."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet, Sum
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from ctxhub.console.base import Menu, ProjectAdmin
from ctxhub.console.columns import agent_name, column, mono, preview, time_in_full
from ctxhub.console.filters import ProjectFilter
from ctxhub.console.row_panels import AGENT, RowPanel
from ctxhub.console.rows.row_view import RowParts
from ctxhub.console.unfold_compat import DropdownFilter, TextFilter
from ctxhub.console.urls import list_url
from ctxhub.core.accounts.agents import with_agent_pk
from ctxhub.core.models import Refusal
from ctxhub.core.refusals.queries import CODES, refusals_between, refusals_of
from ctxhub.core.templatetags.agents import link_to_agent
from ctxhub.core.templatetags.moments import moment
from ctxhub.core.text.plurals import counted

SHOWN = 5


class RefusedAgentFilter(TextFilter):
    title = parameter_name = "agent"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        agent = (self.value() or "").strip().casefold()
        return queryset.filter(folded=agent) if agent else queryset


class CodeFilter(DropdownFilter):
    title = "why"
    parameter_name = "code"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(code, code) for code in CODES]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(code=self.value()) if self.value() else queryset


@admin.register(Refusal)
class RefusalAdmin(ProjectAdmin):
    menu = Menu("Activity", "block")
    add_scope = change_scope = delete_scope = None
    when_empty = (
        "What agents and people tried and were refused: a lease that another holds, an old version, a"
        " missing scope, a read that takes too long."
    )

    list_display = ("when", "who", "session", "on", "code", "count", "what")
    row_parts = RowParts(title="what", text="on", state=("code",))
    list_select_related = ("project",)
    list_filter = (ProjectFilter, RefusedAgentFilter, CodeFilter)
    search_fields = ("ref", "session")
    search_help_text = "Ref or session"
    date_hierarchy = "minute"
    fields = ("project", "who", "session", "on", "code", "count", "first", "last", "note")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Refusal]:
        return with_agent_pk(super().get_queryset(request))

    when = column("When", lambda refusal: moment(refusal.last_at), ordering="minute")
    who = column(
        "Agent",
        lambda refusal: agent_name(refusal.name or "many agents", refusal.agent_pk),
        ordering="folded",
    )
    on = column("Ref", lambda refusal: mono(refusal.ref) if refusal.ref else "", ordering="ref")
    what = column("Error", lambda refusal: preview(refusal.note))

    first = time_in_full("first_at", "First")
    last = time_in_full("last_at", "Last")


def refused_line(row: Any) -> SafeString | str:
    """How often others were refused because of the row, and who was last; a link to all."""
    refusals = refusals_of(row.project_id, row.ref)
    last: Any = with_agent_pk(refusals).first()
    if last is None:
        return ""
    url = list_url("core_refusal", row.project, q=row.ref)
    return format_html(
        '<a class="ctx-link" href="{}">{}</a>, last {} {}',
        url,
        counted(_times(refusals), "times"),
        link_to_agent(last.name or "many agents", last.agent_pk),
        moment(last.last_at),
    )


def _times(refusals: QuerySet[Refusal]) -> int:
    total: int = refusals.order_by().aggregate(times=Sum("count"))["times"]
    return total


def refusals_panel(kind: str, row: Any) -> RowPanel | None:
    """Who was refused because of the row, the last ones first; None for nobody."""
    if kind == AGENT:
        return None
    ref = getattr(row, "ref", f"{kind}:{row.pk}")
    refusals = refusals_of(row.project_id, ref)
    newest = list(with_agent_pk(refusals)[:SHOWN])
    if not newest:
        return None
    all_url = list_url("core_refusal", row.project, q=ref)
    return RowPanel(
        "ctxhub/refusals.html", {"refusals": newest, "times": _times(refusals), "all_url": all_url}
    )


def refused_agent_panel(kind: str, row: Any) -> RowPanel | None:
    """What an agent was refused, the last ones first."""
    if kind != AGENT:
        return None
    refusals = refusals_between(row.project_id).filter(folded=row.folded)
    newest = list(refusals[:SHOWN])
    shown = {
        "refusals": newest,
        "times": _times(refusals) if newest else 0,
        "all_url": list_url("core_refusal", row.project, agent=row.name),
    }
    return RowPanel("ctxhub/agent_refusals.html", shown, place=30)
