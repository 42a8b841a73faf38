"""REST views of snapshots."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.answers import in_parts, page_of
from ctxhub.core.api.pages import Page
from ctxhub.core.api.takes import READ_IN_PARTS, takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.hub.partial_reads import Opened
from memory.snapshots.api.snapshot_schemas import SavedSnapshot, ViewedSnapshot
from memory.snapshots.lists import list_snapshots
from memory.snapshots.selectors.snapshots import ListedSnapshot, Snapshot, get_snapshot, snapshot_item
from memory.snapshots.selectors.views import search_rows
from memory.snapshots.services import reads, snapshots

# The tool's example names a cause.
EXAMPLE = {
    "content": "Sessions move to PostgreSQL: Redis lost them twice this week.",
    "action_type": "decision",
    "rationale": "A restart must not sign anybody out.",
}


class SnapshotViewSet(ProjectViewSet):
    queries = {"list": takes("snapshot", "list"), "retrieve": READ_IN_PARTS}
    bodies = {"create": takes("snapshot", "save", example=EXAMPLE)}

    @extend_schema(responses=page_of(ListedSnapshot))
    def list(self, request: Request, slug: str) -> Response:
        """Snapshots that pass every filter, newest first."""
        return self.listed(Page.of(list_snapshots(self.project_id, **self.query)))

    @extend_schema(responses={201: SavedSnapshot})
    def create(self, request: Request, slug: str) -> Response:
        """Keep a moment of the work: what was done, and why. Credentials in the content are masked."""
        source = self.body.pop("source", None) or "api"
        return Response(self.write(snapshots.save_snapshot, source=source, **self.body), status=201)

    @extend_schema(responses=in_parts(Snapshot))
    def retrieve(self, request: Request, slug: str, snapshot_id: int) -> Response:
        """One snapshot, whole, or some lines of its content."""
        requested = self.requested_lines()
        row = reads.read_snapshot(caller=self.caller, snapshot_id=snapshot_id)
        return Response(
            self.opened(Opened(snapshot_item(self.project_id, row), "content", requested, "snapshot"))
        )

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, slug: str, snapshot_id: int) -> Response:
        """Remove a snapshot; what it caused stays."""
        self.perform(snapshots.delete_snapshot, snapshot_id=snapshot_id)
        return Response(status=204)

    def item_of(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        return snapshot_item(self.project_id, get_snapshot(self.project_id, answer["id"]))


class SnapshotsByViewViewSet(ProjectViewSet):
    queries = {"load": takes("snapshot", "load"), "search": takes("snapshot", "search")}

    @extend_schema(responses=page_of(ViewedSnapshot))
    def load(self, request: Request, slug: str) -> Response:
        """The newest snapshots, or those that a view puts first."""
        return self.listed(Page.of(reads.load_snapshots(caller=self.caller, **self.query)))

    @extend_schema(responses=page_of(ViewedSnapshot))
    def search(self, request: Request, slug: str) -> Response:
        """The snapshots that answer best, or as a view orders them."""
        return self.listed(Page.of(search_rows(self.project_id, **self.query)))
