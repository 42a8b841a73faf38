"""The actions of the tool `snapshot` on tiers, predictions and statistics."""

from typing import Annotated

from ctxhub.core.kit.caller import ADMIN, READ, Caller
from ctxhub.core.kit.listing import Listing
from ctxhub.toolbox.actions import action
from ctxhub.toolbox.argument_types import AT_MOST_A_PAGE, About, Cursor, Number, RowsOf, Share
from memory.predictions import services
from memory.predictions.predictions import list_best
from memory.predictions.statistics import SnapshotStats, get_stats
from memory.snapshots import tiers as pruning
from memory.snapshots import tiers as tier_services
from memory.snapshots.tiers import Tiers, get_tiers


@action("snapshot", "tiers", quiet=True, also_known_as=("get_memory_stats", "memory_tiers"))
def tiers(caller: Caller) -> Tiers:
    """How many snapshots are in each tier.

    active: read, or saved, less than 1 hour ago; recent: 24 hours; archived: 30 days; expired: longer ago.
    """
    return get_tiers(caller.project_id)


@action(
    "snapshot",
    "retier",
    quiet=True,
    writes=True,
    idempotent=True,
    also_known_as=("recalculate_memory_tiers",),
)
def retier(caller: Caller) -> tier_services.RetierAnswer:
    """Bring the stored tiers up to date, which no answer uses: reads derive the tier."""
    return tier_services.retier(caller=caller)


@action(
    "snapshot",
    "prune",
    quiet=True,
    scope=ADMIN,
    destroys=True,
    dry_scope=READ,
    example={"limit": 20, "dry_run": True},
    also_known_as=("prune_expired_contexts",),
)
def prune(
    caller: Caller,
    limit: Annotated[Number, About("At most so many; left out: 100.", AT_MOST_A_PAGE)] = 100,
    dry_run: Annotated[bool, About("Only tell what would go; left out: true.")] = True,
) -> Annotated[Listing, RowsOf(pruning.PrunedSnapshot)]:
    """Delete expired snapshots that no other one names as cause or dependency; dry_run=false does it.

    Never read first, then those read longest ago. `kept`: how many expired ones others rest on.
    """
    return pruning.prune_snapshots(caller=caller, limit=limit, dry_run=dry_run).listing()


@action(
    "snapshot",
    "predict",
    quiet=True,
    writes=True,
    idempotent=True,
    example={"stale_hours": 24},
    also_known_as=("update_predictions", "refresh_predictions"),
)
def predict(
    caller: Caller,
    stale_hours: Annotated[
        Number,
        About("Only predictions older than so many hours; left out: 24.", {"minimum": 0, "maximum": 8_760}),
    ] = 24,
) -> services.PredictAnswer:
    """Predict which snapshots are read again soon: those never predicted, or longer ago than stale_hours.

    `scored`: how the predictions of the last 90 days turned out; from 50 on, weights are learned from them.
    """
    return services.predict_snapshots(caller=caller, stale_hours=stale_hours)


@action(
    "snapshot",
    "prefetch",
    quiet=True,
    example={"min_score": 0.5, "limit": 10},
    also_known_as=("get_high_value_contexts",),
)
def prefetch(
    caller: Caller,
    min_score: Annotated[Share, About("Of this score or more; left out: 0.6.")] = 0.6,
    limit: Annotated[Number, About("How many items a page holds; left out: 5.", AT_MOST_A_PAGE)] = 5,
    cursor: Cursor | None = None,
) -> Listing:
    """The snapshots that are most likely read next, as last predicted, best first; with the reasons."""
    return list_best(caller.project_id, min_score=min_score, limit=limit, cursor=cursor)


@action(
    "snapshot",
    "stats",
    quiet=True,
    also_known_as=("get_causality_stats", "get_propagation_stats", "get_learning_stats", "get_memory_health"),
)
def stats(caller: Caller) -> SnapshotStats:
    """Snapshots by action and tier, their causes and chains, and how good the predictions are.

    `brier`: the mean squared error on the newest outcomes, 0 is perfect; `baseline_brier`: of the default
    weights.
    """
    return get_stats(caller.project_id)
