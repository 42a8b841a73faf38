"""The tools `get` and `search`: open anything by its ref, and one question to all that a project knows."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, NotRequired

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core import registry
from ctxhub.core.hub.partial_reads import Excerpt, Opened, Reading, RequestedLines, clean_requested_lines
from ctxhub.core.hub.refs import meanings_of, why_not
from ctxhub.core.kit.answers import MAX_TOKENS, fit
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import LIST_LENGTH, clean_one_of
from ctxhub.core.kit.limits import REQUIRED_TEXT
from ctxhub.core.kit.listing import AnyObject, Listing
from ctxhub.core.search.search import answer_search
from ctxhub.core.use import tally
from ctxhub.core.use.whole import texts_of
from ctxhub.toolbox.actions import action, tool
from ctxhub.toolbox.argument_types import (
    AT_MOST_A_PAGE,
    SINCE,
    UNDECLARED,
    About,
    ByAgent,
    InLayer,
    Lines,
    Number,
    Ref,
    Refs,
    Says,
    Share,
    Tail,
    WithAnyTag,
    Words,
)

tool("get", "Open anything by its ref (decision:api/auth).")


# If several objects are too long together, none is cut to less than this fraction (1/4) of the budget.
LEAST_SHARE = 4


class GetAnswer(TypedDict):
    items: list[AnyObject]
    missing: list[str]
    hint: NotRequired[str]
    omitted: NotRequired[int]
    omitted_refs: NotRequired[list[str]]
    truncated: NotRequired[bool]
    total_lines: NotRequired[int]
    next_lines: NotRequired[str]
    also_cut: NotRequired[list[str]]


@action("get", example={"refs": ["decision:api/auth/method"], "detail": "digest"})
def get(
    caller: Caller,
    refs: Refs,
    detail: Annotated[str, Says("full|digest")] = "full",
    lines: Lines | None = None,
    tail: Tail | None = None,
) -> Reading[GetAnswer]:
    """Open up to 50 things by their refs.

    What does not exist in this project is listed in `missing`, and so is what is no ref (`hint` says why);
    `omitted` counts the last ones, for which max_tokens left no room, and `omitted_refs` names the first of
    these. `digest` is a short form for deciding
    what to read. What is too long is cut: `truncated`, and `next_lines` is the `lines` to read on with, of
    one ref at a time. `lines`: "10-40", "10-", "12", or "12@21000-": from the 21,000th character of line 12;
    `tail`: the last ones. They read the main text (value, text, content); "rationale:1-" reads another field,
    and `also_cut` names such fields.
    """
    if not 1 <= len(refs) <= LIST_LENGTH:
        raise InvalidInput(f"refs has {len(refs)} entries; name 1 to {LIST_LENGTH}.")
    full = clean_one_of(detail, ["full", "digest"], "detail") == "full"
    requested = clean_requested_lines(lines, tail)
    readable, hint = _readable(caller, refs)
    if requested and (len(set(refs)) > 1 or not full):
        raise InvalidInput("lines and tail read one ref, with detail full.")
    opened = _open(caller, list(readable.values()), full)
    objects = [
        _object(noun, {"ref": f"{noun.kind}:{name}", **opened[noun.kind, name]}, full, requested)
        for noun, name in _found(readable.values(), opened)
    ]
    found = {ref for ref, (noun, name) in readable.items() if (noun.kind, name) in opened}
    missing = [ref for ref in dict.fromkeys(refs) if ref not in found]
    missing = fit({"missing": missing}, MAX_TOKENS // 2)["missing"]
    extra = {"hint": hint} if hint else {}
    if not full:
        refs_found = [f"{noun.kind}:{name}" for noun, name in _found(readable.values(), opened)]
        tally.behind(partial(texts_of, caller.project_id, refs_found))
    return Reading(objects, lambda items: {"items": items, "missing": missing, **extra}, LEAST_SHARE)


def _readable(caller: Caller, refs: Sequence[str]) -> tuple[dict[str, tuple[registry.Noun, str]], str]:
    """The refs that name something, split, and why the first of the others does not; raises it if all do not.

    A name without a kind is the ref of the only thing called so.
    """
    read: dict[str, tuple[registry.Noun, str]] = {}
    refused: dict[str, InvalidInput] = {}
    for ref in refs:
        try:
            read[ref] = registry.split_ref(ref)
        except InvalidInput as error:
            refused[ref] = error
    meant = meanings_of(caller.project_id, refused)
    for ref in [ref for ref in refused if len(meant.get(ref, ())) == 1]:
        read[ref] = registry.split_ref(meant[ref][0])
        del refused[ref]
    if not refused:
        return read, ""
    ref, problem = next(iter(refused.items()))
    reason = why_not(caller.project_id, ref, meant.get(ref, ()), problem)
    if not read:
        raise reason
    return read, f"{reason.message} {reason.hint}".strip()


def _object(
    noun: registry.Noun, item: dict[str, Any], full: bool, requested: RequestedLines | None
) -> Opened | Excerpt:
    return Opened(item, noun.text, requested, noun.kind) if full else Excerpt(item, noun.kind)


def _open(
    caller: Caller, refs: Sequence[tuple[registry.Noun, str]], full: bool
) -> dict[tuple[str, str], Any]:
    """The items by kind and name, with one query for each noun."""
    names: dict[str, list[str]] = {}
    nouns = {}
    for noun, name in refs:
        names.setdefault(noun.kind, []).append(name)
        nouns[noun.kind] = noun
    found: dict[tuple[str, str], Any] = {}
    for kind, noun in nouns.items():
        assert noun.open is not None
        items = noun.open(caller.project_id, names[kind], full)
        found |= {(kind, name): item for name, item in items.items()}
        if noun.on_open and items:
            noun.on_open(caller, list(items))
    return found


def _found(refs: Any, opened: Any) -> list[tuple[registry.Noun, str]]:
    return list(dict.fromkeys((noun, name) for noun, name in refs if (noun.kind, name) in opened))


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
