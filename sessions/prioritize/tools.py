"""The action of the tool `session` that chooses files for a budget."""

from typing import Annotated

from ctxhub.core.kit.caller import Caller
from ctxhub.toolbox.actions import action
from ctxhub.toolbox.argument_types import About, Number, Ref
from sessions.prioritize.services import (
    MOST_TOKENS,
    MOST_TOKENS_WITH_CONTENT,
    PrioritizeAnswer,
    prioritize_files,
)

BUDGET = {"minimum": 0, "maximum": MOST_TOKENS}


@action(
    "session",
    "prioritize",
    writes=True,
    idempotent=True,
    example={"budget_tokens": 8000, "query": "token rotation", "content": True},
    also_known_as=("prioritize_resources", "prioritise"),
)
def prioritize(
    caller: Caller,
    budget_tokens: Annotated[
        Number, About(f"Up to {MOST_TOKENS:,}; with content up to {MOST_TOKENS_WITH_CONTENT:,}.", BUDGET)
    ],
    session: Annotated[Ref, About("Left out: the session of the call.")] | None = None,
    query: Annotated[str, About("What you work on: files that match it count for more.")] | None = None,
    content: Annotated[bool, About("With the text of each file, in the form that fits.")] = False,
) -> PrioritizeAnswer:
    """Which files of your session fit into a budget, most important first, each as full as it fits.

    A file is full, compressed (without comments), a digest (signatures, headings, keys) or a reference (one
    line). What a file strongly depends on comes with it. `content` gives the texts, for up to 18,000 tokens.
    Without it the budget is for files that you read yourself, and a file whose content is not tracked counts
    by its token_count.
    """
    return prioritize_files(
        caller=caller, budget_tokens=budget_tokens, session=session, query=query, content=content
    )
