"""REST views of similar memories, context suggestions and captures."""

from typing import Annotated, Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.pages import Page
from ctxhub.core.api.takes import takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.kit.caller import READ, WRITE
from ctxhub.core.toolbox.argument_types import About
from memory.memories.api.memory_schemas import Hits
from memory.memories.selectors.context_suggestions import ContextSuggestion, suggest_context
from memory.memories.selectors.similar import list_similar
from memory.memories.services import captures as services
from memory.memories.services.memories import SimilarMemory


class SimilarAnswer(Hits):
    items: Annotated[list[SimilarMemory], About("Best first.")]


class SimilarViewSet(ProjectViewSet):
    queries = {"similar": takes("memory", "similar")}

    @extend_schema(responses=SimilarAnswer)
    def similar(self, request: Request, slug: str) -> Response:
        """Memories that say nearly the same as one of them, or as a text; best first."""
        memory_id = self.query.pop("id", None)
        return self.listed(Page.of(list_similar(self.project_id, memory_id=memory_id, **self.query)))


class ContextSuggestionViewSet(ProjectViewSet):
    queries = {"suggest": takes("memory", "suggest_context")}

    @extend_schema(responses=ContextSuggestion)
    def suggest(self, request: Request, slug: str) -> Response:
        """Which context a text belongs to, or which one to make."""
        return Response(suggest_context(self.project_id, **self.query))


class CaptureViewSet(ProjectViewSet):
    bodies = {"create": takes("memory", "capture")}
    scopes = {"create": None}

    @extend_schema(responses={200: services.CaptureAnswer, 201: services.CaptureAnswer})
    def create(self, request: Request, slug: str) -> Response:
        """Keep a text if it is worth keeping: 201 where it is saved. To try needs no right to write."""
        arguments: dict[str, Any] = self.body
        self.caller.require(READ if arguments.get("dry_run") else WRITE, f"POST {request.path}")
        answer = self.perform(services.capture, **arguments)
        return Response(answer, status=201 if answer.get("saved") else 200)
