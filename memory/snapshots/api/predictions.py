"""REST views of tiers, predictions and statistics of snapshots."""

from typing import Annotated, NotRequired

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.core.api.answers import page_of
from ctxhub.core.api.pages import Page
from ctxhub.core.api.takes import takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.kit.caller import ADMIN, READ
from ctxhub.core.toolbox.argument_types import About
from memory.snapshots.selectors.predictions import PrefetchedSnapshot, list_best
from memory.snapshots.selectors.stats import SnapshotStats, get_stats
from memory.snapshots.selectors.tiers import Tiers, get_tiers
from memory.snapshots.services import predictions, pruning
from memory.snapshots.services import tiers as tier_services


class PrunedSnapshots(TypedDict):
    items: list[pruning.PrunedSnapshot]
    count: int
    dry_run: NotRequired[Annotated[bool, About("Nothing was deleted.")]]
    would_prune: NotRequired[int]
    pruned: int
    kept: Annotated[int, About("How many expired snapshots others rest on.")]


class SnapshotTierViewSet(ProjectViewSet):
    bodies = {"retier": takes("snapshot", "retier"), "prune": takes("snapshot", "prune")}
    scopes = {"prune": None}

    @extend_schema(responses=Tiers)
    def tiers(self, request: Request, slug: str) -> Response:
        """How many snapshots are in each tier."""
        return Response(get_tiers(self.project_id))

    @extend_schema(responses=tier_services.RetierAnswer)
    def retier(self, request: Request, slug: str) -> Response:
        """Bring the stored tiers up to date, which no answer uses: reads derive the tier."""
        return Response(self.perform(tier_services.retier))

    @extend_schema(responses=PrunedSnapshots)
    def prune(self, request: Request, slug: str) -> Response:
        """Delete expired snapshots that nothing rests on; dry_run, the default, only tells which."""
        is_dry = self.body.get("dry_run", True)
        self.caller.require(READ if is_dry else ADMIN, f"POST {request.path}")
        return Response(self.once(lambda: pruning.prune_snapshots(caller=self.caller, **self.body).listing()))


class SnapshotPredictionViewSet(ProjectViewSet):
    queries = {"prefetch": takes("snapshot", "prefetch")}
    bodies = {"predict": takes("snapshot", "predict")}

    @extend_schema(responses=predictions.PredictAnswer)
    def predict(self, request: Request, slug: str) -> Response:
        """Predict which snapshots are read again soon."""
        return Response(self.perform(predictions.predict_snapshots, **self.body))

    @extend_schema(responses=page_of(PrefetchedSnapshot))
    def prefetch(self, request: Request, slug: str) -> Response:
        """The snapshots that are most likely read next, best first."""
        return self.listed(Page.of(list_best(self.project_id, **self.query)))

    @extend_schema(responses=SnapshotStats)
    def stats(self, request: Request, slug: str) -> Response:
        """Snapshots by action and tier, their causes and chains, and how good the predictions are."""
        return Response(get_stats(self.project_id))
