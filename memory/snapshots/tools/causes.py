"""The actions of the tool `snapshot` on causes and effects."""

from typing import Annotated, Any, NotRequired, cast

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.listing import Listing
from ctxhub.core.toolbox.actions import action
from ctxhub.core.toolbox.argument_types import About, Number
from memory.snapshots.selectors.causes import list_chain, list_impact
from memory.snapshots.selectors.graph import MOST_NODES, GraphAnswer, find_graph
from memory.snapshots.selectors.snapshots import LinkedSnapshot, reasons_item
from memory.snapshots.services import reads
from memory.snapshots.tools.snapshots import Id

UP_TO_MOST_NODES = {"minimum": 1, "maximum": MOST_NODES}


class WhyAnswer(TypedDict):
    id: int
    action_type: str
    rationale: str
    summary: str
    caused_by: LinkedSnapshot | None
    dependencies: NotRequired[dict[str, Any]]
    dependents: int


@action("snapshot", "why", example={"id": 17}, also_known_as=("reconstruct_reasoning", "explain"))
def why(caller: Caller, id: Id) -> WhyAnswer:
    """Why a snapshot was made: its rationale, its cause, and what it rests on.

    `dependents`: how many snapshots name it as their cause or dependency.
    """
    return cast(WhyAnswer, reasons_item(reads.read_reasons(caller=caller, snapshot_id=id)))


@action("snapshot", "chain", example={"id": 17}, also_known_as=("build_causal_chain", "causes"))
def chain(caller: Caller, id: Id) -> Listing:
    """What led to a snapshot, its root first.

    Rows: depth (0: the root), and link: caused_by or depends_on, as what follows from it names it; itself
    comes last. At most 1,000 snapshots, 100 steps away; `more`: there are others.
    """
    return list_chain(caller.project_id, id)


@action("snapshot", "impact", example={"id": 17}, also_known_as=("effects", "get_dependents"))
def impact(caller: Caller, id: Id) -> Listing:
    """What rests on a snapshot, directly or through others; the nearest first.

    Rows: depth (steps along causes, else the fewest), and link: caused_by or depends_on. At most 1,000
    snapshots, 100 steps away; `more`: there are others.
    """
    return list_impact(caller.project_id, id)


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
) -> GraphAnswer:
    """The newest snapshots (1 to 1,000) and the links among them, or a Mermaid flowchart.

    `edges`: source was caused by target, or depends on it. `more`: there are older ones.
    """
    return find_graph(caller.project_id, limit).answer(mermaid=mermaid)
