"""The tool `snapshot` and its actions on snapshots."""

from typing import Annotated, cast

from ctxhub.core.given import give_ref
from ctxhub.core.hub import links
from ctxhub.core.hub.partial_reads import Opened, Reading, clean_requested_lines, only
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.limits import CONTENT, MOST_ENTRIES, OPTIONAL_WORD, QUESTION, REF
from ctxhub.core.kit.listing import AnyObject, Fitting, Listing
from ctxhub.toolbox.actions import action, tool
from ctxhub.toolbox.argument_types import (
    SINCE,
    UNDECLARED,
    About,
    AsIds,
    ByAgent,
    Cursor,
    IdOf,
    Limit,
    Lines,
    Number,
    Object,
    Ref,
    Says,
    Tail,
    WithAnyTag,
    Word,
    Words,
)
from memory.snapshots import reads, services
from memory.snapshots.graph import MOST_NODES, GraphAnswer, find_graph, list_chain, list_impact
from memory.snapshots.inputs import clean_start
from memory.snapshots.queries import Reasons, list_snapshots, reasons_item, snapshot_item
from memory.snapshots.reads import MOST_LOADED, search_rows

tool(
    "snapshot",
    "What was done, and why.",
    otherwise=[({"content"}, "save"), ({"query"}, "search"), ({"id"}, "why"), (set(), "load")],
)

Id = Annotated[Number, IdOf("snapshot")]
ActionWord = Annotated[Word, Says("conversation|decision|file_edit|tool_use|research")]
TierWord = Annotated[Word, Says("active|recent|archived|expired", in_description=False)]
ViewWord = Annotated[str, Says("historian|prophet|archaeologist|minimalist|auditor", in_description=False)]
ALL_WORDS = 'All these words are in it: summary, rationale, content, tags. "A phrase", -not, prefix*.'
RESTS_ON = "What it rests on besides its cause; [] none. Left out: your last 5 of an hour."
FITTING_TAGS = "Left out: at most 5 tags of the project that the content is about; [] none."


@action(
    "snapshot",
    "save",
    writes=True,
    example={
        "content": "Sessions move to PostgreSQL: Redis lost them twice this week.",
        "action_type": "decision",
        "rationale": "A restart must not sign anybody out.",
        "caused_by": 17,
    },
    also_known_as=("save_context", "create", "add"),
)
def save(
    caller: Caller,
    content: Annotated[str, About("Kept whole; credentials in it are masked.", CONTENT)],
    summary: Annotated[str, About("Left out: its first sentences.")] | None = None,
    action_type: Annotated[ActionWord, About("Left out: conversation.")] | None = None,
    rationale: Annotated[str, About("Why it was done.")] | None = None,
    caused_by: Annotated[Ref, About("What it follows from: a snapshot's id, or the ref of anything.", REF)]
    | None = None,
    dependencies: Annotated[list[Id], AsIds, About(RESTS_ON, MOST_ENTRIES)] | None = None,
    tags: Annotated[Words, About(FITTING_TAGS)] | None = None,
    source: Annotated[str, About("Where it comes from; left out: mcp or api.", OPTIONAL_WORD)] | None = None,
    metadata: Object | None = None,
    session: Annotated[Ref, About("A session's id or your name for it.")] | None = None,
) -> services.SaveAnswer:
    """Keep a moment of your work: what you did, and why.

    `caused_by`: what it follows from: a snapshot (17), or the ref of anything else (decision:api/auth,
    message:9); `dependencies`: the snapshots that it rests on besides: left out, your last 5 of an hour; []
    none. Left out, `summary` is the first sentences and `tags` are at most 5 that the
    project has and the content is about. metadata may say action_type, rationale, caused_by and dependencies
    instead. A credential in the content is masked: `masked` counts them.
    """
    return services.save_snapshot(
        caller=caller,
        content=content,
        source=source or "mcp",
        summary=summary,
        action_type=action_type,
        rationale=rationale,
        caused_by=caused_by,
        dependencies=dependencies,
        tags=tags,
        metadata=metadata,
        session=session,
    )


UP_TO_MOST_LOADED = {"minimum": 1, "maximum": MOST_LOADED}


@action("snapshot", "load", example={"limit": 5, "view": "prophet"}, also_known_as=("load_context", "recent"))
def load(
    caller: Caller,
    limit: Annotated[Number, About("How many; left out: 1.", UP_TO_MOST_LOADED)] = 1,
    view: Annotated[ViewWord, About("Left out: historian.")] = "historian",
) -> Listing:
    """The newest snapshots, or those that a view puts first; up to 10.

    historian and minimalist (id and summary alone): the newest; auditor: the newest by agent, with their
    source; prophet: the likeliest to be needed; archaeologist: of the 50 newest those not read for longest.
    """
    return reads.load_snapshots(caller=caller, view=view, limit=limit)


@action(
    "snapshot",
    "search",
    example={"query": "why did sessions move to PostgreSQL?", "view": "historian"},
    also_known_as=("search_context", "find"),
)
def search(
    caller: Caller,
    query: Annotated[
        str, About('A sentence, words, an identifier. Also "a phrase", -not and prefix*.', QUESTION)
    ],
    view: Annotated[ViewWord, About("Orders the hits; left out: best first.")] | None = None,
    limit: Limit = 20,
) -> Listing:
    """Find snapshots: ask in a sentence; best first, or as a view of load orders them."""
    return search_rows(caller.project_id, query, view=view, limit=limit)


