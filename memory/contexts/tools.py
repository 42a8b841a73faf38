"""The context actions of the tool `memory`."""

from typing import Annotated, Any, Unpack

from ctxhub.core.hub.partial_reads import Opened, Reading, only
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.limits import NAME, QUESTION
from ctxhub.core.kit.listing import Listing
from ctxhub.core.kit.unset import UNSET, Unset
from ctxhub.toolbox.actions import action
from ctxhub.toolbox.argument_types import About, ByAgentUndeclared, Cursor, Limit, Ref
from memory.contexts import services, suggest
from memory.contexts.inputs import ContextArguments
from memory.contexts.queries import context_item, get_context, list_contexts
from memory.contexts.suggest import ContextSuggestion
from memory.memories import tools  # noqa: F401  # Declares the tool.

NOT_ALL_DIGITS = {**NAME, "pattern": r"[^\d\s]|\d\s+\d"}
ContextName = Annotated[str, About(schema=NOT_ALL_DIGITS)]


@action(
    "memory",
    "context_create",
    writes=True,
    example={"name": "warehouse", "description": "Stock and orders.", "stack": "django", "tags": ["api"]},
    also_known_as=("create_context",),
)
def context_create(
    caller: Caller,
    name: Annotated[ContextName, About("Unique, whatever its case; not all digits.")],
    **rest: Unpack[ContextArguments],
) -> services.ContextAnswer:
    """A container for memories that belong together.

    Its name is unique, whatever its case, and not all digits. `stack`: what it is about (django, react19).
    """
    return services.create_context(caller=caller, name=name, **rest)


@action("memory", "contexts", example={"text": "shop"}, also_known_as=("list_contexts", "context_list"))
def contexts(
    caller: Caller,
    text: Annotated[str, About("Words that its name, description, stack or tags hold.")] | None = None,
    by: ByAgentUndeclared | None = None,
    limit: Limit = 20,
    cursor: Cursor | None = None,
) -> Listing:
    """Contexts, the last written to first; `text`: words that name, description, stack or tags hold."""
    return list_contexts(caller.project_id, text=text, by=by, limit=limit, cursor=cursor)


@action("memory", "context_get", quiet=True, example={"context": "shop"}, also_known_as=("get_context",))
def context_get(caller: Caller, context: Ref) -> Reading[dict[str, Any]]:
    """One context, whole, by its name or id; get with its ref (context:3) reads a long one by lines."""
    item = context_item(get_context(caller.project_id, context))
    return Reading([Opened(item, "description", kind="context")], only)


@action(
    "memory",
    "context_update",
    quiet=True,
    writes=True,
    idempotent=True,
    takes_all_of="context_create",
    example={"context": "shop", "description": "The shop's backend, since March."},
    also_known_as=("update_context",),
)
def context_update(
    caller: Caller,
    context: Ref,
    name: ContextName | Unset = UNSET,
    **rest: Unpack[ContextArguments],
) -> services.ContextAnswer:
    """Change a context; what is left out stays as it is.

    Empty clears: "" a text, [] the tags; `metadata` merges by key, and null removes one.
    """
    return services.update_context(caller=caller, context=context, name=name, **rest)


@action(
    "memory",
    "suggest_context",
    quiet=True,
    example={"text": "The product list is cached in Redis for five minutes."},
    also_known_as=("auto_analyze_context", "analyze_context"),
)
def suggest_context(
    caller: Caller, text: Annotated[str, About("What belongs somewhere.", QUESTION)]
) -> ContextSuggestion:
    """Which context a text belongs to.

    `existing`: one that covers half or more of the text's keywords, by its name, description, stack, tags
    and memories; else `new`: one to make. `similar`: others that come near.
    """
    return suggest.suggest_context(caller.project_id, text)
