"""The tool `memory` and its actions on memories."""

from typing import Annotated, Unpack

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.hub.outlines import Outlined, Part, clean_part
from ctxhub.core.hub.partial_reads import Opened, Reading, clean_requested_lines, only
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.limits import (
    CONTENT,
    NAME,
    OPTIONAL_NAME,
    QUESTION,
    TITLE,
)
from ctxhub.core.kit.listing import AnyObject, Listing
from ctxhub.core.kit.unset import UNSET, Unset
from ctxhub.toolbox.actions import action, tool
from ctxhub.toolbox.argument_types import (
    AT_MOST_A_PAGE,
    UNDECLARED,
    About,
    Cursor,
    IdOf,
    Limit,
    Lines,
    Number,
    Ref,
    Share,
    Tail,
)
from memory.memories import services
from memory.memories.fuzzy import MOST_TOLERANCE, find_fuzzy
from memory.memories.inputs import MemoryDetails, TypeWord
from memory.memories.queries import (
    InContext,
    MemoryFilters,
    OfType,
    get_memory,
    list_memories,
    opened_memory,
)
from memory.memories.revisions import list_revisions, revision_item
from memory.memories.search import BestLimit, SearchArguments, search_memories
from memory.memories.similar import list_similar

tool(
    "memory",
    "What is worth knowing again. Search before you work something out.",
    otherwise=[({"title", "content"}, "add"), ({"query"}, "search"), ({"id"}, "get"), (set(), "list")],
)


Id = Annotated[Number, IdOf("memory")]

# What a write takes.
NEW_CONTEXT = "Its name or id; a new name makes one. Left out: "
Title = Annotated[str, About(schema=TITLE)]
Content = Annotated[str, About(schema=CONTENT)]

# What a list and a search take.
NearestLimit = Annotated[Number, About("How many of the nearest; left out: 20.", AT_MOST_A_PAGE)]
UP_TO_MOST_EDITS = {"minimum": 0, "maximum": MOST_TOLERANCE}
Tolerance = Annotated[Number, About("How many edits a word may be away; left out: 2.", UP_TO_MOST_EDITS)]


# What a revision answers, whole or in part.
class RevisionAnswer(TypedDict, total=False):
    id: int
    title: str
    content: str
    revision: int
    tokens: int
    agent: str
    at: str
    lines: str
    truncated: bool
    total_lines: int
    next_lines: str
    also_cut: list[str]


@action(
    "memory",
    "add",
    writes=True,
    example={
        "title": "Caching the product list",
        "content": "Keep it in Redis for five minutes. Without it the page takes two seconds.",
        "context": "shop",
        "type": "reference",
        "stack": "django",
        "tags": ["caching"],
        "paths": ["shop/views/*.py"],
    },
    also_known_as=("add_memory", "create", "save"),
)
def add(
    caller: Caller,
    title: Title,
    content: Content,
    context: Annotated[Ref, About(f"{NEW_CONTEXT}general.", OPTIONAL_NAME)] = "general",
    type: Annotated[TypeWord, About("Left out: note.")] | Unset = UNSET,
    **details: Unpack[MemoryDetails],
) -> services.AddAnswer:
    """Keep something in a context; a new name makes one.

    `context`: a name or an id. `type` is note unless said; `stack` what it is about (django, react19);
    `paths`: globs of files it bears on, such as src/*.{ts,tsx}; !src/gen/** behind them exempts files. It is
    stored whatever is there: `similar` names what says nearly the same, so that you can update that one.
    """
    return services.add_memory(
        caller=caller, title=title, content=content, context=context, type=type or None, **details
    )


@action("memory", "get", example={"id": 4}, also_known_as=("get_memory", "expand_memory", "read"))
def get(
    caller: Caller,
    id: Id,
    lines: Lines | None = None,
    tail: Tail | None = None,
    outline: Annotated[Outlined, UNDECLARED] = False,
) -> Reading[AnyObject]:
    """One memory, whole, or some `lines` of its content, the last ones (`tail`), or its headings (`outline`).

    What is too long is cut: `next_lines` is the `lines` to read on with. `lines`: "10-40", "10-", "12", or
    "12@21000-", from the 21,000th character of line 12; "metadata:1-" reads another field.
    """
    part = Part(lines=lines, tail=tail, outline=outline)
    clean_part(**part)
    return Reading([opened_memory(get_memory(caller.project_id, id), **part)], only)


