"""Where the memory app's resources answer."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from memory.api.constraints import ConstraintViewSet
from memory.api.decisions import (
    AnalyticsViewSet,
    BatchViewSet,
    DecisionViewSet,
    SuggestionViewSet,
    VersionViewSet,
)
from memory.api.templates import FromTemplateViewSet, TemplateViewSet


class Key(StringConverter):
    """A key, whatever it holds: slashes too."""

    regex = r"[\s\S]+"


register_converter(Key, "key")

in_project = [
    path("constraints/", ConstraintViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "constraints/<int:constraint_id>/",
        ConstraintViewSet.as_view({"get": "retrieve", "patch": "partial_update"}),
    ),
    path("constraints/<int:constraint_id>/deactivate/", ConstraintViewSet.as_view({"post": "deactivate"})),
    path("constraints/<int:constraint_id>/activate/", ConstraintViewSet.as_view({"post": "activate"})),
    path("decisions/", DecisionViewSet.as_view({"get": "list", "post": "create"})),
    path("decisions/batch/", BatchViewSet.as_view({"post": "create"})),
    path("decisions/suggest/", SuggestionViewSet.as_view({"get": "list"})),
    path("decisions/analytics/", AnalyticsViewSet.as_view({"get": "retrieve"})),
    path("decisions/<key:key>/versions/", VersionViewSet.as_view({"get": "list"})),
    path(
        "decisions/<key:key>/",
        DecisionViewSet.as_view(
            {"get": "retrieve", "put": "update", "patch": "partial_update", "delete": "destroy"}
        ),
    ),
    path("templates/", TemplateViewSet.as_view({"get": "list"})),
    path("templates/<key:name>/decisions/", FromTemplateViewSet.as_view({"post": "create"})),
    path(
        "templates/<key:name>/",
        TemplateViewSet.as_view(
            {"get": "retrieve", "put": "update", "patch": "partial_update", "delete": "destroy"}
        ),
    ),
]