@action(
    "snapshot",
    "list",
    example={"action_type": "decision", "tier": "recent"},
    also_known_as=("get_snapshots",),
)
def list_(
    caller: Caller,
    action_type: Annotated[ActionWord, About("Of this kind of action.")] | None = None,
    tier: Annotated[TierWord, About("Last read within 1 h, 24 h, 30 days, or longer ago.")] | None = None,
    tags: WithAnyTag | None = None,
    by: ByAgent | None = None,
    since: Annotated[str, About(f"Saved since. {SINCE}")] | None = None,
    until: Annotated[str, About(f"Saved before. {SINCE}")] | None = None,
    text: Annotated[str, About(ALL_WORDS)] | None = None,
    limit: Limit = 20,
    cursor: Cursor | None = None,
) -> Listing:
    """Snapshots that pass every filter, newest first.

    `tier`: last read, or saved, within 1 hour (active), 24 hours (recent), 30 days (archived) or longer ago.
    `tags`: any of them; `text`: all its words are in summary, rationale, content or tags ("a phrase", -not,
    prefix*); `since`, `until`: a time, a time ago ("7d") or an event cursor.
    """
    return list_snapshots(
        caller.project_id,
        action_type=action_type,
        tier=tier,
        tags=tags,
        by=by,
        since=since,
        until=until,
        text=text,
        limit=limit,
        cursor=cursor,
    )


@action("snapshot", "get", example={"id": 17}, also_known_as=("get_snapshot", "read"))
def get(caller: Caller, id: Id, lines: Lines | None = None, tail: Tail | None = None) -> Reading[AnyObject]:
    """One snapshot, whole, or some `lines` of its content, or the last ones (`tail`).

    With its cause, what it rests on, how many rest on it (`dependents`), and its prediction. What is too long
    is cut: `next_lines` is the `lines` to read on with. `lines`: "10-40", "10-", "12", or "12@21000-", from
    the 21,000th character of line 12; "rationale:1-" reads another field.
    """
    requested = clean_requested_lines(lines, tail)
    row = reads.read_snapshot(caller=caller, snapshot_id=id)
    return Reading([Opened(snapshot_item(caller.project_id, row), "content", requested, "snapshot")], only)


Start = Annotated[Ref, About("A snapshot's id, or the ref of anything: decision:api/auth/method.", REF)]
UP_TO_MOST_ROWS = {"minimum": 1, "maximum": links.ROWS}
WalkLimit = Annotated[
    Number, UNDECLARED, About("How many rows a page holds; left out: as many as fit.", UP_TO_MOST_ROWS)
]
WalkCursor = Annotated[Cursor, UNDECLARED]
UP_TO_MOST_NODES = {"minimum": 1, "maximum": MOST_NODES}


@action("snapshot", "why", example={"id": 17}, also_known_as=("reconstruct_reasoning", "explain"))
def why(caller: Caller, id: Start) -> Reasons | Listing:
    """Why a snapshot was made: its rationale, its cause, and what it rests on; also of any ref.

    `dependents`: how many snapshots name it as their cause or dependency. For another ref (decision:api/auth)
    `why` (its rationale, reason or summary), and rows as chain has them: itself at depth 0, and at depth 1
    what it directly follows from, or includes, or is related to.
    """
    start = clean_start(id)
    if isinstance(start, str):
        return give_ref(caller, "why", start, links.list_reasons(caller.project_id, start))
    row = reads.read_reasons(caller=caller, snapshot_id=start)
    return cast(Reasons, reasons_item(caller.project_id, row))


@action("snapshot", "chain", example={"id": 17}, also_known_as=("build_causal_chain", "causes"))
def chain(
    caller: Caller, id: Start, limit: WalkLimit = links.ROWS, cursor: WalkCursor | None = None
) -> Listing:
    """What led to a snapshot, or to anything by its ref, its root first.

    Rows: id (of what is no snapshot its ref), depth (0: the root), and link, as what follows from it names
    it: caused_by, depends_on, superseded_by, references, blocks, reply_to, result_refs; itself comes last.
    One step away also what it includes or is related to. `why`, before the rows: the rationale, reason or
    summary of the thing you ask for (of a deprecated decision first why it is deprecated), whole if there is
    room; in rows in one line. `limit` and `cursor` (`next` of the page before) read it in pages. At most
    1,000 rows, 100 steps away (1,000 from a snapshot to snapshots); `more`: there are others.
    """
    start = clean_start(id)
    if isinstance(start, str):
        return links.list_chain(caller.project_id, start, limit=limit, cursor=cursor)
    return list_chain(caller.project_id, start, limit=limit, cursor=cursor)


@action("snapshot", "impact", example={"id": 17}, also_known_as=("effects", "get_dependents"))
def impact(
    caller: Caller, id: Start, limit: WalkLimit = links.ROWS, cursor: WalkCursor | None = None
) -> Listing:
    """What rests on a snapshot, or follows from anything by its ref, the nearest first.

    Rows, pages, `why` and `more`: as chain has them, with depth as steps along causes, else the fewest.
    """
    start = clean_start(id)
    if isinstance(start, str):
        return links.list_impact(caller.project_id, start, limit=limit, cursor=cursor)
    return list_impact(caller.project_id, start, limit=limit, cursor=cursor)


@action(
    "snapshot",
    "graph",
    quiet=True,
    example={"limit": 50, "mermaid": True},
    also_known_as=("get_causal_graph",),
)
def graph(
    caller: Caller,
    limit: Annotated[Number, About("How many of the newest; left out: 200.", UP_TO_MOST_NODES)] = 200,
    mermaid: Annotated[bool, About("As a Mermaid flowchart.")] = False,
) -> Fitting[GraphAnswer]:
    """The newest snapshots (1 to 1,000) and the links among them, or a Mermaid flowchart.

    `edges`: source was caused by target, or depends on it. `more`: there are older ones.
    """
    return find_graph(caller.project_id, limit).answer(mermaid=mermaid)
