"""REST views of the causes and effects of snapshots."""

from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.operations import operation, shows
from ctxhub.core.api.schemas import LinkWalk
from ctxhub.core.api.takes import takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.kit.listing import with_arrays
from memory.snapshots.selectors.causes import list_chain, list_impact
from memory.snapshots.selectors.snapshots import Reasons, reasons_item
from memory.snapshots.services import reads


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
