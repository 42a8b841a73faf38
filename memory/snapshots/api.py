"""REST views of snapshots."""

from typing import Annotated, Any, NotRequired

from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.core.hub.partial_reads import Opened
from ctxhub.core.kit.listing import preview, with_arrays
from ctxhub.rest.answers import in_parts, joined, written
from ctxhub.rest.operations import deletes, lists, operation, shows
from ctxhub.rest.schemas import LinkWalk
from ctxhub.rest.takes import READ_IN_PARTS, takes
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox.argument_types import About, Author, Time
from memory.snapshots import reads, services
from memory.snapshots.graph import list_chain, list_impact
from memory.snapshots.queries import (
    CAUSE,
    ORDERS,
    ActionLabel,
    Cause,
    LinkedSnapshot,
    ListedSnapshot,
    Reasons,
    Snapshot,
    TierLabel,
    get_snapshot,
    list_snapshots,
    reasons_item,
    snapshot_item,
)
from memory.snapshots.reads import read_snapshot
from memory.snapshots.services import delete_snapshot, save_snapshot


class ViewedSnapshot(TypedDict):
    """A minimalist shows id and summary alone; an auditor the source, too."""

    id: int
    action_type: NotRequired[ActionLabel]
    summary: str
    tier: NotRequired[TierLabel]
    caused_by: NotRequired[Annotated[int | str | None, CAUSE]]
    tags: NotRequired[list[str]]
    agent: NotRequired[Author]
    at: NotRequired[Time]
    source: NotRequired[str]


class SavedLinks(TypedDict):
    """Ids; in the whole snapshot with the summaries."""

    caused_by: Annotated[int | str | Cause | None, CAUSE]
    dependencies: Annotated[list[int | LinkedSnapshot], About("What it rests on besides its cause.")]


SavedSnapshot = joined("SavedSnapshot", written("Saved", services.SaveAnswer, Snapshot), SavedLinks)


# The tool's example names a cause.
EXAMPLE = {
    "content": "Sessions move to PostgreSQL: Redis lost them twice this week.",
    "action_type": "decision",
    "rationale": "A restart must not sign anybody out.",
}


def _save(**arguments: Any) -> dict[str, Any]:
    """As the tool answers, but of a long summary the beginning: the client has sent it."""
    answer = save_snapshot(**arguments)
    return {**answer, "summary": preview(answer["summary"])}


class SnapshotViewSet(ProjectViewSet):
    kind = "snapshot"

    def item(self, snapshot_id: int) -> dict[str, Any]:
        return snapshot_item(self.project_id, get_snapshot(self.project_id, snapshot_id))

    list = lists(
        takes("snapshot", "list"),
        ListedSnapshot,
        by=list_snapshots,
        orders=(ORDERS, "-at"),
        says="Snapshots that pass every filter, newest first.",
    )
    destroy = deletes(by=delete_snapshot, says="Remove a snapshot; what it caused stays.")

    @operation(body=takes("snapshot", "save", example=EXAMPLE), responses={201: SavedSnapshot})
    def create(self, request: Request, slug: str) -> Response:
        """Keep a moment of the work: what was done, and why. Credentials in the content are masked."""
        source = self.body.pop("source", None) or "api"
        return Response(self.write(_save, source=source, **self.body), status=201)

    @operation(query=READ_IN_PARTS, responses=in_parts(Snapshot))
    def retrieve(self, request: Request, slug: str, snapshot_id: int) -> Response:
        """One snapshot, whole, or some lines of its content."""
        requested = self.requested_lines()
        item = snapshot_item(self.project_id, read_snapshot(caller=self.caller, snapshot_id=snapshot_id))
        return Response(self.opened(Opened(item, "content", requested, "snapshot")))


class SnapshotsByViewViewSet(ProjectViewSet):
    load = lists(
        takes("snapshot", "load"),
        ViewedSnapshot,
        says="The newest snapshots, or those that a view puts first.",
    )
    search = lists(
        takes("snapshot", "search"),
        ViewedSnapshot,
        says="The snapshots that answer best, or as a view orders them.",
    )


class CauseViewSet(ProjectViewSet):
    # The actions also start from other things than snapshots.
    chain = shows(
        takes("snapshot", "chain", without=["id"]),
        LinkWalk,
        by=list_chain,
        says="What led to a snapshot, its root first, itself last.",
    )
    impact = shows(
        takes("snapshot", "impact", without=["id"]),
        LinkWalk,
        by=list_impact,
        says="What rests on a snapshot or followed from it, directly or through others; the nearest first.",
    )

    @operation(responses=Reasons)
    def why(self, request: Request, slug: str, snapshot_id: int) -> Response:
        """Why a snapshot was made: its rationale, its cause, and what it rests on."""
        row = reads.read_reasons(caller=self.caller, snapshot_id=snapshot_id)
        return Response(with_arrays(reasons_item(self.project_id, row)))


class GraphViewSet(ProjectViewSet):
    retrieve = shows(
        takes("snapshot", "graph"),
        says="The newest snapshots and the links among them, or a Mermaid flowchart.",
    )
