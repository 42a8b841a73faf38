"""Stats, agents, activity, updates, named views and settings of a project."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.accounts.selectors.config import Settings, config_of, config_values
from ctxhub.core.accounts.services.config import set_config
from ctxhub.core.api.answers import page_of
from ctxhub.core.api.filters import AgentFilter
from ctxhub.core.api.pages import Page
from ctxhub.core.api.schemas import COUNTS, UPDATES, Activity, AgentSeen, LayerStats
from ctxhub.core.api.takes import takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.events.selectors import events
from ctxhub.core.hub.named_views import all_views
from ctxhub.core.hub.selectors import hub
from ctxhub.core.hub.selectors.updates import wait_for_updates
from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.kit.errors import NotFound
from ctxhub.core.kit.likeness import nearest
from ctxhub.core.models import Agent
from ctxhub.core.paths.services.confirming import ConfirmAnswer, confirm


class StatsViewSet(ProjectViewSet):
    @extend_schema(responses={200: COUNTS})
    def retrieve(self, request: Request, slug: str) -> Response:
        """A figure for each kind of thing; [active, all] where that differs."""
        return Response(hub.count_all(self.project_id))


class AgentViewSet(ProjectViewSet):
    queries = {"list": takes("hub", "agents")}
    filters = {"list": AgentFilter}
    queryset = Agent.unscoped.none()

    @extend_schema(responses=page_of(AgentSeen))
    def list(self, request: Request, slug: str) -> Response:
        """Who works here, last seen first."""
        among = self.filtered(hub.agents_of(self.project_id))
        query = {"limit": 20, **self.query}
        return self.listed(Page.of(hub.list_agents(self.project_id, **query, among=among)))


class ActivityViewSet(ProjectViewSet):
    queries = {"list": takes("hub", "activity")}

    @extend_schema(responses=page_of(Activity))
    def list(self, request: Request, slug: str) -> Response:
        """What happened, newest first."""
        return self.listed(Page.of(events.list_activity(self.project_id, **self.query)))


class UpdatesViewSet(ProjectViewSet):
    queries = {"retrieve": takes("hub", "wait")}

    @extend_schema(responses={200: UPDATES})
    def retrieve(self, request: Request, slug: str) -> Response:
        """How many things of each kind others have changed since, and the cursor to ask with next time."""
        count = wait_for_updates if "wait_seconds" in self.query else events.count_updates
        return Response(count(self.caller, **self.query))


class LayerSummaryViewSet(ProjectViewSet):
    queries = {"list": takes("hub", "layer_summary")}

    @extend_schema(responses=page_of(LayerStats))
    def list(self, request: Request, slug: str) -> Response:
        """What is in force in each layer, the empty ones too, and the file changes of the last hour."""
        return self.listed(Page.of(hub.summarise_layers(self.project_id, **self.query)))


class NamedViewViewSet(ProjectViewSet):
    queries = {"list": takes("hub", "view", without=["name"])}

    @extend_schema(responses=page_of(dict[str, Any], "NamedViewPage"), operation_id="named_view")
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
    bodies = {"create": takes("hub", "confirm")}

    @extend_schema(responses={200: ConfirmAnswer})
    def create(self, request: Request, slug: str) -> Response:
        """Say that decisions, constraints or memories still hold though their files changed."""
        return Response(self.perform(confirm, **self.body))


class ConfigViewSet(ProjectViewSet):
    bodies = {"partial_update": takes("hub", "config_set")}
    scopes = {"partial_update": ADMIN}

    @extend_schema(responses=Settings)
    def retrieve(self, request: Request, slug: str) -> Response:
        """How long things are kept, and which days do not count."""
        return Response(config_values(config_of(self.project_id)))

    @extend_schema(responses=Settings)
    def partial_update(self, request: Request, slug: str) -> Response:
        """Change settings; those left out stay. An administrator's."""
        return Response(self.perform(set_config, **self.body))
