"""Agents with the name of a person, from before nobody could write as one: listed, told, and settled."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from ctxhub.console.access import shown_project_ids
from ctxhub.console.needs.sources import SHOWN, Button, FoundNeeds, Name, Need, PageLink, Reader
from ctxhub.console.row_panels import AGENT, RowPanel
from ctxhub.console.unfold_compat import DropdownFilter
from ctxhub.core.accounts.people import Clash, find_clashes
from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.kit.priority import Priority

LIST = "core_agent"


class NamesakeFilter(DropdownFilter):
    title = "name"
    parameter_name = "name"

    def __init__(self, request: HttpRequest, *arguments: Any) -> None:
        super().__init__(request, *arguments)
        self.request = request

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("person", "a person's as well")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() != "person":
            return queryset
        clashes = find_clashes(shown_project_ids(self.request))
        return queryset.filter(pk__in=[clash.agent.pk for clash in clashes])


def namesakes(reader: Reader) -> FoundNeeds:
    found = find_clashes(reader.project_ids)
    return FoundNeeds(
        [_need(clash, reader) for clash in found[:SHOWN]],
        len(found),
        "agents",
        "with the name of a person",
        reader.list_url(LIST, name="person"),
    )


def _need(clash: Clash, reader: Reader) -> Need:
    agent = clash.agent
    give = Button(
        "It is the person",
        reader.button_url(f"{LIST}_give", agent.project_id),
        "agent",
        str(agent.pk),
        ADMIN,
    )
    return Need(
        f"namesake-{agent.pk}",
        agent.project_id,
        Priority.HIGH if clash.tokens else Priority.LOW,
        "badge",
        ["An agent has the name of a person: ", Name(agent.name, agent.pk), f". {clash.sentence}"],
        agent.last_seen_at or agent.created_at,
        [
            PageLink("Open", reader.list_url(LIST, agent.project_id, name="person")),
            *([] if clash.tokens else [give]),
        ],
    )


def namesake_panel(kind: str, row: Any) -> RowPanel | None:
    if kind != AGENT:
        return None
    clash = next((each for each in find_clashes([row.project_id]) if each.agent.pk == row.pk), None)
    return RowPanel("ctxhub/namesake_panel.html", {"clash": clash}) if clash else None
