"""The project at a glance: figures, agents, what happened, what is new."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.pages import Page
from ctxhub.core.api.queries import ListQuery, Query, text, words
from ctxhub.core.api.shapes import COUNTS, UPDATES, Activity, AgentSeen
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.selectors import events, hub

SINCE = 'A time ("2026-11-21T10:00:00Z"), a time ago ("30m", "7d") or an event\'s cursor ("e1234").'


class SinceQuery(Query):
    since = text(SINCE)


class ActivityQuery(ListQuery, SinceQuery):
    agents = words("Only by these agents.")
    verbs = words("Only created, updated, deprecated, deleted.")


class StatsViewSet(ProjectViewSet):
    @extend_schema(responses={200: COUNTS})
    def retrieve(self, request: Request, slug: str) -> Response:
        """A figure for each kind of thing; [active, all] where that differs."""
        return Response(hub.count_all(self.project_id))


class AgentViewSet(ProjectViewSet):
    queries = {"list": ListQuery}

    @extend_schema(responses=AgentSeen)
    def list(self, request: Request, slug: str) -> Response:
        """Who works here, last seen first."""
        return self.listed(Page.of(hub.list_agents(self.project_id, **{"limit": 20, **self.query})))


class ActivityViewSet(ProjectViewSet):
    queries = {"list": ActivityQuery}

    @extend_schema(responses=Activity)
    def list(self, request: Request, slug: str) -> Response:
        """What happened, newest first."""
        return self.listed(Page.of(events.list_activity(self.project_id, **self.query)))


class UpdatesViewSet(ProjectViewSet):
    queries = {"retrieve": SinceQuery}

    @extend_schema(responses={200: UPDATES}, filters=True)
    def retrieve(self, request: Request, slug: str) -> Response:
        """How many things of each kind others have changed since, and the cursor to ask with next time."""
        return Response(events.count_updates(self.caller, **self.query))
