"""URLs of the REST API, its schema and its documentation."""

from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularSwaggerView as Docs

from ctxhub.rest import (
    schema,  # noqa: F401  # Registers the schema's extensions.
    urls,
)
from ctxhub.rest.openapi import Schema
from ctxhub.rest.views import unknown_address
from memory import api_urls as memory
from messaging import api_urls as messaging
from sessions import api_urls as sessions
from tracking import api_urls as tracking

app_name = "api"

READ_METHODS = ["get", "head"]

in_project = [
    *urls.in_project,
    *memory.in_project,
    *messaging.in_project,
    *tracking.in_project,
    *sessions.in_project,
]

docs = Docs.as_view(
    url_name="api:schema", template_name="ctxhub/api_docs.html", http_method_names=READ_METHODS
)

urlpatterns = [
    path("v1/", include(urls.beside_projects)),
    path("v1/projects/<slug:slug>/", include(in_project)),
    path("schema/", Schema.as_view(http_method_names=READ_METHODS), name="schema"),
    path("docs/", docs, name="docs"),
    re_path("", unknown_address),
]
