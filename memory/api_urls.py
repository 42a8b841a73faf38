"""URL routes of the memory app's REST resources."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from ctxhub.rest.routes import routes
from memory.capture.api import CaptureViewSet, ContextSuggestionViewSet, SimilarViewSet
from memory.constraints.api import ConstraintViewSet
from memory.contexts.api import ContextViewSet
from memory.decisions.api import (
    AnalyticsViewSet,
    BatchViewSet,
    DecisionViewSet,
    SuggestionViewSet,
    TrendViewSet,
    VersionViewSet,
)
from memory.grep.api import GrepViewSet
from memory.memories.api import MemoryRevisionViewSet, MemorySearchViewSet, MemoryViewSet
from memory.predictions.api import SnapshotPredictionViewSet, SnapshotTierViewSet
from memory.relationships.api import RelationshipViewSet
from memory.scratchpads.api import PadRevisionViewSet, PadsViewSet, PadViewSet
from memory.snapshots.api import CauseViewSet, GraphViewSet, SnapshotsByViewViewSet, SnapshotViewSet
from memory.templates.api import FromTemplateViewSet, TemplateViewSet
from memory.workflows.api import WorkflowViewSet


class Key(StringConverter):
    """Matches a key, which may contain any character, including slashes and newlines."""

    regex = r"[\s\S]+"


register_converter(Key, "key")

in_project = [
    *routes("constraints/", "id:constraint_id", ConstraintViewSet),
    path("constraints/<id:constraint_id>/deactivate/", ConstraintViewSet.as_view({"post": "deactivate"})),
    path("constraints/<id:constraint_id>/activate/", ConstraintViewSet.as_view({"post": "activate"})),
    path("contexts/suggest/", ContextSuggestionViewSet.as_view({"get": "suggest"})),
    *routes("contexts/", "key:context", ContextViewSet),
    path("memories/search/", MemorySearchViewSet.as_view({"get": "search"})),
    path("memories/fuzzy/", MemorySearchViewSet.as_view({"get": "fuzzy"})),
    path("memories/similar/", SimilarViewSet.as_view({"get": "similar"})),
    path("memories/grep/", GrepViewSet.as_view({"get": "search"})),
    path("memories/capture/", CaptureViewSet.as_view({"post": "create"})),
    path(
        "memories/<id:memory_id>/relationships/",
        RelationshipViewSet.as_view({"get": "retrieve", "post": "create", "delete": "destroy"}),
    ),
    path(
        "memories/<id:memory_id>/relationships/suggested/",
        RelationshipViewSet.as_view({"post": "relate_suggested"}),
    ),
    *routes("memories/", "id:memory_id", MemoryViewSet),
    *routes("memories/<id:memory_id>/revisions/", "int:revision", MemoryRevisionViewSet),
    path("memories/<id:memory_id>/restore/", MemoryViewSet.as_view({"post": "restore"})),
    path("snapshots/tiers/", SnapshotTierViewSet.as_view({"get": "tiers"})),
    path("snapshots/retier/", SnapshotTierViewSet.as_view({"post": "retier"})),
    path("snapshots/prune/", SnapshotTierViewSet.as_view({"post": "prune"})),
    path("snapshots/predict/", SnapshotPredictionViewSet.as_view({"post": "predict"})),
    path("snapshots/prefetch/", SnapshotPredictionViewSet.as_view({"get": "prefetch"})),
    path("snapshots/stats/", SnapshotPredictionViewSet.as_view({"get": "stats"})),
    path("decisions/batch/", BatchViewSet.as_view({"post": "create"})),
    path("decisions/suggest/", SuggestionViewSet.as_view({"get": "list"})),
    path("trends/", TrendViewSet.as_view({"get": "list"})),
    path("decisions/analytics/", AnalyticsViewSet.as_view({"get": "retrieve"})),
    path("decisions/<key:key>/versions/", VersionViewSet.as_view({"get": "list"})),
    *routes("decisions/", "key:key", DecisionViewSet),
    path("templates/<key:name>/decisions/", FromTemplateViewSet.as_view({"post": "create"})),
    *routes("templates/", "key:name", TemplateViewSet),
    *routes("workflows/", "id:workflow_id", WorkflowViewSet),
    path("workflows/<id:workflow_id>/scratchpads/", PadsViewSet.as_view({"get": "of_workflow"})),
    path("scratchpads/", PadsViewSet.as_view({"get": "list", "post": "create"})),
    path("scratchpads/search/", PadsViewSet.as_view({"get": "search"})),
    path(
        "scratchpads/<id:scratchpad_id>/",
        PadViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
    ),
    path("scratchpads/<id:scratchpad_id>/append/", PadViewSet.as_view({"post": "append"})),
    *routes("scratchpads/<id:scratchpad_id>/revisions/", "int:revision", PadRevisionViewSet),
    path(
        "scratchpads/<id:scratchpad_id>/revisions/<int:revision>/restore/",
        PadRevisionViewSet.as_view({"post": "restore"}),
    ),
    path("snapshots/load/", SnapshotsByViewViewSet.as_view({"get": "load"})),
    path("snapshots/search/", SnapshotsByViewViewSet.as_view({"get": "search"})),
    path("snapshots/graph/", GraphViewSet.as_view({"get": "retrieve"})),
    *routes("snapshots/", "id:snapshot_id", SnapshotViewSet),
    path("snapshots/<id:snapshot_id>/why/", CauseViewSet.as_view({"get": "why"})),
    path("snapshots/<id:snapshot_id>/chain/", CauseViewSet.as_view({"get": "chain"})),
    path("snapshots/<id:snapshot_id>/impact/", CauseViewSet.as_view({"get": "impact"})),
]
