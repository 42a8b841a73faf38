"""REST views of snapshots."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.answers import in_parts
from ctxhub.core.api.operations import deletes, lists, operation
from ctxhub.core.api.takes import READ_IN_PARTS, takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.hub.partial_reads import Opened
from memory.snapshots.api.snapshot_schemas import SavedSnapshot, ViewedSnapshot
from memory.snapshots.selectors.snapshots import ListedSnapshot, Snapshot, get_snapshot, snapshot_item
from memory.snapshots.services.reads import read_snapshot
from memory.snapshots.services.snapshots import delete_snapshot, save_snapshot

# The tool's example names a cause.
EXAMPLE = {
    "content": "Sessions move to PostgreSQL: Redis lost them twice this week.",
    "action_type": "decision",
    "rationale": "A restart must not sign anybody out.",
}


class SnapshotViewSet(ProjectViewSet):
    def item(self, snapshot_id: int) -> dict[str, Any]:
        return snapshot_item(self.project_id, get_snapshot(self.project_id, snapshot_id))

    list = lists(
        takes("snapshot", "list"), ListedSnapshot, says="Snapshots that pass every filter, newest first."
    )
    destroy = deletes(by=delete_snapshot, says="Remove a snapshot; what it caused stays.")

    @operation(body=takes("snapshot", "save", example=EXAMPLE), responses={201: SavedSnapshot})
    def create(self, request: Request, slug: str) -> Response:
        """Keep a moment of the work: what was done, and why. Credentials in the content are masked."""
        source = self.body.pop("source", None) or "api"
        return Response(self.write(save_snapshot, source=source, **self.body), status=201)

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
