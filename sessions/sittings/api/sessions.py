"""REST views of sessions: list, save, read, restore, delete, and what they continue."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.answers import in_parts, page_of
from ctxhub.core.api.pages import Page
from ctxhub.core.api.takes import takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.kit.caller import WRITE
from sessions.sittings.lists.live import LiveSession, list_live_sessions, refuse_other_filters
from sessions.sittings.lists.sessions import ListedAncestor, ListedSession, list_lineage, list_sessions
from sessions.sittings.selectors.sessions import Session, open_session_parts
from sessions.sittings.services import sessions as services
from sessions.sittings.services.restoring import RestoreAnswer, restore_session


class SessionViewSet(ProjectViewSet):
    queries = {
        "list": takes("session", "list"),
        "retrieve": takes("session", "get", without=["session"]),
    }
    bodies = {
        "create": takes("session", "save"),
        "partial_update": takes(
            "session",
            "save",
            without=["session"],
            name="SessionChange",
            example={"summary": "The join is written.", "branch": "faster-basket"},
        ),
    }
    scopes = {"destroy": WRITE}

    @extend_schema(responses=page_of(ListedSession | LiveSession, "ListedSessionPage"))
    def list(self, request: Request, slug: str) -> Response:
        """Sessions that pass every filter, newest first; with `live` those heard of within an hour."""
        query = {**self.query}
        if not query.pop("live", False):
            return self.listed(Page.of(list_sessions(self.project_id, **query)))
        paging = {name: query.pop(name) for name in ("by", "limit", "cursor") if name in query}
        refuse_other_filters(**query)
        return self.listed(Page.of(list_live_sessions(self.project_id, **paging)))

    @extend_schema(responses={200: services.SaveAnswer, 201: services.SaveAnswer})
    def create(self, request: Request, slug: str) -> Response:
        """Keep where an agent is: 201 where the session is new, 200 where it was there."""
        answer = self.perform(services.save_session, **self.body)
        return Response(answer, status=201 if answer["result"] == "created" else 200)

    @extend_schema(responses=in_parts(Session))
    def retrieve(self, request: Request, slug: str, session_id: int) -> Response:
        """One session; with `conversation` one of its conversations, or some lines of it."""
        return Response(self.opened(open_session_parts(self.project_id, session_id, **self.query)))

    @extend_schema(responses=services.SaveAnswer)
    def partial_update(self, request: Request, slug: str, session_id: int) -> Response:
        """Save into it: a new conversation is added, the rest replaces what was there."""
        return Response(self.perform(services.save_session, session=session_id, **self.body))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, slug: str, session_id: int) -> Response:
        """Remove it with all that it holds; another agent's as an administrator."""
        self.perform(services.delete_session, session=session_id)
        return Response(status=204)


class RestoreViewSet(ProjectViewSet):
    bodies = {
        "create": takes("session", "restore"),
        "of_session": takes("session", "restore", without=["session", "workspace_id"], name="RestoreThis"),
    }

    @extend_schema(responses={201: RestoreAnswer})
    def create(self, request: Request, slug: str) -> Response:
        """Go on from a session, in a new one: a named one, or the last one of a workspace."""
        return self._restored(**self.body)

    @extend_schema(operation_id="sessions_restore_this", responses={201: RestoreAnswer})
    def of_session(self, request: Request, slug: str, session_id: int) -> Response:
        """Go on from this session, in a new one."""
        return self._restored(session=session_id, **self.body)

    def _restored(self, **arguments: Any) -> Response:
        return Response(self.perform(restore_session, **arguments), status=201)


class LineageViewSet(ProjectViewSet):
    queries = {"list": takes("session", "lineage", without=["session"])}

    @extend_schema(responses=page_of(ListedAncestor))
    def list(self, request: Request, slug: str, session_id: int) -> Response:
        """What a session continues, back to the first."""
        return self.listed(Page.of(list_lineage(self.project_id, session_id, **self.query)))
