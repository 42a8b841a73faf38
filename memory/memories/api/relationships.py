"""REST views of the relationships of a memory."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.takes import takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.kit.answers import fit
from ctxhub.core.kit.caller import READ, WRITE
from ctxhub.core.kit.listing import with_arrays
from memory.memories.services import relationships as services


class RelationshipViewSet(ProjectViewSet):
    queries = {
        "retrieve": takes("memory", "relationships", without=["id", "create"]),
        "destroy": takes("memory", "unrelate", without=["source"]),
    }
    bodies = {
        "create": takes("memory", "relate", without=["source"]),
        "relate_suggested": takes(
            "memory",
            "relationships",
            without=["id", "create"],
            name="RelateSuggested",
            example={"threshold": 0.5},
        ),
    }
    scopes = {"destroy": WRITE}

    @extend_schema(responses=services.Around)
    def retrieve(self, request: Request, slug: str, memory_id: int) -> Response:
        """What is around a memory, and which memories may belong there."""
        return Response(self._around(memory_id, **self.query))

    @extend_schema(responses={200: services.RelateAnswer, 201: services.RelateAnswer})
    def create(self, request: Request, slug: str, memory_id: int) -> Response:
        """Say what a memory is to something: 201 where it is new, 200 where it was said before."""
        answer = self.perform(services.relate, source=memory_id, **self.body)
        return Response(answer, status=201 if answer.get("result") == "created" else 200)

    @extend_schema(responses=services.Around)
    def relate_suggested(self, request: Request, slug: str, memory_id: int) -> Response:
        """Make relationships of what is suggested."""
        # The answer contains what others wrote.
        self.caller.require(READ, f"POST {request.path}")
        return Response(self.once(lambda: self._around(memory_id, create=True, **self.body)))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, slug: str, memory_id: int) -> Response:
        """Take back what was said in this direction: of one relation, or of all."""
        self.perform(services.unrelate, source=memory_id, **self.query)
        return Response(status=204)

    def _around(self, memory_id: int, **arguments: Any) -> dict[str, Any]:
        found = services.find_relationships(caller=self.caller, memory_id=memory_id, **arguments)
        return fit(with_arrays(found))
