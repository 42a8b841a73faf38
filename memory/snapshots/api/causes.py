"""REST views of the causes and effects of snapshots."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.pages import Page
from ctxhub.core.api.schemas import LinkWalk
from ctxhub.core.api.takes import takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.kit.listing import with_arrays
from memory.snapshots.selectors.causes import list_chain, list_impact
from memory.snapshots.selectors.graph import GraphAnswer, find_graph
from memory.snapshots.selectors.snapshots import Reasons, reasons_item
from memory.snapshots.services import reads


class CauseViewSet(ProjectViewSet):
    queries = {
        "chain": takes("snapshot", "chain", without=["id"]),
        "impact": takes("snapshot", "impact", without=["id"]),
    }

    @extend_schema(responses=Reasons)
    def why(self, request: Request, slug: str, snapshot_id: int) -> Response:
        """Why a snapshot was made: its rationale, its cause, and what it rests on."""
        row = reads.read_reasons(caller=self.caller, snapshot_id=snapshot_id)
        return Response(with_arrays(reasons_item(self.project_id, row)))

    @extend_schema(responses=LinkWalk)
    def chain(self, request: Request, slug: str, snapshot_id: int) -> Response:
        """What led to a snapshot, its root first, itself last."""
        return self.listed(Page.of(list_chain(self.project_id, snapshot_id, **self.query)))

    @extend_schema(responses=LinkWalk)
    def impact(self, request: Request, slug: str, snapshot_id: int) -> Response:
        """What rests on a snapshot or followed from it, directly or through others; the nearest first."""
        return self.listed(Page.of(list_impact(self.project_id, snapshot_id, **self.query)))


class GraphViewSet(ProjectViewSet):
    queries = {"retrieve": takes("snapshot", "graph")}

    @extend_schema(responses=GraphAnswer)
    def retrieve(self, request: Request, slug: str) -> Response:
        """The newest snapshots and the links among them, or a Mermaid flowchart."""
        mermaid = self.query.pop("mermaid", False)
        return Response(with_arrays(find_graph(self.project_id, **self.query).answer(mermaid=mermaid)))
