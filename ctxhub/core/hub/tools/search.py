"""The tool `search`: one question to everything a project knows."""

from typing import Annotated

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.limits import REQUIRED_TEXT
from ctxhub.core.kit.listing import Listing
from ctxhub.core.search.selectors.search import answer_search
from ctxhub.core.toolbox.actions import action, tool
from ctxhub.core.toolbox.argument_types import (
    AT_MOST_A_PAGE,
    SINCE,
    UNDECLARED,
    About,
    ByAgent,
    InLayer,
    Number,
    Ref,
    Says,
    Share,
    WithAnyTag,
    Words,
)

tool("search", "Find anything; ask in a sentence.")


QUERY = 'A sentence, words, an identifier. Also "a phrase", -not and prefix*.'
KIND_WORDS = [
    *("decision", "constraint", "message", "memory", "context"),
    *("scratchpad", "workflow", "resource", "change", "snapshot", "session"),
]
KINDS = f"Only these: {', '.join(KIND_WORDS)}."
MATCH = "Left out: auto, any of the words, and mistyped ones put right. similar: the query is a text."
DETAIL = (
    "What title and excerpt may cost: ids nothing, compact (left out) 60 tokens, standard 120, detailed 250."
)


LEAST = "What scores less than this share of the best is left out: 0.3, over REST 0."
WEAK = 0.3
Kinds = Annotated[Words, Says("decision|…"), About(KINDS, items={"enum": KIND_WORDS})]


@action(
    "search",
    example={"query": "why do sessions expire?", "kinds": ["decision", "message"], "detail": "standard"},
    also_known_as=("find", "recall"),
)
def search_everything(
    caller: Caller,
    query: Annotated[str, About(QUERY, REQUIRED_TEXT)],
    kinds: Kinds | None = None,
    match: Annotated[str, Says("auto|any|all|fuzzy|similar"), About(MATCH)] = "auto",
    detail: Annotated[str, Says("compact|ids|standard|detailed"), About(DETAIL)] = "compact",
    tags: WithAnyTag | None = None,
    layer: InLayer | None = None,
    context: Annotated[Ref, About("In this context, by its name or id.")] | None = None,
    by: ByAgent | None = None,
    since: Annotated[str, About(f"Changed since. {SINCE}")] | None = None,
    limit: Annotated[Number, About("How many of the best; left out: 10.", AT_MOST_A_PAGE)] = 10,
    least: Annotated[Share, About(LEAST), UNDECLARED] = WEAK,
) -> Listing:
    """Find anything said or decided: ask in a sentence, in any language, or by an identifier.

    Rows: ref (open it with get), title, excerpt, score (0..1), tokens, more (nearly equal ones left out),
    best first; in long texts lines (those to get) and size (characters of the whole). What scores less than
    0.3 of the best is left out: `more` counts the rest, least 0 shows it. Title and excerpt cost at most 60
    tokens (compact), 120 (standard) or 250 (detailed); ids gives refs alone. For a list of things ask
    several short questions, or limit 20. `match`: any of the words (auto: and mistyped ones are put right,
    did_you_mean says how), all of them, fuzzy (words near them, too), or similar (query is a text: what is
    like it). Also "a phrase", -not and prefix*. `kinds`: decision, constraint, message, memory, context,
    scratchpad, workflow, resource (a file by its path), change (what was said of one). `tags`: any of them;
    `context`: of memories; `by`: an agent; `since`: a
    time, a time ago ("7d") or an event cursor.
    """
    return answer_search(
        caller.project_id,
        query,
        match=match,
        detail=detail,
        limit=limit,
        least=least,
        kinds=kinds,
        tags=tags,
        layer=layer,
        context=context,
        by=by,
        since=since,
    )
