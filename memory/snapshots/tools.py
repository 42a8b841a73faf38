"""The tool `snapshot` and its actions on snapshots."""

from typing import Annotated, Unpack, cast

from ctxhub.core.given import give_ref
from ctxhub.core.hub import links
from ctxhub.core.hub.partial_reads import Opened, Reading, clean_requested_lines, only
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.limits import CONTENT, QUESTION, REF
from ctxhub.core.kit.listing import AnyObject, Fitting, Listing
from ctxhub.toolbox.actions import action, tool
from ctxhub.toolbox.argument_types import (
    UNDECLARED,
    About,
    Cursor,
    Limit,
    Lines,
    Number,
    Ref,
    Says,
    Tail,
)
from memory.snapshots import reads, services
from memory.snapshots.graph import MOST_NODES, GraphAnswer, find_graph, list_chain, list_impact
from memory.snapshots.inputs import Id, SnapshotArguments, clean_start
from memory.snapshots.queries import Reasons, SnapshotFilters, list_snapshots, reasons_item, snapshot_item
from memory.snapshots.reads import MOST_LOADED, search_rows

tool(
    "snapshot",
    "What was done, and why.",
    otherwise=[({"content"}, "save"), ({"query"}, "search"), ({"id"}, "why"), (set(), "load")],
)

ViewWord = Annotated[str, Says("historian|prophet|archaeologist|minimalist|auditor", in_description=False)]


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
    **rest: Unpack[SnapshotArguments],
) -> services.SaveAnswer:
    """Keep a moment of your work: what you did, and why.

    `caused_by`: what it follows from: a snapshot (17), or the ref of anything else (decision:api/auth,
    message:9); `dependencies`: the snapshots that it rests on besides: left out, your last 5 of an hour; []
    none. Left out, `summary` is the first sentences and `tags` are at most 5 that the
    project has and the content is about. metadata may say action_type, rationale, caused_by and dependencies
    instead. A credential in the content is masked: `masked` counts them.
    """
    return services.save_snapshot(caller=caller, content=content, **rest)


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
def list_(caller: Caller, **filters: Unpack[SnapshotFilters]) -> Listing:
    """Snapshots that pass every filter, newest first.

    `tier`: last read, or saved, within 1 hour (active), 24 hours (recent), 30 days (archived) or longer ago.
    `tags`: any of them; `text`: all its words are in summary, rationale, content or tags ("a phrase", -not,
    prefix*); `since`, `until`: a time, a time ago ("7d") or an event cursor.
    """
    return list_snapshots(caller.project_id, **filters)


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
