"""REST views of similar memories, context suggestions and captures."""

from typing import Annotated, Any

from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.kit.caller import READ, WRITE
from ctxhub.rest.operations import operation, shows
from ctxhub.rest.takes import takes
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox.argument_types import About
from memory.capture import services
from memory.memories.api import Hits
from memory.memories.services import SimilarMemory


class SimilarAnswer(Hits):
    items: Annotated[list[SimilarMemory], About("Best first.")]


class SimilarViewSet(ProjectViewSet):
    similar = shows(
        takes("memory", "similar"),
        SimilarAnswer,
        says="Memories that say nearly the same as one of them, or as a text; best first.",
    )


class ContextSuggestionViewSet(ProjectViewSet):
    suggest = shows(
        takes("memory", "suggest_context"), says="Which context a text belongs to, or which one to make."
    )


class CaptureViewSet(ProjectViewSet):
    scopes = {"create": None}

    @operation(
        body=takes("memory", "capture"), responses={200: services.CaptureAnswer, 201: services.CaptureAnswer}
    )
    def create(self, request: Request, slug: str) -> Response:
        """Keep a text if it is worth keeping: 201 where it is saved. To try needs no right to write."""
        arguments: dict[str, Any] = self.body
        self.caller.require(READ if arguments.get("dry_run") else WRITE, f"POST {request.path}")
        answer = self.perform(services.capture, **arguments)
        return Response(answer, status=201 if answer.get("saved") else 200)
