"""REST views of the relationships of a memory."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.kit.answers import fit
from ctxhub.core.kit.caller import READ, WRITE
from ctxhub.core.kit.listing import with_arrays
from ctxhub.rest.operations import CREATED_OR_FOUND, deletes, operation, performs
from ctxhub.rest.takes import takes
from ctxhub.rest.views import ProjectViewSet
from memory.relationships import services


class RelationshipViewSet(ProjectViewSet):
    scopes = {"destroy": WRITE}

    create = performs(
        takes("memory", "relate", at="source"),
        statuses=CREATED_OR_FOUND,
        says="Say what a memory is to something: 201 where it is new, 200 where it was said before.",
    )
    destroy = deletes(
        takes("memory", "unrelate", at="source"),
        says="Take back what was said in this direction: of one relation, or of all.",
    )

    @operation(query=takes("memory", "relationships", without=["id", "create"]), responses=services.Around)
    def retrieve(self, request: Request, slug: str, memory_id: int) -> Response:
        """What is around a memory, and which memories may belong there."""
        return Response(self._around(memory_id, **self.query))

    @operation(
        body=takes(
            "memory",
            "relationships",
            without=["id", "create"],
            name="RelateSuggested",
            example={"threshold": 0.5},
        ),
        responses=services.Around,
    )
    def relate_suggested(self, request: Request, slug: str, memory_id: int) -> Response:
        """Make relationships of what is suggested."""
        # The answer contains what others wrote.
        self.caller.require(READ, f"POST {request.path}")
        return Response(self.once(lambda: self._around(memory_id, create=True, **self.body)))

    def _around(self, memory_id: int, **arguments: Any) -> dict[str, Any]:
        found = services.find_relationships(caller=self.caller, memory_id=memory_id, **arguments)
        return fit(with_arrays(found))
