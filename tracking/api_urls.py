"""REST routes of the tracking app."""

from django.urls import path

from ctxhub.rest.routes import routes
from tracking.changes.api import ChangeBatchViewSet, ChangeViewSet, LockViewSet
from tracking.files.api import ResourceViewSet
from tracking.leases.api import LeaseViewSet, ReleaseViewSet

in_project = [
    path("changes/batch/", ChangeBatchViewSet.as_view({"post": "create"})),
    path("changes/lock/", LockViewSet.as_view({"get": "retrieve"})),
    *routes("changes/", "id:change_id", ChangeViewSet),
    path("leases/release/", ReleaseViewSet.as_view({"post": "create"})),
    *routes("leases/", "id:lease_id", LeaseViewSet),
    path("resources/", ResourceViewSet.as_view({"get": "list"})),
]
