"""REST routes of the tracking app."""

from django.urls import path

from tracking.changes.api import ChangeBatchViewSet, ChangeViewSet, LockViewSet
from tracking.files.api import ResourceViewSet
from tracking.leases.api import LeaseViewSet, ReleaseViewSet

in_project = [
    path("changes/", ChangeViewSet.as_view({"get": "list", "post": "create"})),
    path("changes/batch/", ChangeBatchViewSet.as_view({"post": "create"})),
    path("changes/lock/", LockViewSet.as_view({"get": "retrieve"})),
    path("changes/<id:change_id>/", ChangeViewSet.as_view({"get": "retrieve"})),
    path("leases/", LeaseViewSet.as_view({"get": "list", "post": "create"})),
    path("leases/release/", ReleaseViewSet.as_view({"post": "create"})),
    path(
        "leases/<id:lease_id>/",
        LeaseViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
    ),
    path("resources/", ResourceViewSet.as_view({"get": "list"})),
]
