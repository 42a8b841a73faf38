"""The action of the tool `memory` that captures a text."""

from typing import Annotated

from ctxhub.core.kit.caller import READ, Caller
from ctxhub.core.kit.limits import OPTIONAL_NAME, OPTIONAL_TITLE
from ctxhub.core.kit.unset import UNSET, Unset
from ctxhub.toolbox.actions import action
from ctxhub.toolbox.argument_types import About, Ref
from memory.capture import services
from memory.memories.inputs import TypeWord
from memory.memories.tools import NEW_CONTEXT, Content


@action(
    "memory",
    "capture",
    writes=True,
    dry_scope=READ,
    example={
        "content": "We decided to keep sessions in PostgreSQL 16: `sessions/store.py` needs one transaction.",
        "dry_run": True,
    },
    also_known_as=("auto_save_memory", "auto_save", "detect"),
)
def capture(
    caller: Caller,
    content: Content,
    context: Annotated[
        Ref,
        About(f"{NEW_CONTEXT}where it fits, or general; `auto`: where it fits, or a new one.", OPTIONAL_NAME),
    ]
    | Unset = UNSET,
    type: Annotated[TypeWord, About("Left out: told from the content.")] | Unset = UNSET,
    title: Annotated[str, About("Left out: told from the content.", OPTIONAL_TITLE)] | None = None,
    dry_run: Annotated[bool, About("Only tell what would happen.")] = False,
) -> services.CaptureAnswer:
    """Keep a text if it is worth keeping: telling, and nowhere yet.

    It is saved when `confidence` is above 0.65 (0.35 pattern, 0.25 uniqueness, 0.25 specificity, 0.15
    quality), no memory says the same, and nobody else said it before; else `reason` tells why not. Without
    `context` it goes where it fits best, or to general; with `auto` to a new context, as suggest_context
    proposes it. dry_run only tells what would happen.
    """
    return services.capture(
        caller=caller,
        content=content,
        context=context or None,
        type=type or None,
        title=title,
        dry_run=dry_run,
    )
