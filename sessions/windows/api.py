"""REST view of sessions that begin."""

from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.rest.operations import operation
from ctxhub.rest.takes import takes
from ctxhub.rest.views import ProjectViewSet
from sessions.windows.beginning import BeginAnswer, begin_session


class BeginViewSet(ProjectViewSet):
    @operation(body=takes("session", "begin"), responses={200: BeginAnswer})
    def create(self, request: Request, slug: str) -> Response:
        """Tell that a window works in a session: `session`, or the header `Ctxhub-Session`."""
        return Response(self.perform(begin_session, **self.body))
