"""Where the memory app's resources answer."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from memory.api.decisions import BatchViewSet, DecisionViewSet, VersionViewSet


class Key(StringConverter):
    """A key, whatever it holds: slashes too."""

    regex = r"[\s\S]+"


register_converter(Key, "key")

in_project = [
    path("decisions/", DecisionViewSet.as_view({"get": "list", "post": "create"})),
    path("decisions/batch/", BatchViewSet.as_view({"post": "create"})),
    path("decisions/<key:key>/versions/", VersionViewSet.as_view({"get": "list"})),
    path(
        "decisions/<key:key>/",
        DecisionViewSet.as_view(
            {"get": "retrieve", "put": "update", "patch": "partial_update", "delete": "destroy"}
        ),
    ),
]
