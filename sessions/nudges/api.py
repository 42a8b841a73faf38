"""REST view of nudges, for the hooks of clients."""

from typing import Annotated

from drf_spectacular.types import OpenApiTypes
from rest_framework.renderers import BrowsableAPIRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.rest.operations import operation
from ctxhub.rest.plain_text import PlainText
from ctxhub.rest.takes import Takes
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox.argument_types import About
from sessions.nudges.services import NudgeAnswer, nudge

NOT_STORED = {"Cache-Control": "no-store"}


class NudgeQuery(TypedDict, total=False):
    dry_run: Annotated[bool, About("Only look: what it tells is told again by the next nudge.")]


class NudgeViewSet(ProjectViewSet):
    """As JSON, or as text for hooks: `?format=text`, or `Accept: text/plain`."""

    names_tools = True  # A hook puts the answer before a model.

    renderer_classes = (JSONRenderer, BrowsableAPIRenderer, PlainText)

    @operation(
        query=Takes(NudgeQuery),
        responses={(200, "application/json"): NudgeAnswer, (200, "text/plain"): OpenApiTypes.STR},
    )
    def retrieve(self, request: Request, slug: str) -> Response:
        """What changed that the agent should hear now: urgent mail, leases, decisions. Each thing once."""
        answer = nudge(caller=self.caller, **self.query)
        is_text = isinstance(request.accepted_renderer, PlainText)
        return Response(answer["text"] if is_text else answer, headers=NOT_STORED)
