"""REST views of contexts."""

from collections.abc import Mapping
from typing import Annotated, Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.answers import in_parts, page_of
from ctxhub.core.api.pages import Page
from ctxhub.core.api.takes import READ_IN_PARTS, takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.hub.partial_reads import Opened
from ctxhub.core.kit.caller import WRITE
from ctxhub.core.toolbox.argument_types import one_of
from memory.memories.lists.contexts import list_contexts
from memory.memories.selectors.contexts import Context, ListedContext, context_item, get_context
from memory.memories.services import contexts as services


class CreatedContext(Context):
    result: Annotated[str, one_of("created")]


class ChangedContext(Context):
    result: Annotated[str, one_of("updated", "unchanged")]


class ContextViewSet(ProjectViewSet):
    queries = {"list": takes("memory", "contexts"), "retrieve": READ_IN_PARTS}
    bodies = {
        "create": takes("memory", "context_create"),
        "partial_update": takes("memory", "context_update", without=["context"]),
    }
    scopes = {"destroy": WRITE}

    @extend_schema(responses=page_of(ListedContext))
    def list(self, request: Request, slug: str) -> Response:
        """Contexts, the last written to first."""
        return self.listed(Page.of(list_contexts(self.project_id, **self.query)))

    @extend_schema(responses={201: CreatedContext})
    def create(self, request: Request, slug: str) -> Response:
        """A container for memories that belong together. 409 where its name is taken."""
        return Response(self.write(services.create_context, **self.body), status=201)

    @extend_schema(responses=in_parts(Context))
    def retrieve(self, request: Request, slug: str, context: str) -> Response:
        """One context, whole, by its name or id, or some lines of its description."""
        requested = self.requested_lines()
        item = context_item(get_context(self.project_id, context))
        return Response(self.opened(Opened(item, "description", requested, "context")))

    @extend_schema(responses=ChangedContext)
    def partial_update(self, request: Request, slug: str, context: str) -> Response:
        """Change a context; what is left out stays as it is.

        An empty text or null clears, metadata merges by key.
        """
        return Response(self.write(services.update_context, context=context, **self.body))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, slug: str, context: str) -> Response:
        """Remove a context and all memories in it."""
        self.perform(services.delete_context, context=context)
        return Response(status=204)

    def item_of(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        return context_item(get_context(self.project_id, answer["id"]))
