"""REST views of briefings: what to know before work, and before an edit."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from rest_framework.renderers import BrowsableAPIRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.kit.caller import READ
from ctxhub.core.kit.listing import with_arrays
from ctxhub.rest.operations import operation
from ctxhub.rest.plain_text import PlainText
from ctxhub.rest.takes import takes
from ctxhub.rest.views import ProjectViewSet
from sessions.briefs.brief import BriefAnswer, brief
from sessions.briefs.services import give_answer, give_text
from sessions.checks.check import CheckAnswer, check


class BriefViewSet(ProjectViewSet):
    """As JSON, or as text for hooks: `?format=text`, or `Accept: text/plain`."""

    names_tools = True  # A hook puts the answer before a model.

    renderer_classes = (JSONRenderer, BrowsableAPIRenderer, PlainText)

    @operation(
        query=takes("brief"),
        responses={(200, "application/json"): BriefAnswer, (200, "text/plain"): OpenApiTypes.STR},
    )
    def retrieve(self, request: Request, slug: str) -> Response:
        """What bears on a task, within a budget of tokens."""
        is_text = isinstance(request.accepted_renderer, PlainText)
        found = brief(caller=self.caller, is_text=is_text, **self.query)
        return Response(give_text(self.caller, found) if is_text else give_answer(self.caller, found))


class CheckViewSet(ProjectViewSet):
    names_tools = True  # A hook puts the answer before a model.
    scopes = {"ask": READ}

    @operation(query=takes("check"), responses={200: CheckAnswer})
    def retrieve(self, request: Request, slug: str) -> Response:
        """What must hold for some files, and who else is at them."""
        return self._answered(self.query)

    @operation(body=takes("check"), responses={200: CheckAnswer}, operation_id="ask_check")
    def ask(self, request: Request, slug: str) -> Response:
        """Check files that a body names."""
        return self._answered(self.body)

    def _answered(self, arguments: dict[str, Any]) -> Response:
        return Response(with_arrays(check(caller=self.caller, **arguments).answer()))
