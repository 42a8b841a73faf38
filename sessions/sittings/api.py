"""REST views of sessions: list, save, read, restore, delete, and what they continue."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.kit.caller import WRITE
from ctxhub.core.kit.listing import Listing
from ctxhub.rest.answers import in_parts, page_of, written
from ctxhub.rest.operations import CREATED, CREATED_OR_FOUND, lists, operation, performs, shows
from ctxhub.rest.takes import takes
from ctxhub.rest.views import ProjectViewSet
from sessions.sittings.queries import (
    ORDERS,
    ListedAncestor,
    ListedSession,
    Session,
    get_session,
    list_lineage,
    list_sessions,
    session_items,
)
from sessions.sittings.services import SaveAnswer, delete_session
from sessions.windows.live import LiveSession, list_live_sessions


def list_all_or_live(project_id: int, **filters: Any) -> Listing:
    return (list_live_sessions if filters.get("live") else list_sessions)(project_id, **filters)


def list_lineage_of(project_id: int, session_id: int, **page: Any) -> Listing:
    return list_lineage(project_id, session_id, **page)


SavedSession = written("SavedSession", SaveAnswer, Session)


class SessionViewSet(ProjectViewSet):
    scopes = {"destroy": WRITE}
    kind = named_by = "session"

    def item(self, session_id: int) -> dict[str, Any]:
        [item] = session_items([get_session(self.project_id, session_id)], full=False).values()
        return item

    list = shows(
        takes("session", "list").ordered_by(ORDERS, "-at"),
        page_of(ListedSession | LiveSession, "ListedSessionPage"),
        by=list_all_or_live,
        says="Sessions that pass every filter, newest first; with `live` those heard of within an hour.",
    )
    create = performs(
        takes("session", "save"),
        SavedSession,
        statuses=CREATED_OR_FOUND,
        says="Keep where an agent is: 201 where the session is new, 200 where it was there.",
    )
    retrieve = shows(
        takes("session", "get", at="session"),
        in_parts(Session),
        says="One session; with `conversation` one of its conversations, or some lines of it.",
    )
    partial_update = performs(
        takes(
            "session",
            "save",
            at="session",
            name="SessionChange",
            example={"summary": "The join is written.", "branch": "faster-basket"},
        ),
        says="Save into it: a new conversation is added, the rest replaces what was there.",
    )

    @operation(responses={204: None})
    def destroy(self, request: Request, slug: str, session_id: int) -> Response:
        """Remove it with all that it holds; another agent's as an administrator."""
        self.perform(delete_session, session=session_id)
        return Response(status=204)


class RestoreViewSet(ProjectViewSet):
    create = performs(
        takes("session", "restore"),
        statuses=CREATED,
        says="Go on from a session, in a new one: a named one, or the last one of a workspace.",
    )
    of_session = performs(
        takes("session", "restore", at="session", without=["workspace_id"], name="RestoreThis"),
        statuses=CREATED,
        operation_id="sessions_restore_this",
        says="Go on from this session, in a new one.",
    )


class LineageViewSet(ProjectViewSet):
    list = lists(
        takes("session", "lineage", at="session"),
        ListedAncestor,
        by=list_lineage_of,
        orders=(["depth"], "depth"),
        says="What a session continues, back to the first.",
    )