@action(
    "memory",
    "update",
    writes=True,
    idempotent=True,
    takes_all_of="add",
    example={"id": 4, "content": "Keep it in Redis for ten minutes.", "tags": ["caching", "redis"]},
    also_known_as=("update_memory", "change"),
)
def update(
    caller: Caller,
    id: Id,
    title: Title | Unset = UNSET,
    content: Content | Unset = UNSET,
    context: Annotated[Ref, About("Moves it there.", NAME)] | Unset = UNSET,
    type: TypeWord | Unset = UNSET,
    **details: Unpack[MemoryDetails],
) -> services.UpdateAnswer:
    """Change a memory; what is left out stays as it is.

    Another `context` moves it there. Empty clears `stack` and `difficulty`, [] a list; `metadata` merges by
    key, and null removes one.
    """
    return services.update_memory(
        caller=caller, memory_id=id, title=title, content=content, context=context, type=type, **details
    )


@action(
    "memory",
    "revisions",
    quiet=True,
    example={"id": 4, "revision": 1},
    also_known_as=("history", "versions"),
)
def revisions(
    caller: Caller,
    id: Id,
    revision: Annotated[Number, About("This one, with its content.")] | None = None,
    lines: Lines | None = None,
    tail: Tail | None = None,
    limit: Limit = 20,
    cursor: Cursor | None = None,
) -> Listing | Reading[RevisionAnswer]:
    """What a memory said, newest first, the present state included; with revision, title and content then.

    `lines` and `tail` read a part of that content, as in get. The 50 states before the present one are kept.
    """
    requested = clean_requested_lines(lines, tail)
    if revision is not None:
        return Reading([Opened(revision_item(caller.project_id, id, revision), "content", requested)], only)
    if requested:
        raise InvalidInput("lines and tail read one revision.", missing=["revision"])
    return list_revisions(caller.project_id, id, limit=limit, cursor=cursor)


@action(
    "memory",
    "restore",
    quiet=True,
    writes=True,
    idempotent=True,
    example={"id": 4, "revision": 1},
    also_known_as=("undo", "revert"),
)
def restore(caller: Caller, id: Id, revision: Number) -> services.UpdateAnswer:
    """Make title and content what they were at a revision; restoring the one before undoes that."""
    return services.restore_memory(caller=caller, memory_id=id, revision=revision)


@action(
    "memory",
    "list",
    example={"context": "shop", "type": "reference", "limit": 10},
    also_known_as=("list_memories", "list_digests"),
)
def list_(caller: Caller, **filters: Unpack[MemoryFilters]) -> Listing:
    """Memories that pass every filter, newest first, by their digests.

    `tags`: any of them; security finds security/tls, too, as do the globs sec*, security/* and
    {api,security}. `stale`: true, only those whose files changed since; false, only the others. Contents are
    read with get.
    """
    return list_memories(caller.project_id, **filters)


@action(
    "memory",
    "search",
    example={"query": "how is the product list cached?", "stack": "django", "detail": "standard"},
    also_known_as=("search_memories", "smart_search", "quick_search", "find"),
)
def search(
    caller: Caller,
    query: Annotated[
        str, About('A sentence, words, an identifier. Also "a phrase", -not and prefix*.', QUESTION)
    ],
    **given: Unpack[SearchArguments],
) -> Listing:
    """Find memories: ask in a sentence.

    Rows hold what answers, best first: title and excerpt within 60 tokens (compact), 120 (standard) or 250
    (detailed), of long ones the lines to get, and the size in characters. `tags`: any of them. Read the
    whole with get.
    """
    return search_memories(caller.project_id, query, **given)


@action(
    "memory",
    "fuzzy",
    quiet=True,
    example={"query": "prodct lsit", "tolerance": 2},
    also_known_as=("fuzzy_search",),
)
def fuzzy(
    caller: Caller,
    query: Annotated[str, About("Words that may be mistyped.", QUESTION)],
    context: InContext | None = None,
    type: OfType | None = None,
    limit: NearestLimit = 20,
    tolerance: Tolerance = 2,
) -> Listing:
    """Find memories by words that may be mistyped.

    Each word may be up to `tolerance` edits (0 to 10) from one in title, content or tags, and half of them
    must be there. Rows: distance, the edits of all words together, and score (0..1), the nearest first.
    """
    return find_fuzzy(caller.project_id, query, context=context, type=type, limit=limit, tolerance=tolerance)


@action("memory", "similar", quiet=True, example={"id": 4, "threshold": 0.5})
def similar(
    caller: Caller,
    id: Annotated[Id, About("Like this memory. This, or `text`.")] | None = None,
    text: Annotated[str, About("Like this text.", QUESTION)] | None = None,
    threshold: Annotated[Share, About("How like it is at least; left out: 0.3.")] = 0.3,
    limit: BestLimit = 10,
) -> Listing:
    """Memories that say nearly the same as one of them, or as a text.

    Rows: id, title, score: the cosine of TF-IDF over title and content, 1.0 for the same words; only those
    from `threshold` (0 to 1) on, best first.
    """
    return list_similar(caller.project_id, memory_id=id, text=text, threshold=threshold, limit=limit)
