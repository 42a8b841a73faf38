"""The actions of the tool `snapshot` on causes and effects."""

from typing import Annotated, cast

from ctxhub.core.given import give_ref
from ctxhub.core.hub.selectors import links
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.limits import REF
from ctxhub.core.kit.listing import Fitting, Listing
from ctxhub.core.toolbox.actions import action
from ctxhub.core.toolbox.argument_types import UNDECLARED, About, Cursor, Number, Ref
from memory.snapshots.inputs import clean_start
from memory.snapshots.selectors.causes import list_chain, list_impact
from memory.snapshots.selectors.graph import MOST_NODES, GraphAnswer, find_graph
from memory.snapshots.selectors.snapshots import Reasons, reasons_item
from memory.snapshots.services import reads
from memory.snapshots.tools import snapshots  # noqa: F401  # Declares the tool.

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
