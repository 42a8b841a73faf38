"""The REST view that chooses files of a session for a budget."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.takes import takes
from ctxhub.core.api.views import ProjectViewSet
from sessions.sittings.services.prioritize import PrioritizeAnswer, prioritize_files


class PrioritizeViewSet(ProjectViewSet):
    bodies = {"create": takes("session", "prioritize", without=["session"])}

    @extend_schema(responses={200: PrioritizeAnswer})
    def create(self, request: Request, slug: str, session_id: int) -> Response:
        """Which files of the session fit into a budget, most important first, each as full as it fits."""
        return Response(self.perform(prioritize_files, session=session_id, **self.body))
