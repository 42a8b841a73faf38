"""REST views of tiers, predictions and statistics of snapshots."""

from typing import Annotated, NotRequired

from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.core.kit.caller import ADMIN, READ
from ctxhub.rest.operations import lists, operation, performs, shows
from ctxhub.rest.takes import NOTHING, takes
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox.argument_types import About
from memory.predictions.predictions import PrefetchedSnapshot
from memory.predictions.statistics import SnapshotStats, get_stats
from memory.snapshots import tiers as pruning
from memory.snapshots.tiers import Tiers, get_tiers


class PrunedSnapshots(TypedDict):
    items: list[pruning.PrunedSnapshot]
    count: int
    dry_run: NotRequired[Annotated[bool, About("Nothing was deleted.")]]
    would_prune: NotRequired[int]
    pruned: int
    kept: Annotated[int, About("How many expired snapshots others rest on.")]


class SnapshotTierViewSet(ProjectViewSet):
    scopes = {"prune": None}

    tiers = shows(NOTHING, Tiers, by=get_tiers, says="How many snapshots are in each tier.")
    retier = performs(
        takes("snapshot", "retier"),
        says="Bring the stored tiers up to date, which no answer uses: reads derive the tier.",
    )

    @operation(body=takes("snapshot", "prune"), responses=PrunedSnapshots)
    def prune(self, request: Request, slug: str) -> Response:
        """Delete expired snapshots that nothing rests on; dry_run, the default, only tells which."""
        is_dry = self.body.get("dry_run", True)
        self.caller.require(READ if is_dry else ADMIN, f"POST {request.path}")
        return Response(self.once(lambda: pruning.prune_snapshots(caller=self.caller, **self.body).listing()))


class SnapshotPredictionViewSet(ProjectViewSet):
    predict = performs(takes("snapshot", "predict"), says="Predict which snapshots are read again soon.")
    prefetch = lists(
        takes("snapshot", "prefetch"),
        PrefetchedSnapshot,
        says="The snapshots that are most likely read next, best first.",
    )
    stats = shows(
        NOTHING,
        SnapshotStats,
        by=get_stats,
        says="Snapshots by action and tier, their causes and chains, and how good the predictions are.",
    )
