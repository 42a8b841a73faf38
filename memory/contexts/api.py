"""REST views of contexts."""

from typing import Any

from ctxhub.core.kit.caller import WRITE
from ctxhub.rest.answers import written
from ctxhub.rest.operations import CREATED, deletes, lists, reads, writes
from ctxhub.rest.takes import takes
from ctxhub.rest.views import ProjectViewSet
from memory.contexts import services
from memory.contexts.queries import ORDERS, Context, ListedContext, context_item, get_context, list_contexts
from memory.contexts.services import delete_context, replace_context

CreatedContext = written("CreatedContext", services.ContextAnswer, Context)
ChangedContext = written("ChangedContext", services.ContextAnswer, Context)


class ContextViewSet(ProjectViewSet):
    scopes = {"destroy": WRITE}
    kind = "context"

    def item(self, context: str | int) -> dict[str, Any]:
        return context_item(get_context(self.project_id, context))

    list = lists(
        takes("memory", "contexts"),
        ListedContext,
        by=list_contexts,
        orders=(ORDERS, "-updated"),
        says="Contexts, the last written to first.",
    )
    create = writes(
        takes("memory", "context_create"),
        CreatedContext,
        statuses=CREATED,
        says="A container for memories that belong together. 409 where its name is taken.",
    )
    retrieve = reads(
        Context,
        text="description",
        kind="context",
        says="One context, whole, by its name or id, or some lines of its description.",
    )
    update = writes(
        takes(
            "memory",
            "context_create",
            name="ReplaceContext",
            optional=["name"],
            example={"description": "Stock and orders.", "tags": ["api"]},
        ),
        ChangedContext,
        by=replace_context,
        says="Make a context what the body says and nothing else; what is left out is emptied.\n\n"
        "`name` renames it; left out, the name stays, and so do its memories. 404 where there is no such "
        "context: POST makes one.",
    )
    partial_update = writes(
        takes("memory", "context_update", at="context"),
        ChangedContext,
        says="Change a context; what is left out stays as it is.\n\n"
        "An empty text or null clears, metadata merges by key.",
    )
    destroy = deletes(by=delete_context, says="Remove a context and all memories in it.")
