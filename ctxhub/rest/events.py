"""The REST view that opens a stream of events. ctxhub/mcp/event_streams.py sends what follows."""

from typing import Annotated, Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import NotAcceptable
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.core.accounts.listeners import Listener, person_listening
from ctxhub.core.events.following import LAST_ID, follow_news, open_stream
from ctxhub.core.kit.caller import Caller
from ctxhub.rest.event_format import EventStream, OnlyEvents
from ctxhub.rest.operations import operation
from ctxhub.rest.project import signed_in
from ctxhub.rest.takes import Takes
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox.argument_types import SINCE, About, Agents, Words

ID = {"type": "string", "pattern": r"^e[0-9]{1,18}$"}


class EventsQuery(TypedDict, total=False):
    since: Annotated[str, About(f"{SINCE} Events after it; left out: from now on.")]
    nouns: Annotated[Words, About("Only of these kinds: decision, message, lease, ...")]
    agents: Annotated[Agents, About("Only by these agents.")]
    verbs: Annotated[Words, About("Only created, updated, deprecated, deleted, sent, ...")]
    mine: Annotated[
        bool,
        About(
            "Only what concerns you: messages to you or to everyone, what others did with yours, and your"
            " leases that an administrator released."
        ),
    ]


class EventsViewSet(ProjectViewSet):
    renderer_classes = (EventStream,)

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        try:
            return super().perform_content_negotiation(request, force)
        except NotAcceptable:
            raise OnlyEvents from None

    @operation(
        query=Takes(EventsQuery),
        operation_id="events",
        parameters=[
            OpenApiParameter(LAST_ID, ID, "header", description="Events after this one; before `since`.")
        ],
        responses={(200, "text/event-stream"): OpenApiTypes.STR},
    )
    def retrieve(self, request: Request, slug: str) -> Response:
        """What is new to you, as server-sent events, from now on or after an event.

        At most 10,000 earlier events are replayed; then `event: reset` says where the stream goes on.
        """
        last_id = request.headers.get(LAST_ID, "")
        follow = follow_news(self.caller, _listener(request, self.caller), last_id=last_id, **self.query)
        if request.method == "GET":
            open_stream(follow)
        return Response(follow.beginning().decode(), headers={"Cache-Control": "no-store"})


def _listener(request: Request, caller: Caller) -> Listener:
    if isinstance(request.auth, Caller):
        return Listener(request.auth)
    key = request.session.session_key or ""
    return person_listening(signed_in(request), key, {caller.project_id: caller.scopes})
