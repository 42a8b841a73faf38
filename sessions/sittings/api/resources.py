"""REST views of files in sessions: accesses, the files of a session, dependencies."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.answers import page_of
from ctxhub.core.api.pages import Page
from ctxhub.core.api.takes import takes
from ctxhub.core.api.views import ProjectViewSet
from sessions.sittings.selectors import accesses, dependencies, resources
from sessions.sittings.services import resources as services


class AccessViewSet(ProjectViewSet):
    queries = {
        "list": takes("session", "accesses"),
        "of_session": takes("session", "accesses", without=["session"]),
    }
    bodies = {"create": takes("session", "track")}

    @extend_schema(responses=page_of(accesses.ListedAccess))
    def list(self, request: Request, slug: str) -> Response:
        """Accesses of agents to files that pass every filter, newest first."""
        return self._list(**self.query)

    @extend_schema(responses={201: services.TrackAnswer})
    def create(self, request: Request, slug: str) -> Response:
        """Note what an agent did with a file."""
        return Response(self.perform(services.track_access, **self.body), status=201)

    @extend_schema(responses=page_of(accesses.ListedAccess))
    def of_session(self, request: Request, slug: str, session_id: int) -> Response:
        """Accesses in one session, newest first."""
        return self._list(session=str(session_id), **self.query)

    def _list(self, **query: Any) -> Response:
        return self.listed(Page.of(accesses.list_accesses(self.caller, **query)))


class SessionResourceViewSet(ProjectViewSet):
    queries = {"list": takes("session", "resources", without=["session"])}

    @extend_schema(responses=page_of(resources.SessionResource))
    def list(self, request: Request, slug: str, session_id: int) -> Response:
        """The files of a session, the most relevant ones first unless `sort` says otherwise."""
        found = resources.list_session_resources(self.caller, session=str(session_id), **self.query)
        return self.listed(Page.of(found))


class DependencyViewSet(ProjectViewSet):
    queries = {"list": takes("session", "dependencies")}
    bodies = {"create": takes("session", "depend")}

    @extend_schema(responses=page_of(dependencies.ListedDependency))
    def list(self, request: Request, slug: str) -> Response:
        """What a file needs, and what needs it: the nearest first."""
        return self.listed(Page.of(dependencies.list_dependencies(self.project_id, **self.query)))

    @extend_schema(responses={200: services.DependAnswer, 201: services.DependAnswer})
    def create(self, request: Request, slug: str) -> Response:
        """Note that a file depends on another: 201 where that is new, 200 where it gets stronger."""
        answer = self.perform(services.add_dependency, **self.body)
        return Response(answer, status=201 if answer["result"] == "created" else 200)
