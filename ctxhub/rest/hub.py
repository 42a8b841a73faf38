"""Stats, agents, activity, updates, named views and settings of a project."""

from collections.abc import Mapping
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.accounts.config import Settings, config_of, config_values
from ctxhub.core.events import log
from ctxhub.core.hub import overview
from ctxhub.core.hub.named_views import all_views
from ctxhub.core.hub.overview import wait_for_updates
from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.kit.errors import NotFound
from ctxhub.core.kit.likeness import nearest
from ctxhub.core.models import Agent
from ctxhub.rest.answers import page_of
from ctxhub.rest.filters import AgentFilter
from ctxhub.rest.operations import lists, operation, performs
from ctxhub.rest.pages import Page
from ctxhub.rest.schemas import COUNTS, UPDATES, Activity, AgentSeen, LayerStats
from ctxhub.rest.takes import takes
from ctxhub.rest.views import ProjectViewSet


class StatsViewSet(ProjectViewSet):
    @operation(responses={200: COUNTS})
    def retrieve(self, request: Request, slug: str) -> Response:
        """A figure for each kind of thing; [active, all] where that differs."""
        return Response(overview.count_all(self.project_id))


class AgentViewSet(ProjectViewSet):
    filters = {"list": AgentFilter}
    queryset = Agent.unscoped.none()

    @operation(query=takes("hub", "agents"), responses=page_of(AgentSeen))
    def list(self, request: Request, slug: str) -> Response:
        """Who works here, last seen first."""
        among = self.filtered(overview.agents_of(self.project_id))
        query = {"limit": 20, **self.query}
        return self.listed(Page.of(overview.list_agents(self.project_id, **query, among=among)))


class ActivityViewSet(ProjectViewSet):
    list = lists(
        takes("hub", "activity"),
        Activity,
        by=log.list_activity,
        orders=(["at"], "-at"),
        says="What happened, newest first.",
    )


class UpdatesViewSet(ProjectViewSet):
    @operation(query=takes("hub", "wait"), responses={200: UPDATES})
    def retrieve(self, request: Request, slug: str) -> Response:
        """How many things of each kind others have changed since, and the cursor to ask with next time."""
        count = wait_for_updates if "wait_seconds" in self.query else log.count_updates
        return Response(count(self.caller, **self.query))


class LayerSummaryViewSet(ProjectViewSet):
    list = lists(
        takes("hub", "layer_summary"),
        LayerStats,
        by=overview.summarise_layers,
        orders=(["position"], "position"),
        says="What is in force in each layer, the empty ones too, and the file changes of the last hour.",
    )


class NamedViewViewSet(ProjectViewSet):
    @operation(
        query=takes("hub", "view", without=["name"]),
        responses=page_of(dict[str, Any], "NamedViewPage"),
        operation_id="named_view",
    )
    def list(self, request: Request, slug: str, name: str) -> Response:
        """A ready-made view, by its name: active_context, recent_file_changes, tagged_constraints, ..."""
        views = all_views()
        if name not in views:
            known = list(views)
            raise NotFound(f"There is no view {name!r}.", did_you_mean=nearest(name, known), allowed=known)
        return self.listed(Page.of(views[name].select(self.project_id, **self.query)))

    def shown(self, item: Mapping[str, Any]) -> dict[str, Any]:
        return super().shown(item) if all_views()[self.kwargs["name"]].has_authors else dict(item)


class ConfirmViewSet(ProjectViewSet):
    create = performs(
        takes("hub", "confirm"),
        says="Say that decisions, constraints or memories still hold though their files changed.",
    )


class ConfigViewSet(ProjectViewSet):
    scopes = {"partial_update": ADMIN}

    partial_update = performs(
        takes("hub", "config_set"), Settings, says="Change settings; those left out stay. An administrator's."
    )

    @operation(responses=Settings)
    def retrieve(self, request: Request, slug: str) -> Response:
        """How long things are kept, and which days do not count."""
        return Response(config_values(config_of(self.project_id)))
